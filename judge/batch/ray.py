"""Judging a file on a Ray cluster with Ray Data: the rows of one machine, in the same order.

One task on this machine reads the file, chunk after chunk; workers, each with a judge of its own, judge the
chunks; their rows come back in order. The chunks are those of one machine, so each verdict has the same
neighbours. Everything streams: Ray stops the reading while the workers are busy.
"""

import json
import math
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from judge.backends.vllm_engine import VLLMSettings
from judge.batch.cluster import join_cluster
from judge.batch.file import Row, judge_rows, read_chunks
from judge.checker import Checker
from judge.errors import InputError, JudgeError
from judge.load import load_judge
from judge.samples import Columns, row_from_sample, sample_from_row

STARTS = 3
"""So often a worker is started at most: one that dies of its work would be started for ever by Ray."""


class RayEngine:
    """A Ray cluster (a :class:`~judge.batch.file.Engine`): that of ``RAY_ADDRESS``, or this machine.

    Args:
        load: makes the judge in each worker; plain data and functions of modules, since it travels.
        chunk: samples that are judged together, as :attr:`judge.checker.Checker.chunk` says.
        workers: at most so many; by default all that the cluster has room for.
        cpus: CPU cores of a worker.
        gpus: GPUs of a worker, which may be a part of one; by default one where the cluster has any.

    Raises:
        InputError: Ray is not installed, no cluster answers, or it has no room for a worker.
    """

    def __init__(
        self,
        load: Callable[[], Checker],
        chunk: int,
        *,
        workers: int | None = None,
        cpus: int = 1,
        gpus: float | None = None,
    ):
        self._ray = join_cluster()
        if gpus is None:
            gpus = float("GPU" in self._ray.cluster_resources())
        self._load, self._chunk, self._cpus, self._gpus = load, chunk, cpus, gpus
        self._room = self._workers_that_fit()
        if not self._room and workers is None:
            raise InputError(
                f"no machine of the cluster has {cpus} CPUs and {gpus:g} GPUs for a worker; ask for less, or "
                "say --workers to wait until the cluster grows"
            )
        self._workers = workers or self._room

    def judge(
        self, samples: Path, done: int, total: int, columns: Columns | None = None
    ) -> tuple[Row, Iterator[Row]]:
        """See :class:`judge.batch.file.Engine`."""
        start = done if done == total else done - done % self._chunk
        file = {"file": str(samples.resolve()), "columns": columns, "start": start, "size": self._chunk}
        results = self._results(file, workers=max(1, math.ceil((total - start) / self._chunk)))
        # Before the first result nothing is known of the judge, which is made on the workers.
        first: Row = next(results)
        return first["judge"], _rows(chain([first], results), skip=done - start)

    def _results(self, file: Row, workers: int) -> Iterator[Row]:
        """What the workers made of each chunk, in order."""
        data = self._ray.data
        context = data.DataContext.get_current().copy()
        context.target_max_block_size = 1  # a row is a chunk already: no two of them in a block
        context.execution_no_progress_timeout_s = -1  # a chunk may take long
        workers = min(workers, self._workers)
        here = {"ray.io/node-id": self._ray.get_runtime_context().get_node_id()}
        starts = self._ray.remote(num_cpus=0)(_Starts).remote()
        with data.DataContext.current(context):
            results = (
                data.from_items([{"chunks": json.dumps(file)}])
                .flat_map(_read, num_cpus=0, label_selector=here)
                .map_batches(
                    _Worker,
                    fn_constructor_args=(self._load, starts),
                    batch_size=1,
                    compute=data.ActorPoolStrategy(
                        min_size=max(1, min(workers, self._room)),
                        max_size=workers,
                        max_tasks_in_flight_per_actor=2,
                    ),
                    num_cpus=self._cpus,
                    num_gpus=self._gpus,
                )
            )
        try:
            for row in results.iter_rows():
                result = json.loads(row["result"])
                if "error" in result:
                    kind = InputError if result["exit_code"] == InputError.exit_code else JudgeError
                    raise kind(result["error"])
                yield result
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().rpartition("\n")[2]
            raise JudgeError(f"the cluster failed ({reason:.300}); go on with --resume") from error

    def _workers_that_fit(self) -> int:
        """How many workers the machines that the cluster has now can hold."""
        needs = [("CPU", float(self._cpus)), *([("GPU", self._gpus)] if self._gpus else [])]
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return sum(min(int(has.get(name, 0) / need + 1e-9) for name, need in needs) for has in machines)


