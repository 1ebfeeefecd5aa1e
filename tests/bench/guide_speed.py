"""Milliseconds a token that holding a reply to the form of a judgement takes, in the two libraries of vLLM.

    python -m tests.bench.guide_speed MODEL [--tokens 8]

Needs vLLM's environment (llguidance and xgrammar). With the reasoning bounded as in reason mode (512
characters) and without a bound, the tokens that may come next are looked up after each token of a reply:
the host's work for one reply, which the device waits for.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from transformers import AutoConfig, AutoTokenizer

from judge.backends.guided import judgement_pattern

REPLY = '{"REASONING": "The document says that it opened in 1931, and the answer that it was 1945. It'


def by_xgrammar(tokenizer: Any, size: int, pattern: str) -> tuple[Callable[[], None], Callable[[int], None]]:
    """What looks the next tokens up, and what takes a token."""
    import xgrammar

    known = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=size)
    matcher = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(known).compile_regex(pattern))
    mask = xgrammar.allocate_token_bitmask(1, size)
    return lambda: matcher.fill_next_token_bitmask(mask, 0), matcher.accept_token


def by_guidance(tokenizer: Any, size: int, pattern: str) -> tuple[Callable[[], None], Callable[[int], None]]:
    """The same of llguidance."""
    import llguidance
    import llguidance.hf
    import llguidance.numpy

    known = llguidance.hf.from_tokenizer(tokenizer, size)
    matcher = llguidance.LLMatcher(known, llguidance.LLMatcher.grammar_from_regex(pattern))
    mask = llguidance.numpy.allocate_token_bitmask(1, size)
    return (
        lambda: llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0),
        matcher.consume_token,
    )


def mean(tokens: Sequence[int], look: Callable[[], None], take: Callable[[int], None]) -> float:
    """Milliseconds to look up what may follow a token."""
    spent = 0.0
    for token in tokens:
        start = time.perf_counter()
        look()
        spent += time.perf_counter() - start
        assert take(token), "the reply has another form"
    return 1000 * spent / len(tokens)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--tokens", type=int, default=8, help="of the reply")
    options = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    size = AutoConfig.from_pretrained(options.model).vocab_size
    tokens = tokenizer.encode(REPLY)[-options.tokens :]
    print(
        "| reasoning | xgrammar, ms a token | llguidance | ratio |\n| --- | ---: | ---: | ---: |", flush=True
    )
    for name, pattern in (("bounded", judgement_pattern(512)), ("unbounded", judgement_pattern(None))):
        found = []
        for engine in (by_xgrammar, by_guidance):
            look, take = engine(tokenizer, size, pattern)
            for token in tokenizer.encode(REPLY)[: -options.tokens]:
                assert take(token)
            found.append(mean(tokens, look, take))
        print(f"| {name} | {found[0]:.2f} | {found[1]:.2f} | {found[0] / found[1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
