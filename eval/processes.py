"""Several processes that measure one judge: ``accelerate launch -m judge eval``.

Each process loads the model, on its own GPU if there are GPUs, and judges every n-th chunk. All processes
receive all verdicts; the first one measures and writes. The chunks are the same as in a single process, so
each sample is batched with the same neighbours and gets the same verdict.
"""

import atexit
import os
import warnings
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import TypeVar

from judge.checker import Checker, in_chunks
from judge.errors import InputError, JudgeWarning
from judge.models.hardware import cpu_is_chosen
from judge.types import Sample, Verdict

Item = TypeVar("Item")

PATIENCE = timedelta(days=7)
"""How long a process waits for the others, which may be computing intervals or answering questions."""


def count() -> int:
    """The number of processes that the launcher started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def join(backend: str) -> bool:
    """Connect to the other processes; returns whether this one is the first, which writes and prints.

    Args:
        backend: the backend that runs the model.

    Raises:
        InputError: if the backend distributes its work itself.
    """
    if count() == 1:
        return True
    if backend != "transformers":
        raise InputError(
            f"--backend {backend} spreads its work itself, such as by --set vllm.data_parallel_size=4; "
            "omit accelerate launch"
        )
    import torch
    from accelerate import PartialState

    state = PartialState(cpu=cpu_is_chosen() or not torch.cuda.is_available(), timeout=PATIENCE)
    atexit.register(state.destroy_process_group)
    first = bool(state.is_main_process)
    if not first:
        warnings.simplefilter("ignore", JudgeWarning)  # the first process shows them
    return first


def from_first(value: Item) -> Item:
    """The value of the first process, broadcast to all."""
    if count() == 1:
        return value
    from accelerate.utils import broadcast_object_list

    return broadcast_object_list([value])[0]


def iter_check(judge: Checker, samples: Sequence[Sample]) -> Iterator[Verdict]:
    """The verdicts on all samples, in order, each made by one of the processes."""
    processes = count()
    if processes == 1:
        yield from judge.iter_check(samples)
        return
    from accelerate import PartialState
    from accelerate.utils import gather_object

    chunks = list(in_chunks(samples, judge.chunk))
    own = chunks[PartialState().process_index :: processes]
    made = judge.iter_check(chain.from_iterable(own)) if own else iter(())
    for turn in range(-(-len(chunks) // processes)):
        yield from gather_object(list(islice(made, len(own[turn]))) if turn < len(own) else [])
