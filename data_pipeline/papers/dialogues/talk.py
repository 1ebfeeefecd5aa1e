"""The conversation: in each round all dialogues ask the user's side, then the assistant's.

Every reply is in the call cache, so a run that was stopped comes to where it was without a call.
"""

from collections.abc import Callable, Mapping, Sequence

from data_pipeline.edits.verify import Rejected
from data_pipeline.papers.dialogues.dialogue_prompts import assistant_prompt, repair_prompt, user_prompt
from data_pipeline.papers.dialogues.turns import STANDS_STILL, Dialogue, Repair, clean, fault_of
from data_pipeline.teachers.base import Ask, reply_texts
from data_pipeline.teachers.prompts.base import Prompted
from judge.progress import track

Rewritten = Mapping[tuple[str, int], str]
"""What a person put in place of a turn of A: dialogue and number of the turn, from 1, to the text."""

USER_WORDS = 60
"""A longer turn of A is none that a person would type."""
ATTEMPTS = 2
"""How often a turn of A may be said again."""


def talk(
    dialogues: Sequence[Dialogue],
    user: Ask,
    assistant: Ask,
    repair: Ask | None = None,
    *,
    rewritten: Rewritten | None = None,
) -> None:
    """Fill dialogues with their turns. One whose model gives no answer ends there, with its problem; so does
    one in which both sides only repeat themselves.

    Args:
        dialogues: empty ones.
        user: asks the model that plays A.
        assistant: asks the model that plays B.
        repair: asks the model that says A's turns again which no person would say; they stay without it.
        rewritten: turns of A by people, which are taken as they are.
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
    dialogues: Sequence[Dialogue],
    number: int,
    user: Ask,
    repair: Ask | None,
    rewritten: Rewritten,
) -> None:
    """A's turn of one round, repaired where it has to be."""
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
    """The next turn of each dialogue; ``None`` where there is none, which ends the dialogue."""
    turns: list[str | None] = []
    for item, reply in zip(dialogues, list(ask(map(prompt, dialogues))), strict=True):
        turn = clean(reply.text) if reply.problem is None else ""
        if not turn:
            item.problem = reply.problem or "empty turn"
        turns.append(turn or None)
    return turns
