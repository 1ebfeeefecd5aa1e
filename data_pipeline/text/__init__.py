"""What all rules read texts with, in English and Chinese (``_zh``).

``facts`` finds the numbers, dates and names of a text, ``content`` its content words, ``clauses_en`` its
subjects and verbs, ``questions`` what a question asks for; ``words`` reads the lists in ``words/``.
"""
