"""OnionEval's construction (arXiv 2501.12975): from categories to facts, hallucinations and contexts.

config.py   the keys of a recipe
make.py     the stages, one after another
rules.py    rule-based checks of the items of a stage
run.py      a whole run: its output files, and a cost estimate

The prompts are in ``onion_prompts.py``. The benchmark that reads the rows (``eval/benchmarks/onioneval.py``)
adds the three layers, as it does for the released rows.
"""
