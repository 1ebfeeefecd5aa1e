"""People as judges: a local page to annotate samples on, and how far annotators agree (docs/annotation.md).

records.py   what an annotator said of a sample: the rows of a file
work.py      the samples to annotate, drawn by source, and one file an annotator
app.py       the page and its endpoints; assets/ holds its HTML, style and script
agreement.py raw agreement, kappas and alpha of all annotators, by source; disagreements
tables.py    both as tables for the terminal
gold.py      the majority's labels as samples, or in DiaHalu's released form
cli.py       `judge annotate` and `judge agreement`
"""
