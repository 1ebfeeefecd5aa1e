"""Trains an encoder judge: a cross-encoder with one logit per pair and one per answer token."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import TrainingArguments, set_seed

from judge.encoder.checker import EncoderJudge
from judge.encoder.examples import counts, items
from judge.encoder.folder import find_folder, longest_pair, read_tokenizer
from judge.encoder.heads import read_config, read_head
from judge.encoder.markup import skip_markup
from judge.encoder.network import EncoderNetwork, start_network, training_settings
from judge.encoder.pairs import Form, Pairing
from judge.errors import InputError
from judge.models.identity import ENCODER, SECOND, read_identity
from judge.pages.load import reads_pages
from judge.progress import say
from judge.shipped import model_path
from judge.training.arguments import check_trainer, precision_of
from judge.training.batches import judge_live, note_few_answers, read_splits
from judge.training.card import encoder_identity, languages_after
from judge.training.checkpoints import describe_run, finished_run, resume_point
from judge.training.config import WITHOUT_EFFECT, EncoderRecipe, LoraSettings
from judge.training.drawing import drawn
from judge.training.dressings import with_dressed
from judge.training.encoder_trainer import EncoderTrainer, collate, mixed_batches, save_judge
from judge.training.models import data_file
from judge.training.run import train_and_save


def train_encoder(recipe: EncoderRecipe, callbacks: Sequence[Any] = ()) -> dict[str, Any]:
    """Train on the labelled samples of a built data set; save the network, ``judge.json`` and card.

    Args:
        recipe: the training recipe; its ``model`` is an encoder, a classifier, or an encoder judge. If that
            is a judge of two encoders, both are trained.
        callbacks: further callbacks for transformers' trainer.

    Returns:
        Figures of the run: rows, labels, tokens, steps, seconds, losses.

    Raises:
        InputError: if the model, the data set or a sample is wrong, or too many samples would be left out.
        JudgeError: if the loss became NaN or infinite.
    """
    check_trainer(TrainingArguments, recipe)
    known = read_identity(model_path(recipe.model))
    if recipe.reads == "pages" and known.get("stage") == ENCODER and not reads_pages(known):
        raise InputError(f"{recipe.model} reads pairs, and stays so; omit the key", field="reads")
    if SECOND in known:
        recipe = recipe.model_copy(update={"max_minutes": recipe.max_minutes and recipe.max_minutes / 2})
        train_second(recipe)
    if reads_pages(known) or recipe.reads == "pages":
        from judge.training.pages import train_pages

        return train_pages(recipe, callbacks)
    set_seed(recipe.seed)
    file = data_file(recipe, "samples.jsonl")
    network, folder, form = start(recipe)
    tokenizer = read_tokenizer(folder)
    if known.get("stage") != ENCODER:  # a judge goes on reading as it was trained to
        skip_markup(tokenizer)
    pairing = Pairing(tokenizer, form)
    splits = read_splits(file)
    labelled = with_dressed(splits["train"], recipe.dressings, recipe.seed)
    train, left_out = items(labelled, pairing, recipe.max_pairs)
    if left_out > recipe.max_cut_share * len(labelled):
        raise InputError(
            f"{left_out} of {len(labelled)} samples need more than {recipe.max_pairs} pairs of "
            f"{form.window_tokens} tokens, more than max_cut_share={recipe.max_cut_share} allows; raise "
            "max_pairs, or allow more",
            file=file,
        )
    train = drawn(train, lambda item: item.sample.source, recipe.source_weights, recipe.seed)
    if not train:
        raise InputError("holds no labelled sample to train on", file=file)
    note_few_answers(known, len(splits["train"]))
    rows = mixed_batches(train, recipe)
    kept_out = items(splits["validation"], pairing, recipe.max_pairs)[0] if recipe.evaluations else []
    trainer = EncoderTrainer(
        network,
        recipe,
        rows,
        mixed_batches(kept_out, recipe),
        collate=partial(collate, pairing=pairing, pad_id=network.pad_id),
        save=partial(save_judge, tokenizer_folder=folder, tokenizer=tokenizer),
        callbacks=callbacks,
    )
    judge = EncoderJudge(network, pairing=pairing, precision=precision_of(recipe), languages=())
    languages = languages_after(recipe, {item.sample.language for item in train})
    return train_and_save(
        trainer,
        recipe,
        {**counts(train), "left_out": left_out, "batches": len(rows)},
        ENCODER,
        partial(judge_live, network, judge),
        partial(encoder_identity, pairing.describe(), languages),
    )


def train_second(recipe: EncoderRecipe) -> None:
    """Train the second encoder of the judge that a recipe starts from, into the folder of the new judge.

    One that is finished already is kept, if the run resumes.
    """
    model, output = find_folder(model_path(recipe.model)) / SECOND, Path(recipe.output)
    resume_point(recipe, describe_run(recipe, ENCODER))  # raises errors about the whole judge's folder
    changes: dict[str, Any] = {"model": str(model), "output": str(output / SECOND)}
    if reads_pages(read_identity(str(model))):
        changes |= {name: EncoderRecipe.model_fields[name].default for name in WITHOUT_EFFECT}
    beside = recipe.model_copy(update=changes)
    if finished_run(beside, describe_run(beside, ENCODER)) is None:
        say("the judge has two encoders, trained one after the other")
        train_encoder(beside)


def start(recipe: EncoderRecipe) -> tuple[EncoderNetwork, Path, Form]:
    """The network that a recipe starts from, the folder of its tokenizer, and how it reads samples.

    Raises:
        InputError: if the model is unknown or not an encoder, or is a judge that reads samples in another way
            than the recipe asks for.
    """
    model = model_path(recipe.model)
    identity = read_identity(model)
    if identity.get("stage") == ENCODER:
        from judge.encoder.load import stored_network

        folder = find_folder(model)
        head = read_head(read_config(folder), model)
        network = stored_network(folder, head, **training_settings(read_config(folder)))
        network.model.get_input_embeddings().weight.requires_grad_(False)
        form = Form.model_validate(identity["form"])
        if recipe.token_weight > 0 and network.token_head is None:
            network.token_head = torch.nn.Linear(network.model.config.hidden_size, 1)
        _refuse_another_form(recipe, form, longest_pair(network.model.config.to_dict(), recipe.window_tokens))
    else:
        network, folder = start_network(model, token_head=recipe.token_weight > 0)
        form = Form(sentences=recipe.sentences, first=recipe.first, window_tokens=recipe.window_tokens)
    most = longest_pair(network.model.config.to_dict(), form.window_tokens)
    if recipe.lora is not None:
        network.model = with_lora(network.model, recipe.lora)
    return network, folder, form.model_copy(update={"window_tokens": most})


def _refuse_another_form(recipe: EncoderRecipe, form: Form, window_tokens: int) -> None:
    asked_for = {"sentences": recipe.sentences, "first": recipe.first, "window_tokens": window_tokens}
    for name, asked in asked_for.items():
        kept = getattr(form, name)
        if name in recipe.model_fields_set and asked != kept:
            raise InputError(
                f"{recipe.model} was trained with {kept}, and stays so; omit the key", field=name
            )


def with_lora(model: Any, settings: LoraSettings) -> Any:
    """Put low-rank adapters on all linear layers of the encoder; its head is trained in full."""
    from peft import LoraConfig, get_peft_model

    inner = f"{model.base_model_prefix}."
    layers = [
        name
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear) and name.startswith(inner)
    ]
    heads = [
        name for name, _ in model.named_children() if name != model.base_model_prefix and name != "dropout"
    ]
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=layers,
        modules_to_save=heads,
    )
    return get_peft_model(model, config)
