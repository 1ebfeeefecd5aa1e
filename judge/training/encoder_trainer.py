"""Batches of samples, and transformers' trainer with the loss of an encoder judge."""

import copy
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from judge.encoder.examples import UNKNOWN, Item, token_labels
from judge.encoder.folder import TOKENIZER
from judge.encoder.network import EncoderNetwork
from judge.encoder.pairs import Pairing
from judge.encoder.rows import padded
from judge.training.batches import BatchTrainer
from judge.training.config import EncoderRecipe
from judge.types import Label, Sample

if TYPE_CHECKING:
    from tokenizers import Tokenizer

POOL = 600
"""Documents sorted by length together, so that batches need little padding and are still mixed."""


def mixed_batches(train: Sequence[Item], recipe: EncoderRecipe) -> list[list[Sample]]:
    """Batches of samples of similar length, in an order that depends on the seed.

    Samples about one document stay together as far as they fit: a correct and a wrong answer in one batch
    form a contrast pair.
    """
    draw = random.Random(recipe.seed)
    by_document: dict[str, list[Item]] = {}
    for item in train:
        by_document.setdefault(item.sample.document_text, []).append(item)
    documents = draw.sample([*by_document.values()], len(by_document))
    batches: list[list[Sample]] = []
    for start in range(0, len(documents), POOL):
        pool = documents[start : start + POOL]
        batch: list[Sample] = []
        pairs = longest = 0
        for about in sorted(pool, key=lambda about: max(item.longest for item in about)):
            for item in about:
                longest = max(longest, item.longest)
                if batch and (pairs + item.pairs) * longest > recipe.batch_tokens:
                    batches.append(batch)
                    batch, pairs, longest = [], 0, item.longest
                batch.append(item.sample)
                pairs += item.pairs
        batches.append(batch)
    draw.shuffle(batches)
    return batches


def collate(rows: Sequence[Sequence[Sample]], pairing: Pairing, pad_id: int) -> dict[str, Any]:
    """One batch as tensors.

    ``part`` maps each row to its part of an answer, ``owner`` each part to its sample. ``fail`` has a label
    for each sample, ``wrong`` one for each token, -1 if it is unknown.
    """
    [batch] = rows
    pairs = [pairing.pairs(sample) for sample in batch]
    flat = [row for found in pairs for row in found.rows]
    arrays = padded(flat, pad_id)
    wrong = torch.full(arrays["ids"].shape, float(UNKNOWN))
    part: list[int] = []
    owner: list[int] = []
    for number, (sample, found) in enumerate(zip(batch, pairs, strict=True)):
        for _ in found.owners:
            part += [len(owner)] * len(found.windows)
            owner.append(number)
        if len(found.rows) == 1:  # with several windows it is unknown which one supports a word
            [row] = found.rows
            wrong[len(part) - 1, row.start : row.own.stop] = torch.tensor(
                token_labels(sample, row), dtype=torch.float32
            )
    return {
        **{name: torch.from_numpy(table) for name, table in arrays.items()},
        "part": torch.tensor(part),
        "owner": torch.tensor(owner),
        "fail": torch.tensor([float(sample.label is Label.FAIL) for sample in batch]),
        "wrong": wrong,
    }


class EncoderTrainer(BatchTrainer):
    """transformers' trainer with the loss of an encoder judge; each row of its data is a batch of samples."""

    def compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, **_: Any) -> Any:
        """Mean loss over samples, plus the weighted one over the tokens whose labels are known.

        A sample's logit is computed as when judging: the lowest over the document's windows for each part of
        the answer, then the highest over the parts.
        """
        logits, by_token = model(inputs["ids"], inputs["mask"], inputs["types"])
        part, owner, fail = inputs["part"], inputs["owner"], inputs["fail"]
        by_part = logits.new_zeros(len(owner)).scatter_reduce(
            0, part, logits[:, 0], "amin", include_self=False
        )
        scores = logits.new_zeros(len(fail)).scatter_reduce(0, owner, by_part, "amax", include_self=False)
        loss = self.with_tokens(binary_cross_entropy_with_logits(scores, fail), by_token, inputs["wrong"])
        return (loss, scores) if return_outputs else loss


def save_judge(network: EncoderNetwork, folder: Path, tokenizer_folder: Path, tokenizer: "Tokenizer") -> None:
    """Write a network with its adapters merged, and its tokenizer, as transformers reads them.

    Args:
        network: the trained network.
        folder: where to.
        tokenizer_folder: holds transformers' settings of the tokenizer.
        tokenizer: reads texts as in training.
    """
    from transformers import AutoTokenizer

    if hasattr(network.model, "merge_and_unload"):
        merged = copy.deepcopy(network.model).merge_and_unload()
        network = EncoderNetwork(merged, network.head, network.token_head)
    network.save(folder)
    AutoTokenizer.from_pretrained(tokenizer_folder).save_pretrained(folder)
    tokenizer.save(str(folder / TOKENIZER))
