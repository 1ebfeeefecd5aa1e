"""Supervised fine-tuning on correct judgements in both modes, with the loss on completion tokens only."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from judge.prompting.prompts import split_document
from judge.prompting.rendering import Renderer
from judge.training.arguments import check_trainer, common_arguments, make_arguments
from judge.training.config import SFTRecipe
from judge.training.data import IGNORED, Example, check_cut_share, choose_rows, load_examples
from judge.training.models import data_file, load_trainable, lora_config, shares_prefixes
from judge.training.run import train_and_save
from judge.training.sharing import collate_sequences, draw_documents, share, shuffle_documents
from judge.training.validation import judge_live


def train_sft(recipe: SFTRecipe, callbacks: Sequence[Any] = ()) -> dict[str, Any]:
    """Fine-tune a model on ``sft/train.jsonl`` of a built data set and save adapter, ``judge.json`` and card.

    Args:
        recipe: the training recipe.
        callbacks: further callbacks for transformers' trainer.

    Returns:
        Figures of the run: rows, sequences, tokens, steps, seconds, losses.

    Raises:
        InputError: if the model, the data set or a row is wrong, or too many documents would be shortened.
        JudgeError: if the loss became NaN or infinite.
    """
    from datasets import Dataset
    from transformers import set_seed
    from trl import SFTConfig

    from judge.training.trainer import JudgeSFTTrainer

    check_trainer(SFTConfig, recipe)
    set_seed(recipe.seed)
    train_file = data_file(recipe, "sft/train.jsonl")
    model, tokenizer = load_trainable(recipe)
    renderer = Renderer(tokenizer)
    train = load_examples(train_file, ("completion",), renderer, recipe.max_length)
    check_cut_share(train, recipe.max_cut_share, train_file)
    train = choose_rows(train, recipe.source_weights, recipe.seed, train_file)
    sharing = shares_prefixes(recipe, model)
    limit = recipe.sequence_tokens if sharing else 0  # no two rows fit into 0 tokens
    if recipe.max_tokens is not None:
        train = draw_documents(train, limit, recipe.max_tokens, recipe.seed, recipe.join_documents)
    if recipe.join_documents:  # documents of one source lie next to each other in the file
        train = shuffle_documents(train, recipe.seed)
    sequences = share(train, limit, recipe.loss_mean, recipe.join_documents)
    held_out: list[dict[str, Any]] = []
    if recipe.evaluations:
        validation_file = data_file(recipe, "sft/validation.jsonl")
        rows = load_examples(validation_file, ("completion",), renderer, recipe.max_length)
        held_out = share(rows, limit, recipe.loss_mean, recipe.join_documents)
    summary = summarize(train, sequences)
    print(show_row(train[0], tokenizer), flush=True)

    trainer = JudgeSFTTrainer(
        model=model,
        args=make_arguments(
            SFTConfig,
            recipe,
            **common_arguments(recipe, len(sequences)),
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        train_dataset=Dataset.from_list(sequences),
        eval_dataset=Dataset.from_list(held_out) if held_out else None,
        data_collator=partial(collate_sequences, pad_id=tokenizer.pad_token_id),
        processing_class=tokenizer,
        peft_config=lora_config(recipe),
        callbacks=list(callbacks),
    )
    ask = partial(judge_live, trainer, tokenizer, recipe)
    return train_and_save(trainer, recipe, summary, "sft", ask)


def summarize(examples: Sequence[Example], sequences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts of a training set: rows, shortened documents, tokens with and without prefix sharing."""
    tokens = sum(len(sequence["input_ids"]) for sequence in sequences)
    return {
        "rows": len(examples),
        "documents": len({example.group for example in examples}),
        "shortened": sum(example.cut_chars > 0 for example in examples),
        "sequences": len(sequences),
        "tokens": tokens,
        "labels_per_1000_tokens": round(1000 * len(examples) / max(tokens, 1), 1),
        "tokens_unshared": sum(len(row.prompt) + len(row.completions[0]) for row in examples),
        "loss_tokens": sum(label != IGNORED for row in sequences for label in row["labels"]),
    }


def show_row(example: Example, tokenizer: Any) -> str:
    """One training row as readable text; the tokens that have a loss are listed one by one."""
    prompt = tokenizer.decode(example.prompt)
    parts = split_document(prompt)
    if parts is not None and len(parts[1]) > 200:
        prompt = f"{parts[0]}{parts[1][:200]} [...]{parts[2]}"
    replies = ""
    for reply in example.completions:
        tokens = " ".join(repr(tokenizer.decode([token])) for token in reply)
        replies += f"\n--- {len(reply)} tokens with a loss: {tokens}"
    return f"--- {example.id}: {len(example.prompt)} tokens without a loss\n{prompt}{replies}\n---"
