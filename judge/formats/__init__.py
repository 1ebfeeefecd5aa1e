"""Public data sets in their authors' own formats, where building and measuring both read them."""
