"""A file of samples judged to a file of verdicts, here (``file``) or on a Ray cluster (``ray``)."""
