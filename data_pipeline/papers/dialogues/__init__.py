"""Self-dialogue (DiaHalu, section 4): two chat models talk about a topic, and people annotate the dialogue.

topics.py   topics by domain; topics.jsonl is a starter set
config.py   the keys of a recipe
turns.py    a dialogue, and faults of the user side's turns
talk.py     the conversation: all dialogues together, turn by turn
run.py      a whole run: its output folder, and a cost estimate

The prompts are in ``data_pipeline/papers/dialogues/dialogue_prompts.py``.
"""
