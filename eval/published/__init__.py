"""Published figures, one YAML file per benchmark, and how far they are comparable with measured ones.

A published figure belongs to a set of samples, a split and a protocol. A warning says where these differ from
the measurement; figures of parts are compared part by part.
"""
