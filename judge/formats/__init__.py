"""Public data sets in their authors' own formats, for those used both to build data and to measure."""
