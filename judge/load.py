"""Loads a judge by name: its model in an engine, with its prompt, calibration and limits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from judge.backends.load import Engine, load_backend, refuse_foreign
from judge.calibrated import CalibratedChecker
from judge.cascade import SURE, CascadeJudge
from judge.checker import Checker
from judge.errors import InputError, unknown, warn
from judge.judge import MAX_NEW_TOKENS, Decodings, Judge
from judge.models.identity import SECOND, asked_mode, read_identity, taught_mode
from judge.models.quantization import QuantizationChoice
from judge.models.runtimes import EXPORT, exported
from judge.models.weights import Precision
from judge.prompting.prompts import BuiltinPrompt, Prompt
from judge.prompting.templates import TemplatePrompt
from judge.shipped import REFERENCE, is_baseline, model_path
from judge.types import MODES, Mode, Sample

if TYPE_CHECKING:
    from judge.backends.vllm_engine import VLLMSettings
    from judge.encoder.calibrated import CalibratedEncoder
    from judge.remote import EndpointConfig


def load_judge(
    model: str | Path = REFERENCE,
    *,
    mode: Mode | None = None,
    template: Path | str | None = None,
    revision: str | None = None,
    precision: Precision = "auto",
    max_length: int | None = None,
    max_new_tokens: int = MAX_NEW_TOKENS,
    decoding: Decodings | None = None,
    batch_tokens: int | None = None,
    baseline_data: Sequence[Sample] | None = None,
    backend: Engine = "transformers",
    vllm: "VLLMSettings | None" = None,
    quantization: QuantizationChoice = "auto",
    base_url: "EndpointConfig | str | None" = None,
    call_cache: Path | str | None = None,
    windows: bool = False,
    threshold: str | None = None,
    prior: float | None = None,
    claims: bool = False,
    cascade: str | None = None,
    cascade_threshold: float = SURE,
    cascade_weight: float = 0.0,
    labels: str | None = None,
    pair: Sequence[str] | None = None,
) -> Checker:
    """Make a judge from the name of a model or baseline (``baseline:NAME``); by default the reference judge.

    Args:
        model: ``reference`` or ``reference-1.5b``, the encoder and the language model that come with the
            toolkit; a Hub id; a local folder (full weights or a LoRA adapter); ``baseline:NAME``; or the
            model's name on a server.
        mode: how it answers, see :class:`Judge`; by default as it was trained (``judge.json``).
        template: a file with a Jinja prompt, or with several in YAML, to use instead of the project's own
            (:mod:`judge.prompting.templates`).
        revision: Hub revision.
        precision: number format to compute in. On a GPU, ``auto`` is the format the judge was trained in, if
            the GPU supports it; on a CPU it is float32, or bfloat16 if the CPU multiplies it natively and the
            judge was calibrated in it.
        max_length: upper bound on the context in tokens.
        max_new_tokens: length limit of a reason-mode reply.
        decoding: ``constrained``, the default, forces reason-mode replies into the form of a verdict if the
            engine can; ``free`` leaves them to the model.
        batch_tokens: padded tokens per batch.
        baseline_data: labelled samples that a fitted baseline learns from.
        backend: the engine that runs the model.
        vllm: settings of vLLM, if it is the engine.
        quantization: ``nf4`` loads the base weights in 4 bits, ``none`` as they are, and ``auto`` as the
            judge was trained, by its ``judge.json``; transformers only.
        base_url: the server of the backend ``openai``, its address or settings; OpenAI's own by default.
        call_cache: file that caches the server's responses, so nothing is asked twice. Use another file when
            the weights behind an address change.
        windows: judge a document that is too long for a language model in windows
            (:mod:`judge.prompting.windows`), instead of shortening it.
        threshold: FAIL at or above this probability: a number, or ``precision`` or ``recall`` for the one
            that ``judge calibrate`` found.
        prior: the share of your answers that are hallucinated, if known. Calibrated probabilities are then
            adjusted to that share; labels stay the same.
        claims: also judge every sentence of an answer (:class:`judge.claims.checker.ClaimsJudge`).
        cascade: a cheaper judge that goes first and decides alone when it is sure
            (:class:`judge.cascade.CascadeJudge`); loaded with its own settings.
        cascade_threshold: the cheaper judge is sure if its label has at least this probability.
        cascade_weight: its weight in the other verdicts, from 0 to 1.
        labels: what an encoder's classes mean if their names do not say, such as ``PASS=entailment``.
        pair: how an encoder reads samples, in place of its ``judge.json``: fields of
            :class:`judge.encoder.pairs.Form`, such as ``question=hypothesis``.

    Raises:
        InputError: if the model, mode, backend or baseline is unknown, a template cannot be read, vLLM is
            not installed, ``prior`` is given for an uncalibrated judge, or a cascade setting without one.
    """
    model = str(model)
    for name, changed in (
        ("cascade_threshold", cascade_threshold != SURE),
        ("cascade_weight", cascade_weight != 0),
    ):
        if changed and cascade is None:
            raise InputError("is for --cascade; name the cheaper judge, or omit it", field=name)

    def finished(judge: Checker) -> Checker:
        if cascade is not None:
            at = getattr(judge, "threshold", None)
            rule = is_baseline(cascade)  # it has no threshold
            cheap = load_judge(cascade, prior=prior, threshold=None if rule else threshold)
            judge = CascadeJudge(cheap, judge, cascade_threshold, cascade_weight, at)
        if claims:
            from judge.claims.checker import ClaimsJudge

            judge = ClaimsJudge(judge)
        return judge

    if mode is not None and mode not in MODES:
        raise InputError(unknown("mode", mode, MODES))
    if backend not in get_args(Engine):
        raise InputError(unknown("backend", backend, get_args(Engine)))
    if precision not in get_args(Precision):
        raise InputError(unknown("precision", precision, get_args(Precision)))
    refuse_foreign(backend, quantization, base_url, call_cache, vllm)
    if is_baseline(model):
        from judge.baselines.rules import TrivialBaseline

        if threshold is not None or prior is not None:
            option = "threshold" if threshold is not None else "prior"
            raise InputError(f"{model} is a rule without a {option}; omit --{option}")
        baseline = TrivialBaseline(model, baseline_data)
        return finished(baseline)
    from judge.calibration.threshold import deciding
    from judge.encoder.load import is_encoder
    from judge.pages.load import reads_pages

    identity = {} if backend == "openai" else read_identity(model, revision)
    if precision == "auto" and backend == "transformers" and template is None and EXPORT not in identity:
        precision = _calibrated_format(model, revision, mode or taught_mode(identity))
    if backend != "openai" and is_encoder(model, identity, revision):
        fixed = reads_pages(identity) or SECOND in identity
        for option, given in (
            ("mode reason", mode == "reason"),
            ("max_new_tokens", max_new_tokens != MAX_NEW_TOKENS),
            ("decoding constrained", decoding == "constrained"),  # free is what judge eval asks of all
            ("template", fixed and template),
            ("labels", fixed and labels),
            ("pair", fixed and pair),
            ("backend vllm", backend == "vllm"),
            ("quantization nf4", quantization == "nf4"),
        ):
            if given:
                raise InputError(f"{model} is an encoder that takes no {option}; omit it")
        if precision != "auto" and exported(identity, "onnx"):
            raise InputError(f"{model} is an export, which takes no precision; omit it")
        encoder = _load_encoder(
            model, revision, identity, precision, max_length, batch_tokens, labels, pair, template
        )
        _warn_of_misfit(encoder, model)
        decided = deciding("verdict", encoder.calibrations, encoder.calibration(), threshold, prior)
        return finished(replace(encoder, **decided))
    for option, chosen in (("labels", labels), ("pair", pair)):
        if chosen:
            raise InputError(f"{model} is not an encoder; {option} does not apply to it")
    mode = asked_mode(model, identity, mode)
    released = None if template is None else TemplatePrompt(Path(template))
    prompt: Prompt = released or BuiltinPrompt()
    chat = {} if released is None else released.chat
    if backend == "openai" and released is not None and (chat or released.ends_with_a_reply):
        raise InputError(
            "gives the chat template arguments, or ends with a turn of the assistant, and a server takes "
            "neither; use the backend transformers or vllm, or turns for system and user alone",
            file=template,
        )
    engine = load_backend(
        model,
        backend,
        revision=revision,
        precision=precision,
        quantization=quantization,
        max_length=max_length,
        batch_tokens=batch_tokens,
        vllm=vllm,
        endpoint=base_url,
        call_cache=None if call_cache is None else Path(call_cache),
        chat=chat,
    )
    guide = None
    if decoding != "free" and template is None and engine.takes_patterns:
        from judge.backends.constrained import judgement_pattern

        guide = judgement_pattern(max_new_tokens if backend == "vllm" else None)
    judge = Judge(engine, model, prompt, mode, max_new_tokens, guide=guide, windows=windows)
    if backend != "openai":  # a server's model has no judge.json here
        from judge.calibration.curve import read_calibrations

        judge = replace(judge, calibrations=read_calibrations(model, revision))
        _warn_of_misfit(judge, model)
    decided = deciding(mode, judge.calibrations, judge.calibration(), threshold, prior)
    return finished(replace(judge, **decided))


def _load_encoder(
    model: str,
    revision: str | None,
    identity: dict[str, Any],
    precision: Precision,
    max_length: int | None,
    batch_tokens: int | None,
    labels: str | None = None,
    pair: Sequence[str] | None = None,
    template: Path | str | None = None,
) -> "CalibratedEncoder":
    """An encoder judge, with the second one beside it if it has one."""
    from judge.encoder.folder import find_folder
    from judge.encoder.load import load_encoder
    from judge.encoder.second import TwoEncoders, read_second
    from judge.pages.load import load_pages, reads_pages

    folder = find_folder(model_path(model), revision)
    encoder: CalibratedEncoder
    if reads_pages(identity):
        encoder = load_pages(model, folder, identity, precision, max_length, batch_tokens)
    else:
        encoder = load_encoder(
            folder,
            identity,
            name=model,
            # Small enough for float32 anywhere, so verdicts are the same on every machine.
            precision="float32" if precision == "auto" else precision,
            max_length=max_length,
            batch_tokens=batch_tokens,
            labels=labels,
            pair=pair,
            template=None if template is None else TemplatePrompt(Path(template)),
        )
    if (found := read_second(identity, folder)) is None:
        return encoder
    beside = str(folder / SECOND)
    second = _load_encoder(beside, None, read_identity(beside), precision, max_length, batch_tokens)
    return TwoEncoders.of(encoder, second, found)


def _calibrated_format(model: str, revision: str | None, mode: Mode) -> Precision:
    """bfloat16 if the CPU multiplies it natively and the judge was calibrated in it; else ``auto``."""
    from judge.calibration.curve import read_calibrations
    from judge.models.hardware import this_device

    kept = read_calibrations(model, revision).get(mode)
    if kept is None or kept.precision != "bfloat16":
        return "auto"
    device = this_device()
    return "bfloat16" if device.kind == "cpu" and device.bfloat16 else "auto"


def _warn_of_misfit(judge: CalibratedChecker, model: str) -> None:
    kept = judge.calibrations.get(judge.mode)
    if kept is not None and (why := kept.misfit(judge.reads_with())):
        warn(
            f"{model}: its calibration for mode {judge.mode} is set aside, because it was fitted to {why}; "
            "judge calibrate fits another"
        )
