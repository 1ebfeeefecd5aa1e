"""OnionEval (arXiv 2501.12975): the same facts alone, in a story, and in a story within a scene.

Each row of the release has a fact and a hallucination about an entity. In the released protocol yes is always
right: the statement is wrong, the reader who knows the fact is right. Here every question is also asked the
other way round, with fact and hallucination swapped, so that no is right.

Evidence is either the row's own context, which the release gives with every question (an oracle), or the
context that BM25 finds for the claim among those of all rows, which may be the wrong one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal

from eval.benchmarks.base import Benchmark, Figures, accuracy
from eval.benchmarks.prompts_onioneval import OnionPrompt, scene, story
from eval.benchmarks.yes_no import AlwaysYes, YesNoJudge
from eval.retrieval import search
from judge.formats.files import find_file, need_folder
from judge.formats.records import Record, nonempty, read_records
from judge.types import Label, Sample, Verdict

ORIGINAL = "github.com/sunchongren/OnionEval"
LAYERS = ("atomic", "story", "scene")
_TELL = {"story": story, "scene": scene}

Judged = Sequence[tuple[Sample, Verdict]]
Evidence = Literal["none", "oracle", "retrieved"]


def read(evidence: Evidence, data_dir: Path | None) -> Iterator[Sample]:
    """Six samples per row of ``data_dir/onioneval/with_context.json``: three layers, each asked both ways.

    The answer is the claim to judge, the question is the text around it in that layer, and the document is
    the row's context, the retrieved one, or empty. Ids are made of layer, row (from 0) and right reply; the
    group is category and entity.
    """
    folder = need_folder(data_dir, "OnionEval", "onioneval", ORIGINAL)
    path = find_file(folder, "onioneval", ["with_context.json"], ORIGINAL)
    records = list(nonempty(read_records(path), path))
    found = _search([row for _, row in records]) if evidence == "retrieved" else None
    entities = {row.text("context"): row.text("entity") for _, row in records}
    for layer in LAYERS:
        for number, row in records:
            for sample in _samples(layer, number, row):
                own = row.text("context")
                if found is not None:
                    document = found[sample.answer]
                    hit = {
                        "found": document == own,
                        "found_entity": entities.get(document) == row.text("entity"),
                    }
                    yield replace(sample, document=document, meta={**sample.meta, **hit})
                else:
                    yield replace(sample, document=own) if evidence == "oracle" else sample


def _search(rows: Sequence[Record]) -> dict[str, str]:
    """The best context for each fact and hallucination; empty if no context shares a word with it."""
    contexts = list(dict.fromkeys(row.text("context") for row in rows))
    claims = list(dict.fromkeys(row.text(name) for row in rows for name in ("fact", "hallucination")))
    places = search(contexts, claims, 1)
    return {claim: contexts[best[0]] if best else "" for claim, best in zip(claims, places, strict=True)}


def _samples(layer: str, number: str, row: Record) -> Iterator[Sample]:
    entity, fact, wrong = row.text("entity"), row.text("fact"), row.text("hallucination")
    category = row.text("category")
    for right_reply in ("yes", "no"):
        # Yes is right to "is this wrong?" of a hallucination, and to "is she right?" of a fact.
        hallucinated = (layer == "atomic") is (right_reply == "yes")
        claim, book = (wrong, fact) if hallucinated else (fact, wrong)
        yield Sample(
            id=f"onioneval-{layer}-{number}-{right_reply}",
            document="",
            question="" if layer == "atomic" else _TELL[layer](entity, book),
            answer=claim,
            label=Label.FAIL if hallucinated else Label.PASS,
            source=f"onioneval_{layer}",
            group=f"{category}: {entity}",
            meta={
                "layer": layer,
                "category": category,
                "right_reply": right_reply,
                "yes": (Label.FAIL if layer == "atomic" else Label.PASS).value,
            },
        )


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By layer and by category."""
    return {"layer": (str(sample.meta["layer"]),), "category": (str(sample.meta["category"]),)}


def one_sided(judged: Judged) -> float | None:
    """The paper's accuracy: share of yes where yes is right; unmatched replies count as wrong."""
    return accuracy([pair for pair in judged if pair[0].meta["right_reply"] == "yes"])


def two_sided(judged: Judged) -> float | None:
    """The mean of the accuracies where yes is right and where no is right: 0.5 for any constant reply."""
    yes = one_sided(judged)
    no = accuracy([pair for pair in judged if pair[0].meta["right_reply"] == "no"])
    return None if yes is None or no is None else (yes + no) / 2


