"""Text analysis for all rules, in English and Chinese (``_zh``).

``facts`` finds the numbers, dates and names of a text, ``content`` its content words, ``clauses_en`` its
subjects and verbs, ``refusals`` recognises refusals; ``words`` reads the lists in ``words/``.
"""
