"""Looking texts up without a pattern finds what a pattern would find."""

import random
import re

import pytest

from data_pipeline.edits.edit import occurs
from data_pipeline.text.sentences import places_of
from judge.types import Span

TEXT = (
    "In 1,931 the Türkçe-speaking poet Ada King (b. 1.5 km off)\n\nwrote 3.14 lines; ADA's 31st ode\t"
    "of 1931, she said: 31. 阿达金生于1931年。Ada写了31行。 Köln 12,5 % and 1,931.5 x"
)


def bounded(body: str, text: str, letter: str) -> str:
    """A pattern that does not begin or end within a longer word or number."""
    left = rf"(?<!{letter})(?<!\d[.,])" if re.match(letter, text) else ""
    right = rf"(?!{letter})(?![.,]\d)" if re.search(f"{letter}$", text) else ""
    return left + body + right


@pytest.mark.parametrize("seed", range(2))
def test_any_stretch_in_any_case_and_spacing(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(120):
        start = rng.randrange(len(TEXT))
        text = TEXT[start : start + rng.choice((1, 2, 3, 5, 9, 20))]
        text = rng.choice((text, text.swapcase()))
        exact = bounded(re.escape(text), text, "[A-Za-z0-9]")
        assert occurs(text, TEXT) == (re.search(exact, TEXT, re.I) is not None), text
        loose = rng.choice((text, text.replace(" ", " \n ")))
        words = r"\s+".join(map(re.escape, loose.split()))
        pattern = bounded(words, loose, r"[^\W_\u4e00-\u9fff]")
        wanted = [Span(*match.span()) for match in re.finditer(pattern, TEXT, re.I) if words]
        assert list(places_of(loose, TEXT)) == wanted, loose


def test_a_letter_whose_small_form_is_two_moves_no_place() -> None:
    text = "\u0130\u0130\u0130 Ada King wrote 31 lines"
    assert occurs("ada king", text) and not occurs("da King", text)
    assert list(places_of("King  wrote", text)) == [Span(8, 18)]
