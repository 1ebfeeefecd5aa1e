"""Prefix sharing is exact: packed rows give the loss and the gradients of separate rows."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM

from judge.errors import InputError
from judge.models.prefix_tree import added_tokens, make_tree, tree_mask
from judge.prompting.prompts import BuiltinPrompt, format_judgement
from judge.prompting.rendering import Renderer, common_prefix
from judge.training.data import IGNORED, Example, choose_rows
from judge.training.sharing import _together, collate_sequences, draw_documents, share
from judge.types import MODES, Label, Sample

VOCABULARY = 256  # the tiny model has a few more


def example(prompt: Sequence[int], completion: Sequence[int], group: str = "g", name: str = "x") -> Example:
    return Example(id=name, group=group, prompt=tuple(prompt), completions=(tuple(completion),))


def draw_rows(lengths: Sequence[tuple[int, int, int]], seed: int = 0) -> list[Example]:
    """Rows of two groups: each a stretch of its group's text, an own rest, and a completion."""
    maker = torch.Generator().manual_seed(seed)

    def tokens(count: int) -> list[int]:
        return torch.randint(5, VOCABULARY, (count,), generator=maker).tolist()

    texts = {"a": tokens(60), "b": tokens(60)}
    rows = []
    for number, (common, own, completion) in enumerate(lengths):
        group = "ab"[number % 2]
        prompt = [*texts[group][:common], *tokens(own)] or tokens(1)
        rows.append(example(prompt, tokens(completion), group, str(number)))
    return rows


def test_a_token_budget_counts_what_joined_documents_share() -> None:
    rows = [example([*range(90), group], [1], str(group)) for group in range(100, 130)]
    drawn = {join: draw_documents(rows, 1000, 300, 0, join) for join in (False, True)}
    assert [len(drawn[join]) for join in (False, True)] == [3, 30]


@given(budget=st.integers(1, 400), seed=st.integers(0, 3))
def test_a_token_budget_takes_whole_documents(budget: int, seed: int) -> None:
    rows = [
        example([group] * 9, [1, 2], str(group), f"{group}-{part}") for group in range(9) for part in "ab"
    ]
    drawn = draw_documents(rows, 64, budget, seed)
    computed = sum(row["length"] for row in share(drawn, 64))
    each = computed // (len(drawn) // 2)
    assert drawn == [row for row in rows if row.group in {kept.group for kept in drawn}]
    assert computed <= max(budget, each) and (len(drawn) == len(rows) or computed + each > budget)
    assert drawn == draw_documents(rows[::-1], 64, budget, seed)[::-1]


@given(
    weights=st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 0.5, 1, 1.5, 3]), max_size=2),
    seed=st.integers(0, 3),
)
def test_weights_take_whole_documents_of_each_source(weights: dict[str, float], seed: int) -> None:
    rows = [
        replace(
            example([group] * 2, [1] * size, f"{source}{group}", f"{source}{group}-{size}"), source=source
        )
        for source in "ab"
        for group in range(6)
        for size in (1, 9)
    ]
    try:
        chosen = choose_rows(rows, weights, seed, Path("train.jsonl"))
    except InputError:
        assert set(weights.values()) <= {0, 0.5} and len(weights) == 2
        return
    assert len({(row.id, row.group) for row in chosen}) == len(chosen)
    for source in "ab":
        weight = weights.get(source, 1)
        seen = [sum(row.id == f"{source}{group}-1" for row in chosen) for group in range(6)]
        assert set(seen) <= {int(weight), int(weight) + (weight % 1 > 0)}
    assert chosen == choose_rows(rows, weights, seed, Path("train.jsonl"))


def test_weights_that_leave_no_rows_are_an_error() -> None:
    rows = [replace(example([1, 2], [3]), source="a")]
    with pytest.raises(InputError, match="no row that the recipe's source_weights leave"):
        choose_rows(rows, {"a": 0}, 0, Path("train.jsonl"))
    with pytest.raises(InputError, match="names b, which no document came from; sources are a"):
        choose_rows(rows, {"b": 1}, 0, Path("train.jsonl"))


@pytest.fixture(scope="module")
def model(model_folder: Callable[[str], Path]) -> Any:
    """The tiny model with a LoRA adapter to train, in float32."""
    base = AutoModelForCausalLM.from_pretrained(model_folder("chatml"), dtype=torch.float32)
    torch.manual_seed(2)
    lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
    return get_peft_model(base, lora).train()


