"""A file of samples judged to a file of verdicts, here (``file``) or on a Ray cluster (``ray``)."""

from judge.batch.file import LocalEngine, judge_file
from judge.batch.ray import RayEngine

__all__ = ["LocalEngine", "RayEngine", "judge_file"]
