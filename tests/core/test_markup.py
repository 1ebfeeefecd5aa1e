"""Markup that encoders skip: what is read of an answer, and where it stands."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from eval.benchmarks.probes.dressings import DRESSINGS
from judge.checker import Checker
from judge.encoder.markup import skip_markup
from judge.load import load_judge
from judge.shipped import REFERENCE
from judge.types import Sample


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Splits at blanks and punctuation, and knows no word."""
    found = Tokenizer(models.WordLevel({"?": 0}, "?"))
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    skip_markup(found)
    return found


def read(tokenizer: Tokenizer, text: str) -> str:
    """The parts of a text that become tokens."""
    return " ".join(text[start:end] for start, end in tokenizer.encode(text).offsets)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("It has **42** rooms [1][2].", "It has 42 rooms ."),
        ("*Really* good.[3] More", "Really good . More"),
        ("***Rome*** [12]", "Rome"),
        ("• one\n• two\n- three\n* four", "one two three four"),
        ("Yes \U0001f642", "Yes"),
        ("\U0001f44e", "\U0001f44e"),  # the whole answer
        ("It is 9 m. I hope this helps!", "It is 9 m ."),
        ("No.\n\nThanks for asking! If you need more, please let me know. \U0001f642", "No ."),
        ("Yes, [2] daily.[1] I'd be glad to explain more", "Yes , daily ."),
        ("It is **9 m**.\n\nWould you like more details?", "It is 9 m ."),
        ("No. If there's anything else, please do not hesitate to ask. Have a nice day!", "No ."),
        ("Based on the provided passages, it is 9 m.", "it is 9 m ."),
        ("According to the information given in the text: no", "no"),
        ("From provided context, daily.[1]", "daily ."),
        ("Sure! Based on the given passages, it is 9 m.", "it is 9 m ."),
        ("Great question! Here is a brief answer based on the text: no", "no"),
        ("Answer: 9 m (see the document)", "9 m"),
        ("As stated in the text above, it is 9 m.\n\nSource: the given document.", "it is 9 m ."),
        ("The passage mentions that it is 9 m. Best wishes!", "it is 9 m ."),
        ("It is 9 m. That is all I found. Would this be enough?", "It is 9 m ."),
        # What may be part of the meaning stays.
        ("Sure, but only outside.", "Sure , but only outside ."),
        ("Of course!", "Of course !"),  # the whole answer
        ("Here is the key: 9 m.", "Here is the key : 9 m ."),
        ("The second passage says that it is 9 m.", "The second passage says that it is 9 m ."),
        ("It is 9 m. I can explain why it is so high.", "It is 9 m . I can explain why it is so high ."),
        ("It is 9 m. That is all I have to pay.", "It is 9 m . That is all I have to pay ."),
        ("According to the second document, it is 9 m.", "According to the second document , it is 9 m ."),
        ("From the text messages, all", "From the text messages , all"),
        ("According to the document:", "According to the document :"),  # the whole answer
        ("No. Based on the text, it is 9 m.", "No . Based on the text , it is 9 m ."),
        ("I hope this helps!", "I hope this helps !"),  # the whole answer
        ("Come in. Let me know if it is 9 m.", "Come in . Let me know if it is 9 m ."),
        ("It helps. I hope this helps! It is 9 m.", "It helps . I hope this helps ! It is 9 m ."),
        ("No. I hope this helps you see that it is 9 m.", "No . I hope this helps you see that it is 9 m ."),
        ("No. Let me know if you want it free.", "No . Let me know if you want it free ."),
        ("He asked them to let me know if it rains.", "He asked them to let me know if it rains ."),
        ("a[1] = 2**3", "a [ 1 ] = 2 * * 3"),
        ("2 * 3 = 6", "2 * 3 = 6"),
        ("-5 degrees", "- 5 degrees"),
        ("[1] Smith et al.", "[ 1 ] Smith et al ."),
        ("in [1998] it", "in [ 1998 ] it"),
        ("snake_case", "snake _ case"),
    ],
)
def test_what_is_read(tokenizer: Tokenizer, text: str, seen: str) -> None:
    assert read(tokenizer, text) == seen


def test_a_long_closing_phrase_takes_no_longer_than_its_words(tokenizer: Tokenizer) -> None:
    """Nested repetition would take forever on the first, which matches nothing in the end."""
    assert len(tokenizer.encode(f"No. Let me know {'more ' * 20_000}!!x").ids) > 20_000


@pytest.fixture(scope="module")
def judge() -> Checker:
    """The judge that ships."""
    return load_judge(REFERENCE)


@pytest.mark.parametrize(
    "name", ["citation", "sentence citations", "emoji", "bold", "bullet", "opening", "closing"]
)
def test_the_shipped_judge_does_not_see_a_dressing(judge: Checker, name: str) -> None:
    document = "The tower was built in 1931. It is 22 m high, and 40 people may stand on it."
    for answer in ("It is 22 m high. 40 people may stand on it.", "The tower is 30 m high."):
        plain, dressed = judge.check(
            [Sample("1", document, one) for one in (answer, DRESSINGS[name](answer, 0))]
        )
        assert dressed.p_fail == pytest.approx(plain.p_fail, abs=1e-6)
