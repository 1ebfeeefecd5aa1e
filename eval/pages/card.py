"""Results as ``model-index``: the front matter of a model card that the Hub shows as evaluation results."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.pages.markdown import NOTE
from eval.pages.runs import Run, SampleSet
from eval.pages.standings import standings
from eval.pages.tables import leaderboard
from eval.tables import table_lines
from judge.errors import InputError, brief
from judge.files import open_text, write_text

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

METRICS = {
    "accuracy": ("accuracy", "Accuracy"),
    "balanced_accuracy": ("balanced_accuracy", "Balanced accuracy"),
    "precision": ("precision", "Precision of FAIL"),
    "recall": ("recall", "Recall of FAIL"),
    "f1": ("f1", "F1 of FAIL"),
    "auroc": ("roc_auc", "AUROC"),
}
"""Name of a figure to its name on the Hub and its readable name."""


def write_card(sets: Sequence[SampleSet], path: Path) -> None:
    """Write the results of one judge into a model card; an existing card keeps its text and other fields.

    Raises:
        InputError: if the results are of several judges, or the existing file is not a model card.
    """
    from huggingface_hub import ModelCard, ModelCardData

    runs = [run for group in sets for run in group.runs]
    names = list(dict.fromkeys(run.report.name for run in runs))
    if len(names) > 1:
        raise InputError(f"a model card is about one judge, these results are about {', '.join(names)}")
    if path.exists():
        with open_text(path) as stream:
            text = stream.read()
    else:
        table = table_lines(leaderboard(standings(sets)))
        text = f"---\ntags: [hallucination-detection]\n---\n\n# {Path(names[0]).name}\n\n{NOTE}\n\n{table}\n"
    try:
        card = ModelCard(text)
    except Exception as error:  # the library passes on the errors of its YAML reader
        raise InputError(f"is not a model card ({brief(error, 120)}); give another file", file=path) from None
    fields = card.data.to_dict()
    fields.pop("model-index", None)
    results = [found for group in sets for run in group.runs for found in _results(group, run)]
    card.data = ModelCardData(**fields | {"model_name": Path(names[0]).name, "eval_results": results})
    write_text(path, str(card))


def _results(group: SampleSet, run: Run) -> "Iterator[EvalResult]":
    """One entry per figure; the Hub groups those of one set and mode."""
    from huggingface_hub import EvalResult

    report = run.report
    for name, (kind, title) in METRICS.items():
        value = getattr(report.mean_metrics(), name)
        if value is not None:
            yield EvalResult(
                task_type="text-classification",
                task_name="Hallucination detection",
                dataset_type=report.benchmark,
                dataset_name=report.title,
                dataset_config=report.mode,
                dataset_revision=report.data_hash,
                dataset_args={"samples": report.metrics.n},
                metric_type=kind,
                metric_name=title,
                metric_value=round(value, 4),
            )
