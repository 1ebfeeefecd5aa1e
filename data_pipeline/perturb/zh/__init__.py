"""Facts and edits of Chinese text: words by a segmenter, and rules of their own for each type of edit.

``segment`` reads text in simplified form with its parts of speech; ``facts`` gathers names, numbers and
dates; ``edits`` lists the types.
"""