def _rows(results: Iterator[Row], skip: int) -> Iterator[Row]:
    """The rows of the verdicts, without the first ``skip``, which are in the first chunk."""
    judge = None
    for result in results:
        judge = judge or result["judge"]
        if result["judge"] != judge:
            differing = sorted(key for key in judge if judge[key] != result["judge"].get(key))
            raise JudgeError(
                f"the workers' judges differ in {', '.join(differing)}; use machines of one kind, or set it "
                "(--precision)"
            )
        yield from result["rows"][skip:]
        skip = 0


def load_on_worker(folder: Path, model: str, **settings: Any) -> Checker:
    """Make a judge on the GPUs that Ray gave this process.

    Args:
        folder: where relative paths begin, on machines that have it.
        model: with the settings as for :func:`judge.load.load_judge`. What they do not say of vLLM follows
            from the GPUs.
    """
    import ray

    if folder.is_dir():
        os.chdir(folder)
    if settings.get("backend") == "vllm":
        gpus = ray.get_runtime_context().get_assigned_resources().get("GPU", 0)
        settings["vllm"] = settings_on(gpus, settings.get("vllm"))
    return load_judge(model, **settings)


def settings_on(gpus: float, given: VLLMSettings | None = None) -> VLLMSettings:
    """How vLLM uses a worker's GPUs: it spreads a model over several, and takes its part of a shared one.

    What is ``given`` stays as it is.
    """
    chosen = given.model_dump(exclude_unset=True) if given else {}
    sharing = math.floor(1 / gpus) if 0 < gpus < 1 else 1
    return VLLMSettings(**{"tensor_parallel_size": max(1, int(gpus)), "sharing": sharing, **chosen})


def _read(task: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The chunks of a file as text, one a row; one without samples where nothing is left to judge."""
    file = json.loads(task["chunks"])
    chunks = read_chunks(Path(file["file"]), file["size"], file["start"], file["columns"])
    for chunk in chain([next(chunks, [])], chunks):
        yield {"chunk": json.dumps([row_from_sample(sample) for sample in chunk], default=str)}


class _Starts:
    """Counts, outside of the workers, how often each of them was started."""

    def __init__(self) -> None:
        self._starts: Counter[str] = Counter()

    def add(self, worker: str) -> int:
        self._starts[worker] += 1
        return self._starts[worker]


class _Worker:
    """One process of the cluster with a judge of its own. What goes wrong travels back as a result."""

    def __init__(self, load: Callable[[], Checker], starts: Any):
        import ray

        self._judge: Checker | None = None
        self._failure: Row = {}
        count = ray.get(starts.add.remote(ray.get_runtime_context().get_actor_id()))
        try:
            if count > STARTS:
                raise JudgeError(
                    f"a worker died {STARTS} times, of too little memory most likely; go on with --resume "
                    "and fewer workers, or with more CPUs or GPUs for each"
                )
            self._judge = load()
        except Exception as error:
            self._failure = _failure(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        return {"result": [json.dumps(self._check(batch["chunk"][0]), default=str)]}

    def _check(self, chunk: str) -> Row:
        if self._judge is None:
            return self._failure
        try:
            samples = [sample_from_row(row) for row in json.loads(chunk)]
            return {"judge": self._judge.describe(), "rows": list(judge_rows(self._judge, samples))}
        except Exception as error:
            return _failure(error)


def _failure(error: Exception) -> Row:
    if isinstance(error, JudgeError):
        return {"error": str(error), "exit_code": error.exit_code}
    traceback.print_exception(error)  # into Ray's log of the worker
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return {
        "error": f"a worker failed ({reason:.300}); the verdicts before are kept, go on with --resume",
        "exit_code": JudgeError.exit_code,
    }
