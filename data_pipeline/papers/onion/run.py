"""A whole run of the construction: its output files, and a cost estimate.

OUT/onioneval/entities.json, description.json, facts.json, hallucinations.json, with_context.json
                       items that passed each stage, in the released form; OUT is a --data-dir of `judge eval`
OUT/manifest.json      config, counts, dropped items with reasons, cost
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import judge
from data_pipeline.edits.verify import Rejected
from data_pipeline.papers.onion import onion_prompts as prompts
from data_pipeline.papers.onion.config import OnionConfig
from data_pipeline.papers.onion.make import DESCRIPTION_WORDS, Item, Maker, Read
from data_pipeline.papers.onion.onion_prompts import Stage
from data_pipeline.sources.dropped import Dropped
from data_pipeline.teachers.base import Ask
from data_pipeline.teachers.pool import ChatModels
from judge.errors import InputError, unknown
from judge.files import sha256_file, write_json
from judge.formats.records import read_records
from judge.remote.budget import Estimate
from judge.remote.chat import Reply
from judge.rows import check_outputs

FOLDER = "onioneval"
ROWS = "with_context.json"
MANIFEST = "manifest.json"
STAND_IN = "not asked yet"
STAGES = ("entities", "descriptions", "facts", "hallucinations")
"""The stages before the rows, counted in the manifest."""


def files_of(made: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    """The files in the released form, by name. As there, ``facts.json`` has facts as ``description``."""
    entities: dict[str, list[str]] = {}
    for item in made["entities"]:
        entities.setdefault(item.category, []).append(item.entity)

    def rows(stage: str, **fields: str) -> list[dict[str, Any]]:
        named = {"category": "category", "entity": "entity", **fields}
        return [{name: getattr(item, field) for name, field in named.items()} for item in made[stage]]

    described = enumerate(made["descriptions"])
    pair = {"hallucination": "hallucination", "fact": "fact"}
    return {
        "entities.json": entities,
        "description.json": [
            {"id": number, "entity": one.entity, "description": one.description, "category": one.category}
            for number, one in described
        ],
        "facts.json": rows("facts", description="fact"),
        "hallucinations.json": rows("hallucinations", **pair),
        ROWS: rows("rows", **pair, context="context"),
    }


def run(config: OnionConfig, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Make the set, write its folder and return its manifest.

    To resume an interrupted run, run it again: earlier replies come from the call cache.

    Args:
        config: the recipe.
        say: called with lines on the progress of the calls.

    Raises:
        InputError: if the recipe or its file of descriptions is wrong, or the run would replace that file.
        JudgeError: if an endpoint fails, or the budget does not cover the next call.
    """
    dropped = Dropped()
    with ChatModels(config.teachers, config.calls, config.seed, say) as models:
        made = make(Maker(config, *models_of(config, models), dropped))
        costs = models.costs()
    out = Path(config.output)
    files = files_of(made)
    for name, content in files.items():
        write_json(out / FOLDER / name, content)
    manifest = {
        "config": config.model_dump(mode="json"),
        "version": judge.__version__,
        "prompts": prompts.describe(),
        "models": {teacher.name: teacher.model_name for teacher in config.teachers},
        **{stage: len(items) for stage, items in made.items()},
        "rows_by_category": dict(sorted(Counter(item.category for item in made["rows"]).items())),
        "rows_by_edit": dict(sorted(Counter(item.edit_type for item in made["rows"]).items())),
        "dropped": dropped.table(),
        "calls": costs,
        "files": {f"{FOLDER}/{name}": sha256_file(out / FOLDER / name) for name in files},
    }
    write_json(out / MANIFEST, manifest)
    return manifest


def models_of(config: OnionConfig, models: ChatModels) -> tuple[Ask, Ask | None, Ask | None]:
    """The functions that ask the writer, the perturber and the checker."""
    perturber = config.writer if config.perturber is None else config.perturber
    return (
        models.ask(config.writer),
        None if perturber == "rules" else models.ask(perturber),
        None if config.checker is None else models.ask(config.checker),
    )


def make(maker: Maker) -> dict[str, list[Item]]:
    """All stages, one after another; the items that passed each."""
    config = maker.config
    if config.descriptions is None:
        entities = maker.entities()
        descriptions = maker.describe(entities)
    else:
        replaced = list((Path(config.output) / FOLDER).glob("*.json"))
        check_outputs(replaced, [Path(config.descriptions)], "set")
        entities = read_descriptions(Path(config.descriptions), config)
        descriptions = maker.take(entities)
    facts = maker.split(descriptions)
    hallucinations = maker.falsify(facts)
    passed = (entities, descriptions, facts, hallucinations, maker.surround(hallucinations))
    return dict(zip((*STAGES, "rows"), passed, strict=True))


def read_descriptions(path: Path, config: OnionConfig) -> list[Item]:
    """Entities with their descriptions: the wanted number of each category, drawn by the seed.

    Args:
        path: JSON, plain or ``.gz``: rows with ``category``, ``entity`` and ``description``.
        config: the recipe.

    Raises:
        InputError: if a row is wrong, or a category is missing or has too few entities.
    """
    there: dict[str, dict[str, Item]] = {}
    for _, row in read_records(path):
        category, entity = row.text("category").strip(), row.text("entity").strip()
        text = " ".join(row.text("description").split())
        there.setdefault(category, {}).setdefault(entity, Item(category, entity, text))
    chosen = []
    for category, count in config.categories.items():
        if category not in there:
            raise InputError(unknown("category", category, there), field=f"categories.{category}")
        items = list(there[category].values())
        if count > len(items):
            raise InputError(
                f"needs {count} entities, and {path} describes {len(items)}; ask for fewer",
                field=f"categories.{category}",
            )
        places = sorted(random.Random(f"{config.seed} {category}").sample(range(len(items)), count))
        chosen += [items[place] for place in places]
    return chosen


def dry_run(config: OnionConfig) -> dict[str, Estimate]:
    """Estimate calls, tokens and price by teacher; cached replies cost nothing.

    This is an upper bound: items not in the cache yet count as if they all passed.

    Raises:
        InputError: under the same conditions as the run itself.
    """
    with ChatModels(config.teachers, config.calls, config.seed, stand_in=lambda _: STAND_IN) as models:
        make(_CountingMaker(config, *models_of(config, models), Dropped()))
        return models.estimates


MADE_UP = " ".join(["word"] * 8)


class _CountingMaker(Maker):
    """Continues with made-up items if a model has not been asked yet."""

    def _read(self, stage: Stage, item: Item, reply: Reply, read: Read) -> Iterable[Item | Rejected]:
        if reply.text != STAND_IN:
            return super()._read(stage, item, reply, read)
        numbers = range(self.config.facts)
        if stage == "entity":
            return [
                replace(item, entity=f"{item.category} {n}")
                for n in range(self.config.categories[item.category])
            ]
        if stage == "description":
            return [replace(item, description=" ".join(["word"] * DESCRIPTION_WORDS))]
        if stage == "fact":
            return [replace(item, fact=f"{item.entity} has {MADE_UP} {n}.") for n in numbers]
        if stage == "hallucination":
            return [replace(item, hallucination=item.fact)]
        return [replace(item, context=" ".join([item.entity, *["word"] * 20]))]

    def _by_rule(self, item: Item) -> Item | Rejected:
        return replace(item, hallucination=item.fact) if MADE_UP in item.fact else super()._by_rule(item)

    def _verdict(self, stage: Stage, item: Item, reply: Reply) -> Item | Rejected:
        return item if reply.text == STAND_IN else super()._verdict(stage, item, reply)
