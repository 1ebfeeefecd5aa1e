"""Loads what ``judge eval --model`` names: a model, a baseline, a published method or recorded verdicts."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.cascade import CascadeJudge
from judge.checker import Checker
from judge.errors import InputError
from judge.models.bundled import MINILM
from judge.models.identity import read_identity, taught_mode
from judge.types import Mode

METHODS = ("selfcheck", "selfcheck-nli", "selfcheck-ngram", "selfcheck-bertscore", "ragas")
BY_ENCODER = ("selfcheck-nli", "selfcheck-bertscore")
"""The methods that compare texts with an encoder."""
NLI = "cross-encoder/nli-deberta-v3-small"
"""The default encoder of ``selfcheck-nli``."""


def method_of(model: str) -> str:
    """What a ``--model`` names before its colon, a method, ``baseline`` or ``replay``; empty for a model."""
    kind, colon, _ = model.partition(":")
    return kind if colon and kind in (*METHODS, "replay", "baseline") else ""


def load_judges(
    model: str,
    *,
    mode: Mode | None = None,
    template: Path | None = None,
    runs: int = 1,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    seed: int = 0,
    encoder: str | None = None,
    **options: Any,
) -> Sequence[Checker]:
    """The judge, once for each run; runs differ in their seeds, which count up from ``seed``.

    Args:
        model: anything :func:`judge.load.load_judge` takes, ``METHOD:MODEL`` (:data:`METHODS`,
            :mod:`eval.baselines`) or ``replay:FILE`` (:mod:`eval.replay`).
        mode: how a model answers; default: the mode it was trained in. Methods do not take ``reason``.
        template: a Jinja prompt to use instead of the project's own.
        runs: how many times everything is judged.
        temperature: sampling temperature; default: the method's own, otherwise 0 (greedy).
        top_p: sample from the likeliest tokens that hold this share of the probability; default: 1.
        top_k: sample from this many of the likeliest tokens; default: 0, which means all.
        seed: of the sampling.
        encoder: compares texts for :data:`BY_ENCODER`: an NLI cross-encoder, or any encoder for BERTScore.
        options: further options of :func:`judge.load.load_judge`.

    Raises:
        InputError: if the model is unknown, or an option does not apply to it.
    """
    from judge.judge import Judge
    from judge.load import load_judge

    prefix, rest = method_of(model), model.partition(":")[2]
    if encoder is not None and prefix not in BY_ENCODER:
        wanted = " and ".join(f"{name}:MODEL" for name in BY_ENCODER)
        raise InputError(f"is for --model {wanted}", field="--set encoder")
    if prefix and (template is not None or mode == "reason"):
        raise InputError(f"{model} judges in a way of its own; omit --mode and template")
    for name, option in (("threshold", "--threshold"), ("prior", "--prior")):
        if prefix and options.get(name) is not None:
            raise InputError(f"{model} judges in a way of its own; omit {option}")
    for name in ("claims", "cascade"):
        if prefix not in ("", "baseline") and options.get(name):
            raise InputError(f"{model} judges in a way of its own; omit --{name}")
    if temperature and options.get("claims"):
        raise InputError("claims are read as probabilities and not sampled; omit --temperature")
    known = {} if prefix or options.get("backend") == "openai" else read_identity(model)
    verdict = not prefix and (mode or taught_mode(known)) == "verdict"
    if temperature and (verdict or prefix in ("replay", "baseline", "ragas")):
        way = "verdict mode, which reads probabilities," if not prefix else f"{prefix}:"
        raise InputError(f"{way} samples nothing; omit --temperature, or use --mode reason on a model")
    if runs > 1 and not prefix.startswith("selfcheck") and not temperature:
        raise InputError(f"{runs} runs would all be the same; add --mode reason --temperature 0.8")

    among: dict[str, Any] = {
        name: value for name, value in (("top_p", top_p), ("top_k", top_k)) if value is not None
    }
    if among and not prefix.startswith("selfcheck") and not temperature:
        raise InputError(
            f"{next(iter(among))} is for sampling; add --mode reason --temperature 0.8, or omit it"
        )

    judge: Checker
    if prefix == "replay":
        from eval.replay import Replay

        known_options = inspect.signature(load_judge).parameters
        for name, value in options.items():
            if name != "baseline_data" and value != known_options[name].default:
                raise InputError(
                    "says how a judge is loaded, and recorded verdicts need none; omit it", field=name
                )
        return [Replay(model)]
    if prefix not in METHODS:
        judge = load_judge(model, mode=mode, template=template, **options)
        if isinstance(judge, CascadeJudge) and temperature:
            raise InputError("--temperature is for one judge; omit --cascade")
        if not isinstance(judge, Judge):
            return [judge]
        judge = replace(judge, temperature=temperature or 0.0, **among)
        return [replace(judge, seed=seed + run) for run in range(runs)]

    from eval.baselines.by_encoder import SelfCheckBERTScore, SelfCheckInference, load_inference
    from eval.baselines.ragas import Ragas
    from eval.baselines.selfcheck import METHODS as CONSISTENCY
    from eval.baselines.selfcheck import Consistency
    from eval.embeddings import TextEncoder

    base = load_judge(rest, mode="verdict", **options)  # they read its labels, not its reasoning
    if not isinstance(base, Judge):
        raise InputError(f"{prefix}: asks a language model; {rest} is none")
    if prefix == "ragas":
        return [Ragas(base)]
    check: Consistency
    if prefix == "selfcheck-bertscore":
        check = SelfCheckBERTScore(base, encoder=TextEncoder(encoder or MINILM.hub_id), **among)
    elif prefix == "selfcheck-nli":
        check = SelfCheckInference(base, encoder=load_inference(encoder or NLI), **among)
    else:
        check = CONSISTENCY[prefix](base, **among)
    if temperature is not None:
        check = replace(check, temperature=temperature)
    return [replace(check, seed=seed + run) for run in range(runs)]
