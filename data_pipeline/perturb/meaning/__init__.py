"""Edits of English answers that change what is said, not a bare fact: roles and attributions.

``support`` finds the sentences of a document that support a statement; the other modules make a type of edit
each.
"""
