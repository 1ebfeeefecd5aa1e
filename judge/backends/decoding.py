"""Replies of a transformers model: batches as large as memory holds, which what is done leaves.

``model.generate`` makes inputs, cache and masks for any kind of model and then calls :func:`decode`. Its own
loop would compute every row of a batch until the longest is done, and a prompt as often as it is sampled.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.backends.base import Decoding
from judge.backends.held import Forms, Held
from judge.backends.label_tokens import Tokens
from judge.errors import InputError, JudgeError
from judge.models import hardware
from judge.models.architecture import Architecture, parse_architecture
from judge.models.room import cache_bytes, prefill_bytes

if TYPE_CHECKING:
    import torch

    from judge.models.weights import LoadedModel

BATCH_TOKENS = 8192
"""Padded tokens of one batch, of a model whose sizes cannot be told."""
BATCH_ROWS = 128
"""Replies that are written together at most."""
MEMORY_SHARE = {"cuda": 0.6, "cpu": 0.25}
"""Share of the free memory that a batch may take. A cache is copied when it grows; a CPU's memory is for
others too."""


class Decoder:
    """Writes replies on a loaded model.

    Args:
        loaded: the model.
        batch_tokens: padded tokens that run in one batch, at most; by default what memory holds.
    """

    def __init__(self, loaded: "LoadedModel", batch_tokens: int | None = None):
        self.loaded, self.batch_tokens = loaded, batch_tokens
        self._forms: Forms | None = None
        self.sizes = _sizes(loaded)

    def write(self, prompts: Sequence[Tokens], decoding: Decoding, stops: Sequence[int]) -> list[list[int]]:
        """The token ids of a reply to each prompt, up to one of ``stops``, this included, or to the limit.

        They are held to a guide that is a regular expression.

        Raises:
            JudgeError: there is not even memory for one reply.
        """
        seeds = list(own_seeds(prompts, decoding.seed))
        replies: dict[int, list[int]] = {}
        # Like lengths meet, and samples of one prompt; the longest first, so that they tell if it fits.
        waiting = sorted(range(len(prompts)), key=lambda index: (-len(prompts[index]), prompts[index]))
        most = BATCH_ROWS
        while waiting:
            count = self._fitting([prompts[index] for index in waiting[:most]], decoding.max_new_tokens)
            batch = waiting[:count]
            asked, own = [prompts[index] for index in batch], [seeds[index] for index in batch]
            found = self._write(asked, own, decoding, stops)
            if found is None:
                most = count // 2
                continue
            replies.update(zip(batch, found, strict=True))
            waiting = waiting[count:]
        return [replies[index] for index in range(len(prompts))]

    def _fitting(self, prompts: Sequence[Tokens], new_tokens: int) -> int:
        """How many of some prompts may run in one batch, at least one; they are sorted, the longest first."""
        length = len(prompts[0])
        reply, room, prefill = length + new_tokens, self.batch_tokens or BATCH_TOKENS, 0
        if self.batch_tokens is None and self.sizes is not None:
            kind, size = self.loaded.model.device.type, self.loaded.model.dtype.itemsize
            room = int(MEMORY_SHARE[kind] * hardware.free_memory(kind))
            reply *= cache_bytes(self.sizes, size)
            prefill = prefill_bytes(self.sizes, size, length)
        for count, prompt in enumerate(prompts):
            room -= reply + (0 if count and prompt == prompts[count - 1] else prefill)
            if count and room < 0:
                return count
        return len(prompts)

    def _write(
        self, prompts: Sequence[Tokens], seeds: Sequence[int], decoding: Decoding, stops: Sequence[int]
    ) -> list[list[int]] | None:
        """The replies of one batch; ``None`` where memory did not hold it."""
        import torch
        from transformers import GenerationConfig

        sampling = {
            "do_sample": True,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "top_k": decoding.top_k,
        }
        config = GenerationConfig(
            max_new_tokens=decoding.max_new_tokens,
            eos_token_id=list(stops),
            pad_token_id=self.loaded.pad_id,
            **(sampling if decoding.temperature > 0 else {"do_sample": False}),
        )
        model, once = self.loaded.model, list(dict.fromkeys(prompts))
        held = None
        if isinstance(decoding.guide, str):
            forms = self._forms_of(stops)
            held = forms.begin(decoding.guide, len(prompts), decoding.max_new_tokens)
        try:
            ids, mask = self._pad(once)
            with torch.inference_mode(), _own_settings(model):
                replies: list[list[int]] = model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    generation_config=config,
                    custom_generate=decode,
                    rows=[once.index(prompt) for prompt in prompts],
                    draws=draw(seeds, decoding.max_new_tokens) if decoding.temperature > 0 else None,
                    held=held,
                )
            return replies
        except RuntimeError as error:
            if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
                raise  # the words are those of PyTorch on a CPU
        if len(prompts) == 1:
            raise JudgeError(
                f"{self.loaded.name}: no memory for a prompt of {len(prompts[0])} tokens and a reply of up "
                f"to {decoding.max_new_tokens}; lower --max-length or --max-new-tokens"
            )
        if model.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _forms_of(self, stops: Sequence[int]) -> Forms:
        """What holds replies to forms; a model's end tokens are the same at every call."""
        if self._forms is None:
            size = self.loaded.model.config.get_text_config().vocab_size
            self._forms = Forms(self.loaded.tokenizer, size, stops)
        return self._forms

    def _pad(self, rows: Sequence[Tokens]) -> "tuple[torch.Tensor, torch.Tensor]":
        """Left-padded rows and their mask, on the model's device: every row ends in the last column."""
        import torch

        width, filler = max(map(len, rows)), self.loaded.pad_id
        ids = torch.tensor([[filler] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        return ids.to(self.loaded.model.device), mask.to(self.loaded.model.device)


def own_seeds(prompts: Sequence[Tokens], seed: int) -> Iterator[int]:
    """A seed for each prompt, made from the common one, its tokens and how often it came before."""
    before: Counter[Tokens] = Counter()
    for prompt in prompts:
        before[prompt] += 1
        yield int.from_bytes(sha256(repr((seed, before[prompt], prompt)).encode()).digest()[:4])


def draw(seeds: Sequence[int], tokens: int) -> "torch.Tensor":
    """Random numbers from 0 to 1, ``(replies, tokens)``: those of a reply depend on its seed alone."""
    import torch

    makers = (torch.Generator().manual_seed(seed) for seed in seeds)
    return torch.stack([torch.rand(tokens, generator=maker, dtype=torch.float64) for maker in makers])


def decode(
    model: Any,
    input_ids: "torch.Tensor",
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    rows: Sequence[int],
    draws: "torch.Tensor | None" = None,
    held: Held | None = None,
    **inputs: Any,
) -> list[list[int]]:
    """The token ids of replies, up to an end token or the limit; ``custom_generate`` of ``model.generate``.

    Args:
        model, input_ids, logits_processor, stopping_criteria, generation_config, inputs: what ``generate``
            makes; each prompt stands in ``input_ids`` once, padded on the left. Nothing but end tokens and
            the limit of the config stops a reply.
        rows: the prompt of each reply.
        draws: of :func:`draw`, for each reply; greedy without.
        held: the form that the replies are held to; none without.
    """
    import torch

    from judge.backends.growing_cache import give_room

    give_room(inputs.get("past_key_values"))
    outputs = model._prefill(input_ids, generation_config, inputs)
    inputs = model._update_model_kwargs_for_generation(outputs, inputs)
    index = torch.tensor(rows, device=input_ids.device)
    logits = outputs.logits[:, -1][index]
    input_ids, inputs = _select(index, input_ids, inputs)
    replies: list[list[int]] = [[] for _ in rows]
    going = list(range(len(rows)))
    stops = set(generation_config.eos_token_id)
    for step in range(generation_config.max_new_tokens):
        if step:
            made = model.prepare_inputs_for_generation(input_ids, next_sequence_length=1, **inputs)
            outputs = model(**made, return_dict=True)
            inputs = model._update_model_kwargs_for_generation(outputs, inputs)
            logits = outputs.logits[:, -1]
        logits = logits.float() if held is None else held.narrow(going, logits.float())
        scores = logits_processor(input_ids, logits)
        tokens = scores.argmax(-1) if draws is None else _sample(scores, draws[going, step])
        input_ids = torch.cat([input_ids, tokens[:, None]], dim=-1)
        said = tokens.tolist()
        for reply, token in zip(going, said, strict=True):
            replies[reply].append(token)
        if held is not None:
            held.take(going, said)
        left = [row for row, token in enumerate(said) if token not in stops]
        if not left:
            break
        if len(left) < len(said):
            going = [going[row] for row in left]
            input_ids, inputs = _select(torch.tensor(left, device=input_ids.device), input_ids, inputs)
    return replies


def _sample(scores: "torch.Tensor", draws: "torch.Tensor") -> "torch.Tensor":
    """The token at which each row's probabilities add up to more than its number."""
    import torch

    sums = scores.softmax(-1).double().cumsum(-1)
    wanted = draws.to(sums.device)[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, wanted, right=True).squeeze(1).clamp(max=sums.shape[1] - 1)


def _select(
    index: "torch.Tensor", input_ids: "torch.Tensor", inputs: dict[str, Any]
) -> "tuple[torch.Tensor, dict[str, Any]]":
    """Some rows of all that goes into the next pass, each as often as it is named."""
    import torch
    from transformers import Cache

    def select(value: Any) -> Any:
        if isinstance(value, Cache):
            value.reorder_cache(index)
        elif isinstance(value, torch.Tensor) and value.shape[:1] == input_ids.shape[:1]:
            return value[index]
        return value

    return input_ids[index], {name: select(value) for name, value in inputs.items()}


def _sizes(loaded: "LoadedModel") -> Architecture | None:
    """The sizes of a model, where they can be told."""
    try:
        return parse_architecture(loaded.name, loaded.model.config.to_dict(), Path(loaded.name))
    except InputError:
        return None


@contextmanager
def _own_settings(model: Any) -> Iterator[None]:
    """Without the model's generation config, from which ``generate`` takes whatever it is not told: penalties
    that punish quoting the document, beams, another ``top_k``.
    """
    from transformers import GenerationConfig

    kept, model.generation_config = model.generation_config, GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = kept
