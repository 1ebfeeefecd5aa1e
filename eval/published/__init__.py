"""What others report, one YAML file a benchmark, and how far it can be compared with what is measured here.

A printed figure belongs to a set of samples, a split and a protocol. Where these are not those of the
measurement, a warning says so; figures of parts are compared part by part.
"""

from eval.published.comparing import to_compare
from eval.published.figures import FOLDER, OVERALL, Column, Published, Table, published

__all__ = ["FOLDER", "OVERALL", "Column", "Published", "Table", "published", "to_compare"]
