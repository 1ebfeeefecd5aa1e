"""The vLLM engine in this process: continuous batching with a prefix cache, on GPUs and on CPUs.

A verdict costs one generated token, no matter which: the request asks for the log-probabilities, over the
whole vocabulary, of the first tokens of the two words. Further tokens of a word are scored in the same way,
by a prompt that is one token longer and otherwise in the prefix cache. (vLLM's ``prompt_logprobs`` would need
no second prompt, but it does not use the prefix cache.)
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.backends.base import Decoding, Generation, LabelRequest, RenderingBackend
from judge.backends.decoding import own_seeds
from judge.backends.label_tokens import Tokens, stem_and_tails
from judge.backends.vllm_engine import VLLMSettings, device_precision, import_vllm, start_engine
from judge.errors import InputError, JudgeError
from judge.models.base import find_model, unknown_model
from judge.models.weights import Precision, tokenizer_of
from judge.prompting.rendering import Renderer
from judge.types import Message

if TYPE_CHECKING:
    from vllm import SamplingParams
    from vllm.outputs import CompletionOutput
    from vllm.sampling_params import StructuredOutputsParams

CPU_AT_ONCE, GPU_AT_ONCE = 64, 256
"""Sequences that keep a device busy, if ``max_num_seqs`` is not set; those in progress are lost when a run is
stopped."""
WORD_TOKENS = 16
"""Extra tokens for a label word beyond ``max_length``, as far as the model's own context allows."""