@pytest.fixture(scope="module", params=["token", "row"])
def compute_loss(request: pytest.FixtureRequest) -> Callable[..., torch.Tensor]:
    """The trainer's loss, of either mean, without a trainer around it."""
    from judge.training.trainer import JudgeSFTTrainer

    accelerator = SimpleNamespace(num_processes=1, unwrap_model=lambda model: model, autocast=nullcontext)
    trainer: Any = SimpleNamespace(accelerator=accelerator)

    def compute(model: Any, inputs: dict[str, torch.Tensor], **settings: Any) -> torch.Tensor:
        return JudgeSFTTrainer.compute_loss(trainer, model, inputs, **settings)

    compute.loss_mean = request.param  # type: ignore[attr-defined]
    return compute


def gradients(model: Any, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return {
        name: parameter.grad.clone()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and parameter.grad is not None
    }


def separate_loss(model: Any, rows: Sequence[Example], loss_mean: str) -> torch.Tensor:
    """Each row alone in a plain forward pass; the mean over all completion tokens, or over rows' means."""
    losses = []
    for row in rows:
        ids = torch.tensor([[*row.prompt, *row.completions[0]]])
        logits = model(input_ids=ids, use_cache=False).logits[0].float()
        start = len(row.prompt)
        losses.append(cross_entropy(logits[start - 1 : -1], ids[0, start:], reduction="none"))
    return (
        torch.cat(losses).mean() if loss_mean == "token" else torch.stack([x.mean() for x in losses]).mean()
    )


def assert_same_training(
    model: Any, rows: Sequence[Example], compute: Any, limit: int, join: bool = False
) -> None:
    loss = separate_loss(model, rows, compute.loss_mean)
    expected = gradients(model, loss)
    assert len(expected) == 2 * 2 * 7  # two factors, two layers, seven linear layers each
    sequences = share(rows, limit, compute.loss_mean, join)
    found_loss = compute(model, collate_sequences(sequences, 0))
    found = gradients(model, found_loss)
    assert found_loss.item() == pytest.approx(loss.item(), rel=1e-5)
    assert found.keys() == expected.keys()
    # Of the whole gradient: single factors may have one as small as the rounding.
    whole, other = (torch.cat([grads[name].flatten() for name in expected]) for grads in (expected, found))
    assert whole.norm() > 1e-3
    assert ((other - whole).norm() / whole.norm()).item() <= 1e-5


@settings(max_examples=12, deadline=None)
@given(
    lengths=st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 8), st.integers(1, 6)), min_size=1, max_size=6
    ),
    limit=st.sampled_from([0, 60, 10_000]),
    seed=st.integers(0, 99),
    join=st.booleans(),
)
def test_loss_and_gradients_are_those_of_separate_rows(
    lengths: list[tuple[int, int, int]], limit: int, seed: int, join: bool, model: Any, compute_loss: Any
) -> None:
    assert_same_training(model, draw_rows(lengths, seed), compute_loss, limit, join)


@pytest.mark.parametrize(
    "rows",
    [
        [example([1, 2, 3], [4]), example([1, 2, 3], [5])],  # the same prompt
        [example([1, 2, 3], [4]), example([1, 2, 3, 4, 5], [6])],  # one prompt begins the other
        [example([1, 2, 3], [4, 5]), example([1, 2, 3, 4], [5])],  # ... and its completion goes on alike
        [example([1, 2], [3]), example([4, 5], [6])],  # nothing in common
        [example([1, 2], [3]), example([1, 5], [6])],  # one token in common
        [example([7], [8]), example([7], [9])],
        [example([1, 2, 3], [4]), example([1, 2, 3], [4])],  # the same row twice
    ],
)
def test_prefixes_of_every_kind(rows: list[Example], model: Any, compute_loss: Any) -> None:
    assert_same_training(model, rows, compute_loss, 10_000)


def test_the_head_runs_on_labels_alone(model: Any, compute_loss: Any) -> None:
    """Rows of a batch have theirs at different places; doctor counts one logit vector a label token."""
    rows = draw_rows([(20, 3, 2), (45, 3, 5), (33, 4, 1)])
    batch = collate_sequences(share(rows, 0, compute_loss.loss_mean), 0)
    _, outputs = compute_loss(model, batch, return_outputs=True)
    assert len(batch["labels"]) == 3
    assert outputs.logits.shape[:-1] == (sum(len(row.completions[0]) for row in rows),)


