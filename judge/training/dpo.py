"""Direct Preference Optimization of an SFT judge: the correct judgement is preferred over a wrong one.

The reference is the starting judge. From merged weights that is the policy with its new adapter switched off;
from an SFT adapter it is the same base with a frozen copy of that adapter, which TRL makes.
"""

from functools import partial
from typing import Any

from judge.prompting.rendering import Renderer
from judge.training.arguments import check_trainer, common_arguments, make_arguments
from judge.training.config import DPORecipe
from judge.training.data import Example, check_cut_share, load_examples
from judge.training.models import data_file, load_trainable, lora_config, shares_prefixes
from judge.training.pairs import collate_pairs, share_prompts
from judge.training.run import train_and_save
from judge.training.sft import show_row
from judge.training.validation import judge_live


def preference_columns(example: Example) -> dict[str, Any]:
    """A tokenized pair under the column names of TRL's preference collator."""
    chosen, rejected = example.completions
    return {
        "prompt_ids": list(example.prompt),
        "chosen_ids": list(chosen),
        "rejected_ids": list(rejected),
        "length": len(example.prompt) + len(chosen) + len(rejected),
    }


def reference_model(recipe: DPORecipe) -> Any | None:
    """The frozen reference model, or ``None`` if no separate one is needed.

    Full fine-tuning changes the policy's own weights, so the reference is loaded a second time, unless its
    log-probabilities are all computed before the first step.
    """
    if recipe.lora is not None or recipe.trainer.get("precompute_ref_log_probs"):
        return None
    reference, _ = load_trainable(recipe)
    return reference.eval()


def train_dpo(recipe: DPORecipe) -> dict[str, Any]:
    """Train on ``dpo/train.jsonl`` of a built data set and save adapter, ``judge.json`` and card.

    Returns:
        Figures of the run: pairs, steps, seconds, losses, reward accuracies.

    Raises:
        InputError: if the model, the data set or a row is wrong, or too many documents would be shortened.
        JudgeError: if the loss became NaN or infinite.
    """
    from datasets import Dataset
    from transformers import set_seed
    from trl import DPOConfig

    from judge.training.trainer import JudgeDPOTrainer

    check_trainer(DPOConfig, recipe)
    set_seed(recipe.seed)
    train_file = data_file(recipe, "dpo/train.jsonl")
    model, tokenizer = load_trainable(recipe)
    reference = reference_model(recipe)
    sharing = shares_prefixes(recipe, model)
    if sharing:
        share_prompts(model)
        if reference is not None:
            share_prompts(reference)
    renderer = Renderer(tokenizer)
    fields = ("chosen", "rejected")
    train = load_examples(train_file, fields, renderer, recipe.max_length)
    check_cut_share(train, recipe.max_cut_share, train_file)
    validation: list[Example] = []
    if recipe.evaluations:
        validation_file = data_file(recipe, "dpo/validation.jsonl")
        validation = load_examples(validation_file, fields, renderer, recipe.max_length)
    print(show_row(train[0], tokenizer), flush=True)

    trainer = JudgeDPOTrainer(
        model=model,
        ref_model=reference,
        args=make_arguments(DPOConfig, recipe, **common_arguments(recipe, len(train))),
        data_collator=partial(collate_pairs, pad_id=tokenizer.pad_token_id) if sharing else None,
        train_dataset=Dataset.from_list([*map(preference_columns, train)]),
        eval_dataset=Dataset.from_list([*map(preference_columns, validation)]) if validation else None,
        processing_class=tokenizer,
        peft_config=lora_config(recipe),
    )
    summary = {
        "pairs": len(train),
        "prefix_sharing": sharing,
        "documents": len({example.group for example in train}),
        "shortened": sum(example.cut_chars > 0 for example in train),
    }
    ask = partial(judge_live, trainer, tokenizer, recipe)
    logged = ("rewards/accuracies", "eval_rewards/accuracies")
    return train_and_save(trainer, recipe, summary, "dpo", ask, logged=logged)
