"""Floors: trivial rules that judge without understanding (``rules``), and the word overlap."""

from judge.floors.overlap import overlap
from judge.floors.rules import FLOORS, Floor, make_floor

__all__ = ["FLOORS", "Floor", "make_floor", "overlap"]