class VLLMBackend(RenderingBackend):
    """Runs a causal language model on vLLM; a LoRA adapter is served without merging it.

    Any number of threads may call it: their requests run together, and each call returns when its own are
    done.

    vLLM starts processes of its own, so a script that uses this needs ``if __name__ == "__main__":``.

    Args:
        model: a local folder (full weights or a LoRA adapter) or a Hub id.
        revision: Hub revision.
        precision: number format of the weights; ``auto`` is ``trained`` if the GPU supports it, else what
            suits the device.
        trained: the number format that the judge was trained in, if known.
        max_length: upper limit on the context; the model's own by default.
        settings: settings of the engine.
        chat: arguments for the tokenizer's chat template.

    Raises:
        InputError: if vLLM is not installed, or there is no such model.
        JudgeError: if vLLM cannot run the model with these settings.
    """

    takes_patterns = True

    def __init__(
        self,
        model: str,
        *,
        revision: str | None = None,
        precision: Precision = "auto",
        trained: str | None = None,
        max_length: int | None = None,
        settings: VLLMSettings | None = None,
        chat: Mapping[str, Any] | None = None,
    ):
        base, adapter = find_model(model)
        version = import_vllm()
        from vllm.lora.request import LoRARequest
        from vllm.platforms import current_platform

        self.name, self.settings = model, settings or VLLMSettings()
        tokenizer, config = _read(model, base, adapter, revision)
        self.renderer = Renderer(tokenizer, chat)
        limit = int(getattr(config.get_text_config(), "max_position_embeddings", 0) or 2048)
        self.context_length = min(limit, max_length or limit)
        self.dtype = device_precision(trained) if precision == "auto" else precision
        self._about = {
            "backend": "vllm",
            "vllm": version,
            "model": model,
            "revision": getattr(config, "_commit_hash", None) or revision,
            "dtype": self.dtype,
            "device": current_platform.device_type,
        }
        most = CPU_AT_ONCE if current_platform.is_cpu() else GPU_AT_ONCE
        self.at_once = (self.settings.max_num_seqs or most) * self.settings.data_parallel_size
        self._adapter = LoRARequest("adapter", 1, str(Path(adapter).resolve())) if adapter else None
        self._room = min(limit, self.context_length + WORD_TOKENS)
        self._engine = start_engine(
            base,
            settings=self.settings,
            adapter=adapter,
            revision=revision,
            dtype=self.dtype,
            max_model_len=self._room,
        )

    def describe(self) -> dict[str, Any]:
        """Model, revision, vLLM's version, number format, device, context length, settings."""
        chosen = {name: value for name, value in self.settings.model_dump().items() if value not in (None, 1)}
        return {**self._about, "context_length": self.context_length, **chosen}

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        """Log-probabilities of the two words of each request, from one generated token per prompt."""
        from vllm import SamplingParams

        parts = [stem_and_tails(self.renderer, request) for request in requests]
        wanted: dict[Tokens, set[int]] = {}
        for stem, tails in parts:
            for tail in tails:
                for place, token in enumerate(tail):
                    wanted.setdefault(stem + tail[:place], set()).add(token)
        params = [
            SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=sorted(tokens), detokenize=False)
            for tokens in wanted.values()
        ]
        found = dict(zip(wanted, self._run(list(wanted), params), strict=True))

        def score(stem: Tokens, tail: Tokens) -> float:
            steps = [found[stem + tail[:place]].logprobs[0] for place in range(len(tail))]
            return sum(step[token].logprob for step, token in zip(steps, tail, strict=True))

        return [(score(stem, first), score(stem, second)) for stem, (first, second) in parts]

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply per conversation, greedy at temperature 0.

        A sampled reply depends on the seed and its conversation, not on the rest of the batch; a conversation
        that is repeated in one call gets a different sample each time.

        The guide is a JSON schema or a regular expression; JSON replies have no white space between their
        parts. A reply that hits its token limit may still be cut off.
        """
        from vllm import SamplingParams

        stops = self.renderer.stop_ids()
        prompts = self.prompts(conversations)
        params = [
            SamplingParams(
                max_tokens=decoding.max_new_tokens,
                temperature=decoding.temperature,
                top_p=decoding.top_p,
                top_k=decoding.top_k,
                min_p=0.0,
                seed=own_seed,
                repetition_penalty=1.0,  # a model's own default would punish quoting the document
                stop_token_ids=stops,
                ignore_eos=True,  # the model's own end tokens; `stops` has the ones to use
                detokenize=False,
                structured_outputs=_structured(decoding.guide),
            )
            for own_seed in own_seeds(prompts, decoding.seed)
        ]
        return [self.reply(list(output.token_ids), stops) for output in self._run(prompts, params)]

    def _run(self, prompts: Sequence[Tokens], params: "Sequence[SamplingParams]") -> "list[CompletionOutput]":
        """One completion per prompt, in order. They run sorted, so that prompts with a common prefix meet."""
        from vllm.exceptions import VLLMValidationError
        from vllm.v1.engine.exceptions import EngineDeadError

        for prompt, settings in zip(prompts, params, strict=True):
            if len(prompt) + settings.max_tokens > self._room:
                raise InputError(
                    f"{len(prompt)} tokens and {settings.max_tokens} of a reply do not fit into the context "
                    f"of {self._room}"
                )
        order = sorted(range(len(prompts)), key=lambda index: prompts[index])
        if not order:
            return []
        try:
            outputs = self._engine.generate(
                [prompts[index] for index in order], [params[index] for index in order], self._adapter
            )
        except EngineDeadError as error:
            raise JudgeError(f"{self.name}: vLLM's engine died; what it wrote above says why") from error
        except VLLMValidationError as error:  # such as a schema that vLLM does not support
            raise InputError(f"{self.name}: vLLM cannot do that ({error})") from error
        completions = {index: output.outputs[0] for index, output in zip(order, outputs, strict=True)}
        return [completions[index] for index in range(len(prompts))]


def _read(name: str, base: str, adapter: str | None, revision: str | None) -> tuple[Any, Any]:
    """Tokenizer and configuration of a model; detects an unknown model before an engine starts."""
    from transformers import AutoConfig

    try:
        tokenizer = tokenizer_of(base, adapter, revision)
        return tokenizer, AutoConfig.from_pretrained(base, revision=revision, trust_remote_code=False)
    except OSError as error:
        raise unknown_model(name, base, adapter, error) from error


def _structured(guide: Mapping[str, Any] | str | None) -> "StructuredOutputsParams | None":
    from vllm.sampling_params import StructuredOutputsParams

    if isinstance(guide, str):
        return StructuredOutputsParams(regex=guide)
    return None if guide is None else StructuredOutputsParams(json=dict(guide))
