"""Training judges with TRL: supervised fine-tuning, then preference optimization from the merged weights."""
