"""From documents with gold answers to audited SFT and DPO sets for judges.

Each package imports only from those above it in this list:

text      words, sentences, numbers, dates and names, in English and Chinese
sources   readers of data sets, and the table of a build
edits     one wrong fact, by rule
teachers  rules and chat models that make wrong answers and judge
pairs     contrast pairs, one module per kind
config    the keys of a recipe
labels    gold answers that are supported, judgements, rows
leaks     training data that occurs in a benchmark
audit     can the labels be guessed?
build     the stages of a build, one after another
papers    OnionEval's and DiaHalu's construction
cli       ``judge data``
"""
