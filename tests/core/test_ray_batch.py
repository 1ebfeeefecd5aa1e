"""``judge batch --engine ray`` on a local cluster of two workers: what one machine would have written."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from judge.backends.vllm_engine import VLLMSettings
from judge.batch.cluster import STARTS, Cluster
from judge.batch.file import Counts, judge_file
from judge.batch.ray import RayEngine, _rows, settings_on
from judge.errors import InputError, JudgeError
from judge.types import Label, Mode, Sample, Verdict
from tests.calling import Ran, Refused, call
from tests.tiny_data import rows_of

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 4
TOTAL = 30

pytest.importorskip("ray", reason="Ray is an extra")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Address of a cluster of two processes on this machine, which believes that it has a GPU."""
    import ray

    os.environ["OMP_NUM_THREADS"] = "1"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("RAY_worker_niceness", "0")  # by default other tests beside it would starve its workers
        found = ray.init(num_cpus=2, num_gpus=1, log_to_driver=False, include_dashboard=False)
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers could not import it
        yield found.address_info["gcs_address"]
        ray.shutdown()


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return write_samples(tmp_path / "samples.jsonl", TOTAL)


def write_samples(path: Path, count: int) -> Path:
    rows = [
        {
            "id": f"s{number}",
            "document": ["文档", f"Tower {number} is {number + 20} m high. " * (1 + number % 3)],
            "answer": f"It is {number + 20} m high." + " Really!" * (number % 5),
            "meta": {"number": number},
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Noting:
    """A judge that notes in a file what it judged, and meets ``trouble`` at the sample ``s13``."""

    name = "noting"
    mode: Mode = "verdict"
    chunk = CHUNK

    def __init__(self, folder: Path, trouble: str = ""):
        self.folder, self.trouble = folder, trouble
        if trouble == "bad model":
            raise InputError("unknown model 'm'")

    def describe(self) -> dict[str, Any]:
        return {"model": "another" if self.trouble == "renamed" else self.name}

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        time.sleep(0.05)
        for sample in samples:
            if sample.id == "s13":
                self.meet()
            with (self.folder / "judged").open("a") as file:
                file.write(f"{sample.id} {os.getpid()}\n")
            label = None if len(sample.answer) % 3 else Label.PASS
            yield Verdict(label, error="odd" if label is None else None, raw=sample.document_text)

    def meet(self) -> None:
        mark = self.folder / "met"
        if self.trouble == "raises":
            raise ValueError("a bug\nin two lines")
        if self.trouble == "dies" or (self.trouble == "dies once" and not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def engine(folder: Path, trouble: str = "") -> RayEngine:
    return RayEngine(partial(Noting, folder, trouble), CHUNK, gpus=0)


def judged(folder: Path) -> list[tuple[int, str]]:
    """Number of each sample that was judged, with the process that did it, in order."""
    pairs = (line.split() for line in (folder / "judged").read_text().splitlines())
    return sorted((int(name[1:]), process) for name, process in pairs)


def expected(samples: Path) -> list[tuple[str, bool, str]]:
    return [
        (row["id"], len(row["answer"]) % 3 == 0, "\n\n".join(row["document"])) for row in rows_of(samples)
    ]


# --- Judging ------------------------------------------------------------------------------------------------


def test_in_order_through_a_death_and_once_when_resumed(cluster: str, samples: Path, tmp_path: Path) -> None:
    """A worker that dies is started again. A resumed run judges again only the chunk that was cut off."""
    out, told = tmp_path / "out.jsonl", []
    counts = judge_file(samples, out, engine(tmp_path, "dies once"), progress=lambda *at: told.append(at))
    rows = rows_of(out)
    assert (tmp_path / "met").exists()
    assert [(row["id"], row["label"] == "PASS", row["raw"]) for row in rows] == expected(samples)
    assert counts == Counts(TOTAL, sum(row["label"] is None for row in rows), 0)
    assert 0 < counts.unparsed < TOTAL
    assert told == [(done, TOTAL) for done in range(TOTAL + 1)]
    assert not list(tmp_path.glob(".*"))

    content = out.read_bytes()
    cut = [at.end() for at in re.finditer(b"\n", content)][9] + 20  # in the eleventh row
    out.write_bytes(content[:cut])
    (tmp_path / "judged").unlink()
    assert judge_file(samples, out, engine(tmp_path), resume=True) == Counts(TOTAL, counts.unparsed, 10)
    assert out.read_bytes() == content
    assert [number for number, _ in judged(tmp_path)] == list(range(8, TOTAL))
    assert len({process for _, process in judged(tmp_path)}) == 2

    (tmp_path / "judged").unlink()
    assert judge_file(samples, out, engine(tmp_path), resume=True).earlier == TOTAL
    assert not (tmp_path / "judged").exists()  # a whole file asks nothing of the cluster


def test_killed_and_resumed_is_what_one_machine_writes(
    cluster: str,
    tmp_path: Path,
    model_folder: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    ran: Ran,
) -> None:
    """The driver is killed while two workers judge; one worker finishes."""
    count = 120
    monkeypatch.setattr("judge.judge.CHUNK", {"verdict": 3, "reason": 3})
    samples, model = write_samples(tmp_path / "samples.jsonl", count), model_folder("chatml")
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert call("batch", samples, "-o", whole, "--model", model) == 0
    code = "import judge.judge; judge.judge.CHUNK.update(verdict=3); from judge.cli.main import main; main()"
    arguments = ["batch", samples, "-o", out, "--model", model, "--engine", "ray"]
    arguments += ["--set", "gpus_per_worker=0"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAY_ADDRESS": cluster},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (out.exists() and out.stat().st_size):
        time.sleep(0.001)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    kept = out.read_bytes().count(b"\n")
    assert 0 < kept < count
    assert ran(*arguments, "--resume", "--set", "workers=1").out.endswith(
        f"{count} verdicts, 0 without a label, {kept} from an earlier run\n"
    )
    assert out.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob(".*"))


# --- What can go wrong --------------------------------------------------------------------------------------


def test_a_judge_that_fails_on_one_worker(cluster: str, samples: Path, tmp_path: Path) -> None:
    """The verdicts before are kept, and another judge does not go on with them."""
    out = tmp_path / "out.jsonl"
    with pytest.raises(
        JudgeError, match=r"a worker failed \(ValueError: a bug in two lines\).*--resume"
    ) as e:
        judge_file(samples, out, engine(tmp_path, "raises"))
    assert e.value.exit_code == 1 and "\n" not in str(e.value)
    assert [row["id"] for row in rows_of(out)] == [f"s{number}" for number in range(12)]
    begun = out.read_bytes()
    with pytest.raises(InputError, match=r'judge\.model was "noting", is "another"'):
        judge_file(samples, out, engine(tmp_path, "renamed"), resume=True)
    assert out.read_bytes() == begun


def test_a_worker_that_always_dies_is_given_up(cluster: str, samples: Path, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=f"a worker died {STARTS} times"):
        judge_file(samples, tmp_path / "out.jsonl", engine(tmp_path, "dies"))
    assert len(rows_of(tmp_path / "out.jsonl")) == 12  # the chunks before that of s13


def test_a_judge_that_cannot_be_made(cluster: str, samples: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^unknown model 'm'$"):
        judge_file(samples, tmp_path / "new" / "out.jsonl", engine(tmp_path, "bad model"))
    assert not (tmp_path / "new").exists()


def test_workers_that_would_not_judge_alike() -> None:
    results = [{"judge": {"model": "m", "dtype": kind}, "rows": [{"id": kind}]} for kind in ("f16", "b16")]
    rows = _rows(iter(results), 0)
    assert next(rows) == {"id": "f16"}
    with pytest.raises(JudgeError, match="the workers' judges differ in dtype;"):
        next(rows)


def test_a_bad_row_is_told_as_on_one_machine(
    cluster: str, samples: Path, tmp_path: Path, refused: Refused
) -> None:
    with samples.open("a") as file:
        file.write('{"id": "s30", "document": "Text.", "answer": ""}\n')
    (tmp_path / "model").mkdir()
    command = ("batch", samples, "-o", tmp_path / "out.jsonl", "--model", tmp_path / "model")
    told = refused(*command)
    assert f"{samples}:31: field 'answer': is empty" in told
    assert refused(*command, "--engine", "ray") == told
    assert not (tmp_path / "out.jsonl").exists()


# --- Calls --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gpus", "spread", "sharing"), [(0, 1, 1), (4, 4, 1), (0.3, 1, 3)])
def test_what_vllm_takes_of_the_gpus(gpus: float, spread: int, sharing: int) -> None:
    settings = settings_on(gpus)
    assert (settings.tensor_parallel_size, settings.sharing) == (spread, sharing)
    given = settings_on(gpus, VLLMSettings(tensor_parallel_size=2, max_num_seqs=3))
    assert (given.tensor_parallel_size, given.sharing, given.max_num_seqs) == (2, sharing, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "m", "--set", "workers=2"), "no workers without --engine ray"),
        (("--model", "baseline:overlap", "--engine", "ray"), "for models that its workers run"),
        (("--model", "m", "--backend", "openai", "--engine", "ray"), "for models that its workers run"),
    ],
)
def test_wrong_calls(options: tuple[object, ...], message: str, samples: Path, refused: Refused) -> None:
    error = refused("batch", samples, "-o", samples.with_name("out.jsonl"), *options)
    assert message in error and error.startswith("error: ") and error.count("\n") == 1


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"needs Ray.*pip install ray, or 'hallucination-judge\[ray"):
        Cluster()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://localhost:1"])
def test_a_cluster_that_does_not_answer(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(InputError, match=rf"answers at {re.escape(address)} \(.*see RAY_ADDRESS"):
        Cluster()
