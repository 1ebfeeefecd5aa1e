"""The conversation: in each round, all dialogues ask the user's side, then the assistant's.

Every reply is in the call cache, so an interrupted run gets back to where it was without new calls.
"""

from collections.abc import Callable, Mapping, Sequence

from data_pipeline.edits.verify import Rejected
from data_pipeline.papers.dialogues.dialogue_prompts import assistant_prompt, repair_prompt, user_prompt
from data_pipeline.papers.dialogues.turns import STANDS_STILL, Dialogue, Repair, clean, fault_of
from data_pipeline.teachers.base import Ask, reply_texts
from data_pipeline.teachers.prompts.base import Prompted
from judge.progress import track

Rewritten = Mapping[tuple[str, int], str]
"""Turns of A rewritten by a person: dialogue id and turn number (from 1) to text."""

USER_WORDS = 60
"""Most words of a turn of A; no person would type more."""
ATTEMPTS = 2
"""At most this many attempts to repair a turn of A."""


def talk(
    dialogues: Sequence[Dialogue],
    user: Ask,
    assistant: Ask,
    repair: Ask | None = None,
    *,
    rewritten: Rewritten | None = None,
) -> None:
    """Fill dialogues with their turns. A dialogue ends early, with its ``problem`` set, if a model gives no
    answer or both sides only repeat themselves.

    Args:
        dialogues: empty dialogues.
        user: asks the model that plays A.
        assistant: asks the model that plays B.
        repair: asks the model that rewrites turns of A that no person would say; without it, they stay.
        rewritten: turns of A by people, used unchanged.
    """
    rounds = max((dialogue.rounds for dialogue in dialogues), default=0)
    for number in track(range(1, rounds + 1), "rounds of all dialogues", rounds):
        open_ = [item for item in dialogues if item.rounds >= number and item.problem is None]
        _user_turns(open_, number, user, repair, rewritten or {})
        open_ = [item for item in open_ if item.problem is None]
        replies = _ask(assistant, open_, lambda item: assistant_prompt(item.topic, item.turns))
        for item, reply in zip(open_, replies, strict=True):
            if reply is not None:
                item.turns.append(reply)
                item.problem = STANDS_STILL if item.stands_still else None


def _user_turns(
    dialogues: Sequence[Dialogue], number: int, user: Ask, repair: Ask | None, rewritten: Rewritten
) -> None:
    """Add A's turn of one round, repaired if necessary."""
    asked = [item for item in dialogues if (item.id, number) not in rewritten]
    replies = _ask(user, asked, lambda item: user_prompt(item.topic, item.turns, USER_WORDS))
    said = {item.id: reply for item, reply in zip(asked, replies, strict=True) if reply is not None}
    for item in dialogues:
        if (item.id, number) in rewritten:
            said[item.id] = rewritten[item.id, number]
            item.repairs.append(Repair(number, said[item.id], "", "person"))
    faults = {
        item.id: fault
        for item in asked
        if item.id in said and (fault := fault_of(item, said[item.id], USER_WORDS))
    }
    first = dict(said)
    for _ in range(ATTEMPTS if repair is not None else 0):
        wrong = [item for item in asked if item.id in faults]
        prompts = (
            repair_prompt(item.topic, item.turns, said[item.id], faults[item.id], USER_WORDS)
            for item in wrong
        )
        for item, reply in zip(wrong, list(repair(prompts)) if repair is not None else (), strict=True):
            found = reply_texts(reply, "message")
            if isinstance(found, Rejected) or not (turn := clean(found[0])):
                continue
            said[item.id] = turn
            fault = fault_of(item, turn, USER_WORDS)
            if fault is None:
                item.repairs.append(Repair(number, first[item.id], faults.pop(item.id), "model"))
            else:
                faults[item.id] = fault
    for item in dialogues:
        if item.id in faults:
            item.repairs.append(Repair(number, said[item.id], faults[item.id], "nobody"))
        if item.id in said:
            item.turns.append(said[item.id])


def _ask(ask: Ask, dialogues: Sequence[Dialogue], prompt: Callable[[Dialogue], Prompted]) -> list[str | None]:
    """The next turn of each dialogue, or ``None`` if there is none, which ends the dialogue."""
    turns: list[str | None] = []
    for item, reply in zip(dialogues, list(ask(map(prompt, dialogues))), strict=True):
        turn = clean(reply.text) if reply.problem is None else ""
        if not turn:
            item.problem = reply.problem or "empty turn"
        turns.append(turn or None)
    return turns
