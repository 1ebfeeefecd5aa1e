"""open-factual-bench: a model answers 40 short questions itself, and rules label its answers."""
