"""People as judges: tasks for Label Studio, its exports, and how far annotators agree (docs/evaluation.md).

label_studio.py what `judge annotate` writes for Label Studio, and the annotations of an export
agreement.py    raw agreement, kappas and alpha, by source, with intervals; disagreements; as tables
gold.py         the majority's labels as samples, or in DiaHalu's released format
cli.py          `judge annotate` and `judge agreement`
"""
