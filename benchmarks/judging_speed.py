"""Speed of several ways to judge the same rows of RAGTruth's test split with the same weights.

    python -m benchmarks.judging_speed runs/demo/model runs/demo/sft --data-dir ../shared/data

Compared with verdict mode on the transformers backend:

- ``pipeline``: a text-generation pipeline on the reason prompt, greedy, at most 600 new tokens, one sample at
  a time, as Lynx is run. It is slow, so it only judges the first ``--slow-rows`` rows.
- ``lm-eval``: the HF model of lm-evaluation-harness scores the two label words of the verdict prompt, with
  the batch size out of 1, 4 and 16 that is fastest on the first rows (``pip install lm-eval``).
- ``vllm``: the same verdicts on vLLM in this process.
- ``unshared``: every sample alone, on rows with several answers about one document.

Rows are drawn by ``--seed``; for ``unshared`` whole documents are drawn, with six answers each.
Prints samples per second and ratios, and how many labels agree with verdict mode.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from judge.backends.transformers import TransformersBackend
from judge.formats import ragtruth
from judge.judge import Judge
from judge.models.weights import load_model
from judge.prompting.prompts import LABEL_WORDS, BuiltinPrompt
from judge.types import Label, Sample

NEW_TOKENS = 600
BATCH_SIZES = (1, 4, 16)
WAYS = ("lm-eval", "unshared", "pipeline", "vllm")
WORDS = LABEL_WORDS["en"]


class Run:
    """The verdicts and the time of one way."""

    def __init__(self, name: str, labels: Sequence[Label | None], seconds: float):
        self.name, self.labels, self.seconds = name, labels, seconds

    @property
    def speed(self) -> float:
        """Samples per second."""
        return len(self.labels) / self.seconds

    def against(self, other: "Run") -> str:
        """One line: the speed, and the comparison with the other way."""
        same = sum(one == two for one, two in zip(self.labels, other.labels, strict=False))
        return (
            f"{self.name}: {self.speed:.3f} samples/s on {len(self.labels)} rows in {self.seconds:.1f} s; "
            f"{other.name} is {other.speed / self.speed:.2f} times as fast, {same} labels agree"
        )


def timed(name: str, judge: Callable[[Sequence[Sample]], list[Label | None]], rows: Sequence[Sample]) -> Run:
    """Judge rows after a warm-up row that does not count."""
    judge(rows[:1])
    start = time.perf_counter()
    return Run(name, judge(rows), time.perf_counter() - start)


def verdicts(judge: Judge) -> Callable[[Sequence[Sample]], list[Label | None]]:
    """Verdict mode of this project."""
    return lambda rows: [verdict.label for verdict in judge.check(rows)]


def one_by_one(judge: Judge) -> Callable[[Sequence[Sample]], list[Label | None]]:
    """Every sample alone, without prefix sharing or padding."""
    return lambda rows: [judge.check([row])[0].label for row in rows]


def by_pipeline(backend: TransformersBackend) -> Callable[[Sequence[Sample]], list[Label | None]]:
    """Generated judgements, one after another."""
    from transformers import pipeline

    from judge.prompting.parsing import parse

    generate = pipeline(
        "text-generation",
        model=backend.model,
        tokenizer=backend.loaded.tokenizer,
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        return_full_text=False,
        batch_size=1,
    )

    def run(rows: Sequence[Sample]) -> list[Label | None]:
        replies = [generate([BuiltinPrompt().messages(row, "reason")])[0] for row in rows]
        return [parse(reply[0]["generated_text"]).label for reply in replies]

    return run


def by_lm_eval(backend: TransformersBackend, size: int) -> Callable[[Sequence[Sample]], list[Label | None]]:
    """The likelier of the two label words, by lm-evaluation-harness."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=backend.model, tokenizer=backend.loaded.tokenizer, batch_size=size)

    def run(rows: Sequence[Sample]) -> list[Label | None]:
        requests = []
        for number, row in enumerate(rows):
            prompt = backend.renderer.prompt_text(BuiltinPrompt().messages(row, "verdict"))
            for label in (Label.PASS, Label.FAIL):
                requests.append(Instance("loglikelihood", {}, (prompt, WORDS[label]), number))
        found = [score for score, _ in model.loglikelihood(requests, disable_tqdm=True)]
        pairs = zip(found[::2], found[1::2], strict=True)
        return [Label.PASS if passed > failed else Label.FAIL for passed, failed in pairs]

    return run


def whole_documents(rows: Sequence[Sample], count: int, seed: int) -> list[Sample]:
    """All answers to some documents, about ``count`` in all."""
    documents = [list(answers) for _, answers in groupby(rows, key=lambda row: row.group)]
    random.Random(seed).shuffle(documents)
    chosen: list[Sample] = []
    while documents and len(chosen) < count:
        chosen += documents.pop()
    return chosen


def measure(
    model: str, settings: argparse.Namespace, rows: Sequence[Sample], about: Sequence[Sample]
) -> None:
    """Run every way on one model and print a line for each."""
    backend = TransformersBackend(load_model(model, precision=settings.precision))
    some = rows[: settings.slow_rows]
    verdict = timed("verdict mode", verdicts(Judge(backend)), rows)
    print(f"{model}, {backend.describe()['dtype']}: verdict mode: {verdict.speed:.3f} samples/s", flush=True)

    def show(found: Run, reference: Run = verdict) -> None:
        print(f"  {found.against(reference)}", flush=True)

    if "lm-eval" in settings.ways:
        speeds = {size: timed("", by_lm_eval(backend, size), some).speed for size in BATCH_SIZES}
        best = max(speeds, key=lambda size: speeds[size])
        show(timed(f"lm-eval at batch size {best}", by_lm_eval(backend, best), rows))
    if "unshared" in settings.ways:
        shared = timed("shared", verdicts(Judge(backend)), about)
        show(timed("unshared", one_by_one(Judge(backend)), about), shared)
    if "pipeline" in settings.ways:
        show(timed("pipeline", by_pipeline(backend), some))
    if "vllm" in settings.ways:
        from judge.backends.vllm import VLLMBackend

        engine = Judge(VLLMBackend(model, precision=settings.precision))
        show(timed("vllm", verdicts(engine), rows))


def main() -> None:
    """Draw the rows and measure each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", help="folders of full weights or adapters")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--slow-rows", type=int, default=16)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    test = list(ragtruth.load(settings.data_dir))
    rows = random.Random(settings.seed).sample(test, settings.rows)
    about = whole_documents(test, settings.rows, settings.seed)
    for model in settings.models:
        measure(model, settings, rows, about)


if __name__ == "__main__":
    main()
