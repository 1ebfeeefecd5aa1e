"""Wrong twins by their document: the answer stays, and the document no longer bears it.

``bearing`` tells which sentences of a document bear an answer; ``deletion`` takes them out, ``swap`` changes
the fact at every mention. The faithful twin's document is edited alike, elsewhere.
"""

from data_pipeline.documents.edit import DOCUMENT_EDITS, edit_document

__all__ = ["DOCUMENT_EDITS", "edit_document"]
