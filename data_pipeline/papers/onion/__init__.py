"""OnionEval's construction (arXiv 2501.12975): from categories to facts, hallucinations and contexts.

config.py   the keys of a recipe
make.py     the stages, one after another
rules.py    what a rule can tell of the items of a stage
run.py      a whole run: the files that it writes, and what it would cost

The prompts are in ``onion_prompts.py``. The benchmark that reads the rows puts the three layers around them
(``eval/benchmarks/onioneval.py``), as around the released ones.
"""
