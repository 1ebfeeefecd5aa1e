"""Two benchmarks made the way their papers made them: OnionEval's facts (``onion``), DiaHalu's dialogues."""
