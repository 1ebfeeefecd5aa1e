"""OnionEval (arXiv 2501.12975): the same facts alone, in a story, and in a story within a scene.

Each row of the release has a fact and a hallucination about an entity. In the released protocol yes is always
right: the statement is wrong, the reader who knows the fact is right. Here every question is asked the other
way as well, with fact and hallucination in each other's place, and no is right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from eval.benchmarks.base import Benchmark, Figures, accuracy
from eval.benchmarks.prompts_onioneval import OnionPrompt, scene, story
from eval.benchmarks.yes_no import AlwaysYes, YesNoJudge
from judge.checker import Checker
from judge.errors import InputError
from judge.formats.files import find_file, need_folder
from judge.formats.records import Record, read_records
from judge.judge import Judge
from judge.types import Label, Sample, Verdict

ORIGINAL = "github.com/sunchongren/OnionEval"
LAYERS = ("atomic", "story", "scene")
_TELL = {"story": story, "scene": scene}

Judged = Sequence[tuple[Sample, Verdict]]


def read(evidence: bool, data_dir: Path | None) -> Iterator[Sample]:
    """Six samples a row of ``data_dir/onioneval/with_context.json``: three layers, each asked both ways.

    The answer is the claim to judge, the question what the layer puts around it, and the document the row's
    context or empty. Ids are layer, row from 0 and the right reply; the group is the entity.
    """
    folder = need_folder(data_dir, "OnionEval", "onioneval", ORIGINAL)
    path = find_file(folder, "onioneval", ["with_context.json"], ORIGINAL)
    records = list(read_records(path))
    if not records:
        raise InputError("holds no row", file=path)
    for layer in LAYERS:
        for number, row in records:
            yield from _samples(layer, number, row, evidence)


def _samples(layer: str, number: str, row: Record, evidence: bool) -> Iterator[Sample]:
    entity, fact, wrong = row.text("entity"), row.text("fact"), row.text("hallucination")
    category, context = row.text("category"), row.text("context")
    for right_reply in ("yes", "no"):
        # Yes is right to "is this wrong?" of a hallucination, and to "is she right?" of a fact.
        hallucinated = (layer == "atomic") is (right_reply == "yes")
        claim, book = (wrong, fact) if hallucinated else (fact, wrong)
        yield Sample(
            id=f"onioneval-{layer}-{number}-{right_reply}",
            document=context if evidence else "",
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
    """The paper's accuracy: share of yes where yes is right; a reply that is neither counts as wrong."""
    return accuracy([pair for pair in judged if pair[0].meta["right_reply"] == "yes"])


def two_sided(judged: Judged) -> float | None:
    """The mean of the accuracies where yes is right and where no is right: 0.5 for any constant reply."""
    yes = one_sided(judged)
    no = accuracy([pair for pair in judged if pair[0].meta["right_reply"] == "no"])
    return None if yes is None or no is None else (yes + no) / 2


def context_influence(accuracies: Sequence[float | None]) -> float | None:
    """The CI score: hallucination rate of the atomic layer, plus the mean loss from layer to layer.

    ``CI = rho_h + (sum of Delta_i) / n`` with ``rho_h = 1 - accuracy(atomic)``, ``Delta_i`` the accuracy of
    a layer less that of the next one out, and ``n`` the number of such steps. 0 is best. The paper says
    "differences across layers" and not which way; a loss counts up here, so that less is better throughout.
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
    return {
        "layers": {layer: _layer(judged) for layer, judged in by_layer.items() if judged},
        "context influence": {
            "all": _influence(by_layer),
            **{category: _influence(layers) for category, layers in sorted(by_category.items())},
        },
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


def ask(prompt: OnionPrompt, judge: Judge) -> Checker:
    """The judge, asked for yes or no."""
    return YesNoJudge(judge, prompt)


ONIONEVAL = Benchmark(
    name="onioneval",
    title="OnionEval (arXiv 2501.12975)",
    read=partial(read, False),
    rows=rows,
    figures=figures,
    ask=partial(ask, OnionPrompt()),
    floors=(AlwaysYes(),),
    size=20_112,
    notes=(
        "Prompts and stories are worded anew; reason mode is the paper's chain of thought.",
        "3,352 rows are released, the paper says 3,356; in one of them fact and hallucination are the same.",
    ),
)
ONIONEVAL_FEW_SHOT = replace(
    ONIONEVAL,
    name="onioneval_few_shot",
    title="OnionEval, four solved examples (arXiv 2501.12975)",
    ask=partial(ask, OnionPrompt(examples=True)),
)
ONIONEVAL_EVIDENCE = replace(
    ONIONEVAL,
    name="onioneval_evidence",
    title="OnionEval with evidence (arXiv 2501.12975)",
    read=partial(read, True),
)
