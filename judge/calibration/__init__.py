"""Calibrated probabilities: a judge's curve, how it is fitted, and how well it holds."""
