"""A whole run of self-dialogue: its output folder, and a cost estimate.

OUT/dialogues.jsonl    samples, for `judge annotate`
OUT/to_repair.jsonl    turns of A that no person would say, for people to rewrite (key `repairs`)
OUT/manifest.json      config, counts, dropped dialogues with reasons, cost
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import judge
from data_pipeline.papers.dialogues import dialogue_prompts as prompts
from data_pipeline.papers.dialogues.config import DialoguesConfig
from data_pipeline.papers.dialogues.talk import Rewritten, talk
from data_pipeline.papers.dialogues.topics import STARTER, choose, read_set, read_topics
from data_pipeline.papers.dialogues.turns import STANDS_STILL, Dialogue
from data_pipeline.sources.dropped import Dropped
from data_pipeline.teachers.pool import ChatModels
from judge.errors import unknown
from judge.files import sha256_file, write_json, write_jsonl
from judge.formats.records import read_lines
from judge.remote.budget import Estimate
from judge.remote.chat import ChatRequest
from judge.rows import check_outputs
from judge.samples import write_samples

DIALOGUES = "dialogues.jsonl"
TO_REPAIR = "to_repair.jsonl"
MANIFEST = "manifest.json"


def run(config: DialoguesConfig, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Let the models talk, write the folder and return its manifest.

    To resume an interrupted run, run it again: earlier replies come from the call cache.

    Args:
        config: the recipe.
        say: called with lines on the progress of the calls.

    Raises:
        InputError: if the recipe, its topics or its repairs are wrong, or a file of them would be replaced.
        JudgeError: if an endpoint fails, or the budget does not cover the next call.
    """
    dialogues, rewritten = prepare(config)
    out = Path(config.output)
    read = [Path(name) for name in (config.topics, config.repairs) if isinstance(name, str)]
    check_outputs([out / DIALOGUES, out / TO_REPAIR], read, "dialogues")
    with ChatModels(config.teachers, config.calls, config.seed, say) as models:
        converse(config, models, dialogues, rewritten)
        costs = models.costs()
    whole = [item for item in dialogues if item.problem is None]
    names = {teacher.name: teacher.model_name for teacher in config.teachers}
    write_samples(
        out / DIALOGUES, (item.sample(names[config.user], names[config.assistant]) for item in whole)
    )
    left = write_jsonl(out / TO_REPAIR, to_repair(dialogues))
    dropped = Dropped()
    for item in dialogues:
        if item.problem is not None:
            dropped.add(item.problem, item.id)
    manifest = {
        "config": config.model_dump(mode="json"),
        "version": judge.__version__,
        "prompts": prompts.describe(),
        "dialogues": dict(sorted(Counter(item.topic.domain for item in whole).items())),
        "turns": sum(len(item.turns) for item in whole),
        "repaired_by": dict(sorted(Counter(turn.by for item in whole for turn in item.repairs).items())),
        "to_repair": left,
        "dropped": dropped.table(),
        "calls": costs,
        "files": {name: sha256_file(out / name) for name in (DIALOGUES, TO_REPAIR)},
    }
    write_json(out / MANIFEST, manifest)
    return manifest


def prepare(config: DialoguesConfig) -> tuple[list[Dialogue], Rewritten]:
    """The dialogues, still empty, and the turns rewritten by people."""
    if isinstance(config.topics, dict):
        topics = [topic for name, path in config.topics.items() for topic in read_set(name, Path(path))]
    else:
        topics = read_topics(STARTER if config.topics is None else Path(config.topics))
    least, most = config.rounds
    dialogues = [
        Dialogue(topic, random.Random(f"{config.seed} {topic.id}").randint(least, most))
        for topic in choose(topics, config.domains, config.seed)
    ]
    return dialogues, {} if config.repairs is None else read_rewritten(Path(config.repairs), dialogues)


def converse(
    config: DialoguesConfig, models: ChatModels, dialogues: Sequence[Dialogue], rewritten: Rewritten
) -> None:
    """Fill the dialogues with turns of the recipe's models."""
    talk(
        dialogues,
        models.ask(config.user),
        models.ask(config.assistant),
        None if config.repair is None else models.ask(config.repair),
        rewritten=rewritten,
    )


def to_repair(dialogues: Sequence[Dialogue]) -> Iterator[dict[str, Any]]:
    """Turns of A with a fault that nobody repaired: rows whose ``text`` a person should rewrite.

    Includes dialogues that stand still, since another turn may get them going.
    """
    for item in dialogues:
        if item.problem not in (None, STANDS_STILL):
            continue
        for turn in item.repairs:
            if turn.by == "nobody":
                yield {"id": item.id, "turn": turn.number, "fault": turn.fault, "text": turn.text}


def read_rewritten(path: Path, dialogues: Sequence[Dialogue]) -> Rewritten:
    """Turns rewritten by a person: JSON Lines with ``id``, ``turn`` (from 1) and ``text``.

    Raises:
        InputError: if a row is wrong, or names a turn that will not exist.
    """
    rounds = {item.id: item.rounds for item in dialogues}
    found: dict[tuple[str, int], str] = {}
    for row in read_lines(path):
        name, turn = row.text("id"), row.get("turn")
        if name not in rounds:
            raise row.wrong("id", unknown("dialogue", name, rounds))
        if type(turn) is not int or not 1 <= turn <= rounds[name]:
            raise row.wrong("turn", f"is {turn!r:.20}, expected a number from 1 to {rounds[name]}")
        if (name, turn) in found:
            raise row.wrong("turn", f"{turn} of {name} is rewritten a second time")
        found[name, turn] = " ".join(row.text("text").split())
    return found


def dry_run(config: DialoguesConfig) -> dict[str, Estimate]:
    """Estimate calls, tokens and price by teacher; cached replies cost nothing. Repairs cannot be foreseen
    and come on top.

    Raises:
        InputError: under the same conditions as the run itself.
    """
    dialogues, rewritten = prepare(config)
    with ChatModels(config.teachers, config.calls, config.seed, stand_in=_stand_in) as models:
        converse(config, models, dialogues, rewritten)
        return models.estimates


def _stand_in(request: ChatRequest) -> str:
    """A made-up reply; it differs each time, or A would seem to repeat itself."""
    return " ".join([f"word{len(request.messages)}"] * 30)