def test_micro_batches_add_up_to_the_step(model: Any, compute_loss: Any) -> None:
    rows = draw_rows([(20, 3, 2), (20, 3, 5), (20, 4, 1), (9, 3, 3), (20, 1, 2)])
    sequences = share(rows, 60, compute_loss.loss_mean)
    assert len(sequences) == 2
    batches = [collate_sequences(sequences[:1], 0), collate_sequences(sequences[1:], 0)]
    weight = sum(batch["weights"].sum() for batch in batches)
    with torch.no_grad():
        whole = compute_loss(model, collate_sequences(sequences, 0)).item()
        parts = [compute_loss(model, batch, num_items_in_batch=weight).item() for batch in batches]
    assert sum(parts) == pytest.approx(whole, rel=1e-5)


def test_real_prompts_share_their_document(model: Any, compute_loss: Any, tiny_backend: Any) -> None:
    """Gold answer and its counterpart, both modes, as they come out of the renderer."""
    renderer: Renderer = tiny_backend("chatml").renderer
    rows = []
    for answer, label in (("It is blue.", Label.PASS), ("It is green.", Label.FAIL)):
        sample = Sample("1", "The sky is blue. " * 5, answer, "What colour is the sky?")
        for mode in MODES:
            messages = BuiltinPrompt().messages(sample, mode)
            pair = renderer.completion_ids(messages, format_judgement(mode, "en", label, "Look."))
            rows.append(example(*pair))
    [sequence] = share(rows, 10_000)
    assert sequence["nodes"].count(0) > 150
    assert len(sequence["parents"]) == 7  # the document, the two answers, and two modes each
    assert_same_training(model, rows, compute_loss, 10_000)


row_of_any_kind = st.builds(
    example,
    st.lists(st.integers(0, 2), min_size=1, max_size=8),
    st.lists(st.integers(0, 2), min_size=1, max_size=3),
    st.sampled_from("gh"),
)
rows_of_any_kind = st.lists(row_of_any_kind, min_size=1, max_size=8)


def branch(sequence: dict[str, Any], end: int) -> list[int]:
    """Where the tokens stand that the token at ``end`` may look at, itself included."""
    line, node = set(), sequence["nodes"][end]
    while node >= 0:
        line.add(node)
        node = sequence["parents"][node]
    return [at for at in range(end + 1) if sequence["nodes"][at] in line]


@given(rows=rows_of_any_kind, limit=st.integers(0, 40))
def test_sequences_hold_every_row_once_and_keep_the_limit(rows: list[Example], limit: int) -> None:
    unpacked = []
    for sequence in share(rows, limit):
        names = ("input_ids", "labels", "weights", "position_ids", "nodes")
        [length] = {len(sequence[name]) for name in names}
        labelled = [at for at, label in enumerate(sequence["labels"]) if label != IGNORED]
        ends = [
            at
            for at in labelled
            if at + 1 not in labelled or sequence["nodes"][at + 1] != sequence["nodes"][at]
        ]
        assert length <= limit or len(ends) == 1
        assert all(parent < node for node, parent in enumerate(sequence["parents"]))
        for end in ends:
            path = branch(sequence, end)
            assert [sequence["position_ids"][at] for at in path] == list(range(len(path)))
            own = [at for at in path if sequence["labels"][at] != IGNORED]
            assert own == path[-len(own) :] and own == list(range(end + 1 - len(own), end + 1))
            tokens = [sequence["input_ids"][at] for at in path]
            labels = [sequence["labels"][at] for at in own]
            assert sum(sequence["weights"][at] for at in own) == pytest.approx(1)
            unpacked.append((tokens, labels))
    wanted = [([*row.prompt, *row.completions[0]], list(row.completions[0])) for row in rows]
    assert sorted(unpacked) == sorted(wanted)


@given(rows=st.lists(row_of_any_kind, min_size=2, max_size=2))
def test_added_tokens_foretell_the_size_of_the_tree(rows: list[Example]) -> None:
    tokens = [[*row.prompt, *row.completions[0]] for row in rows]
    own = [len(row.completions[0]) + 1 for row in rows]
    size = len(tokens[0]) + added_tokens(tokens[1], own[1], tokens[0], own[0])
    assert len(make_tree(tokens, own).ids) == size


