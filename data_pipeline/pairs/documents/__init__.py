"""Wrong answers by their document: the answer stays, and the document no longer supports it.

``supporting`` tells which parts of a document support an answer; ``deletion`` takes them out, ``swap``
changes the fact at every mention, ``records`` the value of a triple or a record. ``distractor`` adds a second
passage that holds the answer's words and does not support it.
"""

from data_pipeline.pairs.documents.edit import DocumentEditor

__all__ = ["DocumentEditor"]
