"""``judge eval``: measure a judge, and baselines with it."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.options import (
    COLUMNS,
    DATA_DIR,
    ENCODING,
    GOLD_LABELS,
    Settings,
    introduce,
    loads_judge,
    parse_columns,
    parse_gold_labels,
    parse_names,
    watch_languages,
)
from judge.cli.settings import setting
from judge.errors import InputError
from judge.progress import say, stage
from judge.shipped import REFERENCE
from judge.types import Sample

if TYPE_CHECKING:
    from eval.benchmarks.base import Benchmark

OPEN_FACTUAL = "open_factual_bench"


def _sets(
    names: Sequence[str], files: "Sequence[Benchmark]", data_dir: Path | None
) -> "list[tuple[Benchmark, list[Sample]]]":
    """The benchmarks and their samples; all of them are read before anything is judged.

    ``all`` stands for every whole benchmark whose files are found; the user is told why the others are not.
    """
    from eval.benchmarks import WHOLE, check_name, get_benchmark
    from judge.formats.files import MissingFiles

    for name in names:
        if name not in ("all", OPEN_FACTUAL):
            check_name(name)
    sets: dict[str, tuple[Benchmark, list[Sample]]] = {}
    for name in [*names, *(WHOLE if "all" in names else ())]:
        if name in ("all", OPEN_FACTUAL) or name in sets:
            continue
        benchmark = get_benchmark(name)
        try:
            with stage(f"read {name}"):
                sets[name] = benchmark, benchmark.load(data_dir)
        except MissingFiles as error:
            if name in names:
                raise
            say(f"{name} left out: {error}")
    times = Counter([*sets, *(benchmark.name for benchmark in files)])
    for benchmark in files:
        if times[benchmark.name] > 1:
            benchmark = replace(benchmark, name=benchmark.title)
        if benchmark.name in sets:
            raise InputError(f"{benchmark.name} is the name of two sets; rename the file")
        sets[benchmark.name] = benchmark, benchmark.load()
    if not sets:
        raise InputError("found no benchmark files; give --data-dir")
    return list(sets.values())


@loads_judge()
def eval_command(
    settings: Settings,
    model: Annotated[
        str, typer.Option(help="Hub id, folder, baseline:NAME, METHOD:MODEL (selfcheck, ragas), replay:FILE.")
    ] = REFERENCE,
    benchmarks: Annotated[str | None, typer.Option(help="Benchmarks, separated by commas, or all.")] = None,
    samples: Annotated[
        list[Path] | None, typer.Option(help="A file of labelled samples; repeatable.")
    ] = None,
    columns: COLUMNS = None,
    encoding: ENCODING = None,
    gold_labels: GOLD_LABELS = None,
    data_dir: DATA_DIR = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Draw this many samples from each set, stratified.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw, the intervals and the sampling.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Judge this many times, each with another seed.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Temperature of reason mode, which is greedy by default.")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE=SHARE", help="Exit code 1 below this, as balanced_accuracy=0.7; repeatable."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for report.json and verdicts.jsonl.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a result in --out.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Download nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    attack: Annotated[bool, setting("Also judge every sample with prompt injections.")] = False,
    corpus: Annotated[
        Path | None,
        setting("Documents for a benchmark that has none: JSON Lines of text, title."),
    ] = None,
    passages: Annotated[int, setting("How many passages of the corpus a sample gets.", min=1)] = 3,
    top_p: Annotated[
        float | None, setting("Sample from the likeliest tokens with this share.", min=0.001, max=1)
    ] = None,
    top_k: Annotated[int | None, setting("Sample from this many tokens; 0: from all.", min=0)] = None,
    encoder: Annotated[
        str | None, setting("Compares texts for selfcheck-nli and selfcheck-bertscore: Hub id or folder.")
    ] = None,
    baseline_data: Annotated[Path | None, setting("Labelled samples to fit the baselines on.")] = None,
    bootstrap: Annotated[int, setting("Resamples for intervals; 0: no intervals.", min=0)] = 1000,
    latency: Annotated[int, setting("Samples to time one by one, too.", min=0)] = 0,
    hardware: Annotated[str | None, setting("What to call this machine in the report.")] = None,
) -> None:
    """Measure a judge on benchmarks or on your own samples, next to simple baselines.

    With open_factual_bench or all, its model also answers questions itself.

    To resume an interrupted run, call it again with the same --out.
    """
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the Hub client is imported, which is later
    names = parse_names(benchmarks, "--benchmarks")
    if names == [OPEN_FACTUAL] and not samples:
        raise InputError(f"{OPEN_FACTUAL} alone measures no judge; use judge open-factual --model MODEL")
    from eval.gates import check_limits, parse_limits

    limits = parse_limits(fail_under or [])
    if not names and not samples:
        from eval.default_sets import default_sets

        names, samples = default_sets(model, data_dir)
    introduce(model)
    recorded = model.startswith("replay:")
    if names and not samples and not recorded and settings["decoding"] is None:
        settings = {**settings, "decoding": "free"}  # as published figures were measured

    from rich.console import Console

    from eval import processes, retrieval
    from eval import report as reporting
    from eval.benchmarks import injection
    from eval.benchmarks.samples_file import samples_file
    from eval.judges import load_judges, method_of
    from eval.judging import describe_run
    from eval.open_factual.cli import answer_beside, as_markdown
    from eval.pages.terminal import print_report
    from eval.replay import Replay
    from eval.run import evaluate
    from eval.verdicts import VERDICTS, VerdictFile, data_hash
    from judge.baselines.rules import TRIVIAL_BASELINES, TrivialBaseline
    from judge.files import check_names, locked
    from judge.rows import check_outputs

    means = parse_gold_labels(gold_labels)
    named = parse_columns(columns)
    if not samples and baseline_data is None:
        for option, given in (("columns", columns), ("gold-labels", gold_labels), ("encoding", encoding)):
            if given is not None:
                raise InputError("is for files of your own; give --samples, or omit it", field=f"--{option}")
    check_names(*(samples or ()), baseline_data, out)
    fit_on = None if baseline_data is None else samples_file(baseline_data, named, encoding, means).load()
    baselines = [TrivialBaseline(name, fit_on) for name in TRIVIAL_BASELINES]
    if not (first := processes.join(settings["backend"])):  # this one only judges; the first one writes
        baselines, out, bootstrap, latency = [], None, 0, 0
    files = [samples_file(path, named, encoding, means) for path in dict.fromkeys(samples or [])]
    read = _sets(names, files, data_dir)
    if corpus is not None:
        read = [(benchmark, retrieval.searchable(benchmark, found)) for benchmark, found in read]
    sets = [(benchmark, benchmark.draw(found, limit, seed)) for benchmark, found in read]
    if corpus is not None:
        sets = [retrieval.retrieve(benchmark, chosen, corpus, passages) for benchmark, chosen in sets]
    if attack:
        sets = [injection.attack(benchmark, chosen) for benchmark, chosen in sets]
    answering = first and (OPEN_FACTUAL in names or ("all" in names and not attack))
    console = Console(stderr=as_json)
    judges = load_judges(
        model, runs=runs, temperature=temperature, top_p=top_p, top_k=top_k, seed=seed, baseline_data=fit_on,
        encoder=encoder, **settings,
    )  # fmt: skip
    if latency and isinstance(judges[0], TrivialBaseline | Replay):
        raise InputError("has no effect on baselines and recorded verdicts; omit it", field="--set latency")
    if names and samples and settings["decoding"] is None and judges[0].describe().get("guided"):
        say(
            "with a file of samples, replies on the benchmarks are constrained too; published figures are of "
            "free ones (--set decoding=free)"
        )
    if files and first and not method_of(model):  # methods and recorded verdicts declare no languages
        own = (chosen for benchmark, chosen in sets if benchmark in files)
        watch_languages(model, settings).look_through(chain.from_iterable(own))
    if out is not None:
        recording = judges[0].path if isinstance(judges[0], Replay) else None
        inputs = [path for path in (*(samples or ()), baseline_data, corpus, recording) if path is not None]
        check_outputs([out / VERDICTS], inputs, "verdicts (--out)")
    run = describe_run(judges, sets, baseline_data=None if fit_on is None else data_hash(fit_on))
    reports = []
    answered = None
    with ExitStack() as stack:
        file = None
        if out is not None:
            stack.enter_context(locked(out, folder=True))
            file = stack.enter_context(VerdictFile(out, run, overwrite))
        if answering:
            answered = answer_beside(
                judges[0], OPEN_FACTUAL in names, data_dir=data_dir,
                out=None if out is None else out / OPEN_FACTUAL, overwrite=overwrite, machine=hardware,
            )  # fmt: skip
        for benchmark, chosen in sets:
            with stage(benchmark.name) as update:
                reports.append(
                    evaluate(
                        judges, benchmark, chosen, baselines, file, bootstrap=bootstrap, seed=seed,
                        limit=limit, latency=latency, machine=hardware, progress=update,
                    )
                )  # fmt: skip
        if out is not None:
            reporting.write_reports(out, reports)
    if not first:
        return
    for report in reports:
        print_report(console, report)
    if answered is not None:
        typer.echo(as_markdown(answered), err=as_json)
    if as_json:
        more = {} if answered is None else {OPEN_FACTUAL: answered}
        typer.echo(json.dumps(reporting.as_json(reports) | more, ensure_ascii=False, indent=2))
    check_limits(reports, limits)
