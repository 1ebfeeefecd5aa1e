"""Pairs made by editing the document: the answer stays, and the document no longer supports it.

``supporting`` finds the parts of a document that support an answer; ``deletion`` removes them, ``swap``
changes the fact at every mention, ``records`` the value of a triple or a record, ``passage`` replaces the
document. ``distractor`` adds a second passage that has the answer's words but does not support it.
"""
