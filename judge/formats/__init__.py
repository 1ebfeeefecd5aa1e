"""Public data sets in the form in which their authors released them, where building and measuring share one."""
