"""Training judges with TRL: supervised fine-tuning, then preference optimization.

``config`` holds the keys of recipes; ``sft`` and ``dpo`` train; ``sharing`` and ``pairs`` compute common
prompts once; ``checkpoints`` and ``run`` save and resume; ``memory`` estimates what fits.
"""
