"""Edits of English answers that change what is said, not a bare fact: roles, quantifiers, causes, order.

``support`` finds the sentences of a document that bear a statement; the other modules make a type of edit
each.
"""