def context_influence(accuracies: Sequence[float | None]) -> float | None:
    """The CI score: hallucination rate of the atomic layer, plus the mean loss from layer to layer.

    ``CI = rho_h + (sum of Delta_i) / n`` with ``rho_h = 1 - accuracy(atomic)``, ``Delta_i`` the accuracy of
    a layer less that of the next one out, and ``n`` the number of such steps. 0 is best.

    The paper says "differences across layers" without the sign. Its own figures imply it: its bad cases are
    models that are right on more than 90 % of the atomic layer and on almost none of the outer layers.
    Counting losses as positive gives them ``0.1 + (0.9 + 0) / 2 = 0.55``; counting them as negative would
    give ``0.1 - 0.45 = -0.35``, which is better than the 0 of a model that is always right.
    """
    known = [value for value in accuracies if value is not None]
    if len(known) < len(accuracies):
        return None
    losses = [inner - outer for inner, outer in pairwise(known)]
    return 1 - known[0] + sum(losses) / len(losses)


def figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """Accuracies and unmatched replies by layer; the CI score over all and by category."""
    by_layer: dict[str, list[tuple[Sample, Verdict]]] = {layer: [] for layer in LAYERS}
    by_category: dict[str, dict[str, list[tuple[Sample, Verdict]]]] = {}
    for pair in zip(samples, verdicts, strict=True):
        layer, category = str(pair[0].meta["layer"]), str(pair[0].meta["category"])
        by_layer[layer].append(pair)
        by_category.setdefault(category, {layer: [] for layer in LAYERS})[layer].append(pair)
    found: Figures = {
        "layers": {layer: _layer(judged) for layer, judged in by_layer.items() if judged},
        "context influence": {
            "all": _influence(by_layer),
            **{category: _influence(layers) for category, layers in sorted(by_category.items())},
        },
    }
    if all("found" in sample.meta for sample in samples):
        found["retrieval"] = {layer: _retrieval(judged) for layer, judged in by_layer.items() if judged}
    return found


def _retrieval(judged: Judged) -> dict[str, float | int | None]:
    """How often the row's own context, or one about its entity, was retrieved; accuracy with and without."""
    hits = [pair for pair in judged if pair[0].meta["found"]]
    misses = [pair for pair in judged if not pair[0].meta["found"]]
    return {
        "found": len(hits) / len(judged),
        "found_entity": sum(bool(sample.meta["found_entity"]) for sample, _ in judged) / len(judged),
        "accuracy_found": accuracy(hits),
        "accuracy_missed": accuracy(misses),
    }


def _layer(judged: Judged) -> dict[str, float | int | None]:
    unmatched = sum(verdict.label is None for _, verdict in judged) / len(judged)
    return {
        "samples": len(judged),
        "one_sided": one_sided(judged),
        "two_sided": two_sided(judged),
        "unmatched": unmatched,
    }


def _influence(layers: Mapping[str, Judged]) -> dict[str, float | int | None]:
    return {
        "one_sided": context_influence([one_sided(layers[layer]) for layer in LAYERS]),
        "two_sided": context_influence([two_sided(layers[layer]) for layer in LAYERS]),
    }


NOTES = (
    "Prompts and stories are this project's own; reason mode is the paper's chain of thought.",
    "3,352 rows are released, the paper says 3,356; in one of them fact and hallucination are the same.",
    "Published, as one_sided here: models under 10B are above 90 % in the atomic layer and near 0 in the "
    "layers around it; up to 50.5 % of their replies are unmatched.",
)
ORACLE = "Every question has its own row's context, which no search could promise."
RETRIEVED = "One context a question: what BM25 finds for the claim among all rows'."


def _variant(
    name: str, title: str, *notes: str, evidence: Evidence = "none", examples: bool = False
) -> Benchmark:
    return Benchmark(
        name=f"onioneval{name}",
        title=f"OnionEval{title} (arXiv 2501.12975)",
        read=partial(read, evidence),
        rows=rows,
        figures=figures,
        ask=partial(YesNoJudge, prompt=OnionPrompt(examples=examples)),
        baselines=(AlwaysYes(),),
        notes=(*NOTES, *notes),
    )


ONIONEVAL = _variant("", "")
ONIONEVAL_FEW_SHOT = _variant("_few_shot", ", four solved examples", examples=True)
ONIONEVAL_EVIDENCE = _variant("_evidence", " with evidence", ORACLE, evidence="oracle")
ONIONEVAL_FEW_SHOT_EVIDENCE = _variant(
    "_few_shot_evidence", " with evidence and four solved examples", ORACLE, evidence="oracle", examples=True
)
ONIONEVAL_RETRIEVAL = _variant("_retrieval", " with retrieval", RETRIEVED, evidence="retrieved")
ONIONEVAL_FEW_SHOT_RETRIEVAL = _variant(
    "_few_shot_retrieval", " with retrieval and four solved examples", RETRIEVED, evidence="retrieved",
    examples=True,
)  # fmt: skip
