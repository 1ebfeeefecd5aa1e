"""Training in several processes: Lion on shards, broken shards, and what is refused."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from judge.errors import InputError
from judge.training.config import SFTRecipe
from judge.training.lion import Lion
from judge.training.models import load_trainable
from judge.training.sft import train_sft
from judge.training.weights import own_part
from tests.tiny_data import training

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other


# --- Lion ---------------------------------------------------------------------------------------------------


def test_lion_is_the_papers() -> None:
    """Algorithm 2 of arXiv 2302.06675 by hand: rate 0.1, beta1 0.9, beta2 0.99, decay 0.1.

    The second step goes by the mean (0.9 * 0.005 - 0.1 * 0.04 > 0), against the sign of its own gradient;
    with beta1 for both means, or beta2, the third would too.
    """
    weight = nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float64))
    optimizer = Lion([weight], lr=0.1, betas=(0.9, 0.99), weight_decay=0.1)
    steps = [  # gradient, weight after, mean after; of the second number the gradient is always nought
        (0.5, 1.0 - 0.1 * (1 + 0.1 * 1.0), 0.005),
        (-0.04, 0.89 - 0.1 * (1 + 0.1 * 0.89), 0.00455),
        (-0.05, 0.7811 - 0.1 * (-1 + 0.1 * 0.7811), 0.0040045),
    ]
    for number, (gradient, expected, mean) in enumerate(steps, start=1):
        weight.grad = torch.tensor([gradient, 0.0], dtype=torch.float64)
        optimizer.step()
        assert weight.tolist() == pytest.approx([expected, 2.0 * 0.99**number], abs=1e-12)
        assert optimizer.state[weight]["exp_avg"].tolist() == pytest.approx([mean, 0.0], abs=1e-12)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def three_steps(model: nn.Module, rows: torch.Tensor) -> nn.Module:
    optimizer = Lion(model.parameters(), lr=1e-2, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
    return model


def shard(rank: int, port: int, folder: str) -> None:
    """One of two processes: Lion on FSDP2's shards, then a weight that breaks in the second process alone."""
    from torch.distributed import barrier, destroy_process_group, init_process_group
    from torch.distributed.fsdp import fully_shard

    init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    rows = torch.arange(20.0).reshape(4, 5).cos()
    model = network()
    fully_shard(model)
    three_steps(model, rows[2 * rank : 2 * rank + 2])
    whole = {name: value.full_tensor() for name, value in model.state_dict().items()}
    weight = model[0].weight
    if rank == 1:
        own_part(weight).fill_(float("nan"))
    finite = bool(own_part(weight).isfinite().all())
    torch.save({"weights": whole, "finite": finite}, Path(folder) / f"{rank}.pt")
    barrier()  # nobody leaves while the other process still waits for a message
    destroy_process_group()
    # A thread of gloo that frees a tensor while the interpreter shuts down aborts the whole process.
    os._exit(0)


def test_lion_and_the_check_of_weights_on_shards(tmp_path: Path) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(shard, (port, str(tmp_path)), nprocs=2)
    alone = three_steps(network(), torch.arange(20.0).reshape(4, 5).cos()).state_dict()
    found = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1)]
    for process in found:
        for name, value in alone.items():
            torch.testing.assert_close(process["weights"][name], value)
    assert [process["finite"] for process in found] == [True, False]


def test_a_broken_shard_of_zero_3_is_seen() -> None:
    """Between two passes such a parameter is empty; its last shard ends in numbers that are no weight's."""
    nan = float("nan")

    def parameter(rank: int, shard: list[float]) -> Any:
        empty = nn.Parameter(torch.empty(0))
        empty.ds_tensor, empty.ds_numel, empty.ds_zero_partition_rank = torch.tensor(shard), 5, rank
        return empty

    assert own_part(parameter(0, [1.0, 2.0, nan])).tolist()[:2] == [1.0, 2.0]
    assert not own_part(parameter(0, [1.0, 2.0, nan])).isfinite().all()
    assert own_part(parameter(1, [4.0, 5.0, nan])).tolist() == [4.0, 5.0]
    assert own_part(parameter(2, [nan, nan, nan])).numel() == 0
    plain = nn.Parameter(torch.ones(2))
    assert own_part(plain).data_ptr() == plain.data_ptr()


# --- What is refused ----------------------------------------------------------------------------------------


def recipe(folder: Path, output: Path, **changes: Any) -> dict[str, Any]:
    return training(
        folder / "model", folder / "data", output, **{"max_steps": 1, "evaluations": 1, **changes}
    )


def test_fsdp_refuses_what_it_cannot_shard(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    for optimizer in ("adamw_8bit", "paged_adamw_8bit", "paged_lion_8bit"):
        asked = SFTRecipe.model_validate(
            recipe(folder, tmp_path, trainer={"optim": optimizer}, model="not/loaded")
        )
        with pytest.raises(
            InputError, match=f"{optimizer} cannot run under FSDP: .* set adamw_torch_fused or lion_32bit"
        ):
            load_trainable(asked)


def test_no_run_is_sharded_in_name_only(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """accelerate drops FSDP on a CPU, and DeepSpeed where it was told to use one, without a word."""
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    with pytest.raises(InputError, match="accelerate shards nothing on this device"):
        train_sft(SFTRecipe.model_validate(recipe(folder, tmp_path)))
    assert not list(tmp_path.iterdir())


# --- Evaluations --------------------------------------------------------------------------------------------


def test_the_validation_loss_depends_on_no_batch(folder: Path, tmp_path: Path) -> None:
    """What rows are evaluated together follows from the number of processes too."""
    found = []
    for size in (1, 3):
        changes = recipe(folder, tmp_path / str(size), batch_size=size, learning_rate=1e-12)
        losses = train_sft(SFTRecipe.model_validate(changes))["losses"]
        found.append(next(entry["eval_loss"] for entry in losses if "eval_loss" in entry))
    assert found[0] == pytest.approx(found[1], abs=1e-5)
