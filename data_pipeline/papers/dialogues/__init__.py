"""Self-dialogue (DiaHalu, section 4): two chat models talk about a topic, and people annotate what was said.

topics.py   what is talked about, by domain; topics.jsonl holds some to begin with
config.py   the keys of a recipe
turns.py    a dialogue, and what is wrong with a turn of the user's side
talk.py     the conversation: all dialogues together, turn by turn
run.py      a whole run: the folder that it writes, and what it would cost

The prompts are in ``data_pipeline/papers/dialogues/dialogue_prompts.py``.
"""
