"""Self-dialogue (DiaHalu, section 4.2 and appendix A.1): the prompts of both sides, and repair of A's turns.

A knows the topic and what to probe. In knowledge and task, B is an assistant that does not know the plan, as
with a real person; in chit-chat and reasoning, both are partners. Instructions go into a side's first user
turn, since not every chat template has a system role.
"""

from collections.abc import Mapping, Sequence

from data_pipeline.papers.dialogues.topics import Domain, Probe, Topic
from data_pipeline.teachers.prompts.base import TEXT, Prompted, identity, prompted, reply_schema
from judge.prompting.prompts import guard
from judge.types import Message

VERSION = "1"
MESSAGE_SCHEMA = reply_schema(message=TEXT)

USER: Mapping[Domain, str] = {
    "knowledge": (
        "You play a curious person who chats with an AI assistant about a subject. You want to learn; you "
        "teach nothing and offer no help."
    ),
    "task": (
        "You play a customer who has something to get done and writes to a service's AI assistant. Give your "
        "wishes one by one, as people do, and decide when it offers a choice. You offer no help yourself."
    ),
    "chit-chat": (
        "You play the person described below in a relaxed chat with somebody you have just met. Talk about "
        "yourself, ask about the other one, stay who you are."
    ),
    "reasoning": (
        "You solve a problem together with a partner, step by step. Say one step or check one of the "
        "partner's, and ask for the next. State the whole problem in your first message."
    ),
}
ASSISTANT: Mapping[Domain, str] = {
    "knowledge": "You are an AI assistant. Answer the person's question in one to three plain sentences.",
    "task": (
        "You are the AI assistant of a service: bookings, orders, timetables, appointments. Help the "
        "customer to get it done, in one to three sentences a message."
    ),
    "chit-chat": (
        "You play the person described below in a relaxed chat with somebody you have just met. Answer, talk "
        "about yourself, ask back; one to three sentences. Stay who you are."
    ),
    "reasoning": (
        "You solve a problem together with a partner, step by step. Check the partner's step, add the next "
        "one, and show the calculation; one to three sentences a message."
    ),
}
PROBES: Mapping[Probe, str] = {
    "factual": (
        "Press for what can be checked: names, years, numbers, causes, each result of a step. Go on from "
        "what you are told to a harder point of the same kind."
    ),
    "faithful": (
        "Now and then return to something said earlier, change one of your own wishes or details, or ask "
        "about something that nobody has told the other side, as if it were known."
    ),
}
FORM = "Write only your own next message, at most {words} words, on one line, without a name before it."
OPENING = "The conversation begins. Write your first message."
FIRST = "The first message to you:"
REPAIR = (
    "In a conversation, A is a person and B an AI assistant. The MESSAGE is to be A's next one, but it "
    "{fault}. Write what a real person would say there instead: the same intention where it has one, "
    "everyday words, at most {words} words, no help offered. The DOCUMENT holds the topic and what was "
    "said so far."
)
REPLY = 'Reply with JSON: "message", only the new message.'


def _setting(topic: Topic, persona: str) -> str:
    parts = [f"The topic: {guard(topic.text)}"]
    return "\n".join([*parts, f"You are: {guard(persona)}"] if persona else parts)


def user_prompt(topic: Topic, turns: Sequence[str], words: int) -> Prompted:
    """Ask for A's next turn; ``turns`` are those so far, A's and B's alternating."""
    rules = f"{USER[topic.domain]} {PROBES[topic.probe]} {FORM.format(words=words)}"
    opening = f"{rules}\n\n{_setting(topic, topic.persona_a)}\n\n{OPENING}"
    return Prompted([{"role": "user", "content": opening}, *_turns(turns, "A")], None)


def assistant_prompt(topic: Topic, turns: Sequence[str]) -> Prompted:
    """Ask for B's next turn; ``turns`` has at least one of A's."""
    rules = ASSISTANT[topic.domain]
    if topic.domain == "chit-chat":
        rules = f"{rules}\n\n{_setting(topic, topic.persona_b)}"
    first, *others = _turns(turns, "B")
    opening = f"{rules}\n\n{FIRST}\n{first['content']}"
    return Prompted([{"role": "user", "content": opening}, *others], None)


def repair_prompt(topic: Topic, turns: Sequence[str], message: str, fault: str, words: int) -> Prompted:
    """Ask for a turn of A to replace ``message``, which has a fault."""
    said = [f"{'AB'[place % 2]}: {turn}" for place, turn in enumerate(turns)]
    fields = {"document": "\n".join([topic.setting, *said]), "message": message}
    return prompted(REPAIR.format(fault=fault, words=words), fields, REPLY, MESSAGE_SCHEMA)


def _turns(turns: Sequence[str], side: str) -> list[Message]:
    """The conversation from one side's view: its own turns have the assistant role."""
    own = "AB".index(side)
    return [
        {"role": "assistant" if place % 2 == own else "user", "content": guard(turn)}
        for place, turn in enumerate(turns)
    ]


def describe() -> dict[str, str]:
    """Version and hash of all texts here."""
    texts = [USER, ASSISTANT, PROBES, FORM, OPENING, FIRST, REPAIR, REPLY, MESSAGE_SCHEMA]
    return identity("dialogue_prompts", VERSION, texts)
