"""Trains judges that read pages, like the one bundled with the toolkit: a document's answers in one pass."""

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import set_seed

from judge.encoder.folder import TOKENIZER, WEIGHTS
from judge.errors import InputError
from judge.models.batching import by_length
from judge.models.identity import ENCODER, read_identity
from judge.pages.checker import PagesJudge, describe_layout
from judge.pages.examples import DocumentExamples, LabelledAnswer, by_document, counts
from judge.pages.layout import Layout, Page, pages
from judge.pages.model import PageBatch, PagesNetwork, load_network, start_network
from judge.shipped import model_path
from judge.training.arguments import precision_of
from judge.training.batches import BatchTrainer, judge_live, note_few_answers, read_splits
from judge.training.card import encoder_identity, languages_after
from judge.training.checkpoints import complete_checkpoints
from judge.training.config import WITHOUT_EFFECT, EncoderRecipe
from judge.training.drawing import drawn
from judge.training.dressings import with_dressed
from judge.training.models import data_file
from judge.training.run import train_and_save
from judge.training.starts import start_from_probe
from judge.types import Language, Sample

PAGE_TOKENS = 1024
"""Tokens of a page: a document with answers about it, computed together; more answers take another page."""
POOL = 400
"""Pages sorted by length together, so that batches need little padding and are still mixed."""

UNKNOWN = ("[UNK]", "<unk>")
"""Names of the token for what a vocabulary cannot spell."""


def train_pages(recipe: EncoderRecipe, callbacks: Sequence[Any] = ()) -> dict[str, Any]:
    """Train on the labelled samples of a built data set; save the network, ``judge.json`` and card.

    Args:
        recipe: the training recipe; its ``model`` is a BERT, or a judge that reads pages, to train further.
        callbacks: further callbacks for transformers' trainer.

    Returns:
        Figures of the run: rows, labels, tokens, steps, seconds, losses.

    Raises:
        InputError: if the model, the data set or a sample is wrong, or too many documents would be cut.
        JudgeError: if the loss became NaN or infinite.
    """
    for name in WITHOUT_EFFECT:
        if getattr(recipe, name) != EncoderRecipe.model_fields[name].default:
            raise InputError(f"{recipe.model} reads pages, which this does not change; omit it", field=name)
    set_seed(recipe.seed)
    file = data_file(recipe, "samples.jsonl")
    model = model_path(recipe.model)
    known = read_identity(model)
    started = known.get("stage") == ENCODER
    network, tokenizer = load_network(Path(model)) if started else start_network(model)
    positions = network.backbone.config.max_position_embeddings
    if positions < recipe.window_tokens:
        raise InputError(f"{recipe.model} knows {positions} positions", field="window_tokens")
    layout = Layout(tokenizer, recipe.window_tokens)
    labelled = read_splits(file)
    languages = spelled_languages(labelled["train"], tokenizer)
    splits = {name: [one for one in some if one.language in languages] for name, some in labelled.items()}
    dressed = with_dressed(splits["train"], recipe.dressings, recipe.seed)
    train, cut, left_out = by_document(dressed, layout)
    if cut > recipe.max_cut_share * len(train):
        raise InputError(
            f"{cut} of {len(train)} documents are longer than {layout.max_windows} windows and would be cut, "
            f"more than max_cut_share={recipe.max_cut_share} allows; allow more",
            file=file,
        )
    train = drawn(train, lambda one: one.source, recipe.source_weights, recipe.seed)
    if not train:
        raise InputError(f"holds no labelled sample in a language that {recipe.model} can read", file=file)
    note_few_answers(known, len(splits["train"]))
    rows = mixed_batches(train, recipe)
    kept_out = by_document(splits["validation"], layout)[0] if recipe.evaluations else []
    trainer = PagesTrainer(
        network,
        recipe,
        rows,
        mixed_batches(kept_out, recipe),
        collate=collate,
        save=partial(save_judge, tokenizer=tokenizer),
        callbacks=callbacks,
    )
    resumes = recipe.resume and complete_checkpoints(Path(recipe.output))  # which hold trained heads
    if not started and not resumes:
        with trainer.accelerator.autocast():
            start_from_probe(network, rows, recipe.seed)  # on the trainer's device by now
    summary = {
        **counts(train),
        "cut": cut,
        "left_out": left_out,
        "other_languages": len(labelled["train"]) - len(splits["train"]),
        "batches": len(rows),
    }
    judge = PagesJudge(network, layout=layout, precision=precision_of(recipe))
    return train_and_save(
        trainer,
        recipe,
        summary,
        ENCODER,
        partial(judge_live, network, judge),
        partial(encoder_identity, describe_layout(layout), languages_after(recipe, languages)),
    )


def spelled_languages(samples: Sequence[Sample], tokenizer: Tokenizer) -> list[Language]:
    """The samples' languages that a tokenizer can spell: at most half of the tokens are unknown.

    An English encoder reads two of three Chinese characters as unknown.
    """
    unknown = {tokenizer.token_to_id(name) for name in UNKNOWN}
    found: list[Language] = []
    for language in sorted({sample.language for sample in samples}):
        texts = [one.document_text[:500] for one in samples if one.language == language][:200]
        ids = [id for text in tokenizer.encode_batch(texts, add_special_tokens=False) for id in text.ids]
        if sum(id in unknown for id in ids) <= len(ids) / 2:
            found.append(language)
    return found


def mixed_batches(documents: Sequence[DocumentExamples], recipe: EncoderRecipe) -> list[list[Page]]:
    """Batches of pages of similar length, from documents in an order that depends on the seed."""
    shuffled = random.Random(recipe.seed).sample(documents, len(documents))
    named = (
        (document.windows, [(example, example.answer) for example in document.examples])
        for document in shuffled
    )
    all_pages = list(pages(named, PAGE_TOKENS))
    pools = [all_pages[start : start + POOL] for start in range(0, len(all_pages), POOL)]
    return [
        [pool[index] for index in batch]
        for pool in pools
        for batch in by_length([len(page) for page in pool], recipe.batch_tokens)
    ]


def collate(rows: Sequence[Sequence[Page]]) -> dict[str, Any]:
    """One batch as tensors: ``fail`` has a label per answer, ``wrong`` one per token, -1 if unknown."""
    [batch] = rows
    examples: list[LabelledAnswer] = [example for page in batch for example in page.names]
    wrong = [
        label for one in examples for label in (one.tokens or (-1,) * len(one.answer.spans))
    ]  # an answer without tokens adds none
    return {
        "batch": PageBatch.of(batch),
        "fail": torch.tensor([one.fail for one in examples], dtype=torch.float32),
        "wrong": torch.tensor(wrong, dtype=torch.float32),
    }


class PagesTrainer(BatchTrainer):
    """transformers' trainer with the loss of an encoder judge; each row of its data is a batch of pages."""

    def compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, **_: Any) -> Any:
        """Mean loss over answers, plus the weighted one over the tokens whose labels are known."""
        by_answer, by_token = model(inputs["batch"])
        loss = binary_cross_entropy_with_logits(by_answer, inputs["fail"])
        loss = self.with_tokens(loss, by_token, inputs["wrong"])
        return (loss, (by_answer, by_token)) if return_outputs else loss


def save_judge(network: PagesNetwork, folder: Path, tokenizer: Tokenizer) -> None:
    """Write a network and its tokenizer, as :func:`judge.pages.model.load_network` reads them."""
    from safetensors.torch import save_file

    save_file(network.state_dict(), folder / WEIGHTS)
    network.backbone.config.save(folder)
    tokenizer.save(str(folder / TOKENIZER))