def test_a_tree_has_so_many_tokens_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mask grows with their square; a longer row alone needs none."""
    monkeypatch.setattr("judge.training.sharing.TREE_TOKENS", 60)
    rows = [example(range(40), [100 + number] * 5) for number in range(10)]
    sequences = [*share(rows, 10_000), *share([example(range(100), [1])], 10_000)]
    assert all(len(row["input_ids"]) <= 60 or row["parents"] == [-1] for row in sequences)
    assert sum(weight > 0 for row in sequences for weight in row["weights"]) == 51
    # Neither a mask nor positions: transformers' attention then runs in its kernel for plain text.
    assert collate_sequences(sequences[-1:], 0).keys() == {"input_ids", "labels", "weights"}


def test_what_is_collated_grows_with_the_tokens_alone() -> None:
    rows = [example(range(2000), [1, 2]), example([*range(2000), 7], [3])]
    [sequence] = share(rows, 10_000)
    batch = collate_sequences([sequence], 0)
    assert sum(tensor.numel() for tensor in batch.values()) < 6 * 2010


def test_a_group_is_split_between_versions_of_its_document() -> None:
    versions = [range(100), range(100, 200)]
    rows = [example([*versions[row % 2], 200 + row], [1]) for row in range(20)]
    assert len(share(rows, 130)) == 2  # of ten rows each; in the order of the rows, twenty


def test_groups_share_only_if_they_are_joined() -> None:
    rows = [example([1, 2, 3], [4], "g"), example([1, 2, 3], [4], "h")]
    assert len(share(rows, 10_000)) == 2
    [joined] = share(rows, 10_000, join=True)
    assert joined["length"] == 7  # 1, then 2 3 4 of each row: a shared prefix ends before the prompt does
    assert [len(share(rows, limit, join=True)) for limit in (6, 7)] == [2, 1]


@given(
    documents=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 30)), min_size=1, max_size=12),
    limit=st.integers(0, 120),
)
def test_joined_documents_stay_whole(documents: list[tuple[int, int]], limit: int) -> None:
    """As many neighbours as fit into a sequence; one that does not fit is split, as it is alone."""
    rows = [
        example([1, 2, 3, 10 + at, *[9] * size, row], [4], str(at), f"{at}-{row}")
        for at, (count, size) in enumerate(documents)
        for row in range(count)
    ]
    sequences, counted = zip(*_together(rows, limit, join=True), strict=True)
    assert [row for sequence in sequences for row in sequence] == rows
    alone = [sequence for sequence, _ in _together(rows, limit, join=False)]
    whole = [
        sequence for sequence in alone if sum(row.group == sequence[0].group for row in rows) == len(sequence)
    ]
    assert all(any(one[0] in other and one[-1] in other for other in sequences) for one in whole)
    lengths = [row["length"] for row in share(rows, limit, join=True)]
    assert lengths == [*counted]
    assert all(
        length <= max(limit, sequence[0].length) for length, sequence in zip(lengths, sequences, strict=True)
    )
    for before, after in pairwise(sequences):  # the next document does not fit
        following = [row for row in rows if row.group == after[0].group]
        assert following[0] in before or share(before + following, 10**6, join=True)[0]["length"] > limit


def test_the_mask() -> None:
    rows = [example([1, 2, 3, 4], [5]), example([1, 2, 3, 6], [7])]
    assert common_prefix([row.prompt for row in rows]) == 3
    collated = collate_sequences([*share(rows, 10_000), *share([example([1], [2])], 0)], 9)
    assert collated["input_ids"].tolist() == [[1, 2, 3, 4, 5, 3, 6, 7], [1, 2] + [9] * 6]
    assert collated["position_ids"][0].tolist() == [0, 1, 2, 3, 4, 2, 3, 4]
    assert collated["labels"][0].tolist() == [IGNORED] * 4 + [5] + [IGNORED] * 2 + [7]
    mask = tree_mask(collated["nodes"], collated["parents"])
    assert mask.shape == (2, 1, 8, 8) and mask.dtype == torch.bool
    assert mask[0, 0].int().tolist() == [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 0, 1, 1, 0],
        [1, 1, 0, 0, 0, 1, 1, 1],
    ]
    assert mask.any(-1).all()  # a token that sees nothing would make NaN
