"""From samples to rows: which gold answers are supported, who judges them, and what a judge learns from."""
