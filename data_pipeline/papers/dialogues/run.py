"""A whole run of self-dialogue: the folder that it writes, and what it would cost.

OUT/dialogues.jsonl    samples, for `judge annotate`
OUT/to_repair.jsonl    turns of A that no person would say, for people to rewrite (key `repairs`)
OUT/manifest.json      config, counts, what was left out and why, cost
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import judge
from data_pipeline.build.dry_run import CountingModels, said
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
from judge.remote.chat import ChatRequest, Reply
from judge.samples import write_samples

DIALOGUES = "dialogues.jsonl"
TO_REPAIR = "to_repair.jsonl"
MANIFEST = "manifest.json"


def run(config: DialoguesConfig, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Let the models talk and write the folder; gives back its manifest.

    A run that was stopped is run again: what was answered comes from the call cache.

    Args:
        config: the recipe.
        say: is told how far the calls are.

    Raises:
        InputError: the recipe, its topics or its repairs are wrong.
        JudgeError: an endpoint fails, or the budget does not reach.
    """
    dialogues, rewritten = prepare(config)
    with ChatModels(config.teachers, config.calls, config.seed, say) as models:
        converse(config, models, dialogues, rewritten)
        costs = models.costs()
    out = Path(config.output)
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
    """The dialogues before their first turn, and the turns that people rewrote."""
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
    """Fill the dialogues with what the recipe's models say."""
    talk(
        dialogues,
        models.ask(config.user),
        models.ask(config.assistant),
        None if config.repair is None else models.ask(config.repair),
        rewritten=rewritten,
    )


def to_repair(dialogues: Sequence[Dialogue]) -> Iterator[dict[str, Any]]:
    """Turns of A that stayed as they should not be: rows for a person to put another ``text`` into.

    A dialogue that stands still has them too: another turn may set it going.
    """
    for item in dialogues:
        if item.problem not in (None, STANDS_STILL):
            continue
        for turn in item.repairs:
            if turn.by == "nobody":
                yield {"id": item.id, "turn": turn.number, "fault": turn.fault, "text": turn.text}


def read_rewritten(path: Path, dialogues: Sequence[Dialogue]) -> Rewritten:
    """Turns that a person rewrote: JSON Lines with ``id``, ``turn`` (from 1) and ``text``.

    Raises:
        InputError: a row is wrong, or names a turn that there will not be.
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
    """Estimate calls, tokens and price, by teacher; what the cache holds costs nothing. Repairs, which
    nobody can foresee, come on top.

    Raises:
        InputError: as the run itself would.
    """
    dialogues, rewritten = prepare(config)
    with CountingModels(config.teachers, config.calls, config.seed, _stand_in) as models:
        converse(config, models, dialogues, rewritten)
        return models.estimates


def _stand_in(request: ChatRequest) -> Reply:
    """Some words; each reply is another one, or A would seem to repeat itself."""
    return said(request, " ".join([f"word{len(request.messages)}"] * 30))
