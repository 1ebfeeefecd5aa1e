"""Only the document is ever shortened, to at most the limit, and what was cut is counted."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judge.prompting.fitting import ELLIPSIS, TooLong, fit
from judge.prompting.prompts import BuiltinPrompt, split_document
from judge.types import MODES, Message, Mode, Sample
from tests.made_up import user

texts = st.text(alphabet="ab \n。文档", max_size=200)


def in_characters(messages: list[Message]) -> int:
    return sum(len(message["content"]) for message in messages)


def in_words(messages: list[Message]) -> int:
    return sum(len(message["content"].split()) for message in messages)


def oddly(messages: list[Message]) -> int:
    """A vocabulary in which a shorter text often takes more tokens."""
    content = messages[0]["content"]
    return len(content) // 2 + len(content) * 7919 % 13


@settings(max_examples=150)
@given(
    document=texts,
    question=st.text(alphabet="q? ", max_size=20),
    answer=st.text(alphabet="A. ", max_size=20),
    mode=st.sampled_from(MODES),
    room=st.integers(-5, 120),
    count=st.sampled_from([in_characters, in_words, oddly]),
)
def test_fitting(document: str, question: str, answer: str, mode: Mode, room: int, count: object) -> None:
    assert callable(count)
    assume(document.strip())
    sample = Sample("1", document, f"A{answer}", question)
    prompt = BuiltinPrompt()

    def build(text: str) -> list[Message]:
        return prompt.messages(sample, mode, text)

    bare = count(build(ELLIPSIS))
    limit = bare + room
    whole = count(build(document))
    try:
        messages, cut = fit(document, build, count, limit)
    except TooLong as error:
        assert bare > limit and whole > limit
        assert f"{bare} tokens of {limit}" in str(error)
        return
    assert count(messages) <= limit
    if whole <= limit:
        assert cut == 0 and messages == build(document)
        return
    assert 0 < cut <= len(document)
    before, shortened, after = split_document(messages[0]["content"]) or ("", "", "")
    wanted = split_document(build(document)[0]["content"])
    assert wanted is not None and (before, after) == (wanted[0], wanted[2])  # all but the document is whole
    kept = shortened.removesuffix("…").strip()
    assert shortened.endswith("…")
    assert document.strip().startswith(kept)
    assert len(kept) <= len(document) - cut <= len(document)
    assert (len(document) - cut) - len(kept) <= len(document) - len(document.strip()) + len(ELLIPSIS) + 200


def test_the_cut_is_counted_exactly() -> None:
    messages, cut = fit("one two three four", user, in_characters, 12)
    assert messages[0]["content"] == "one two" + ELLIPSIS
    assert cut == len(" three four")


def test_a_word_is_not_cut_in_two() -> None:
    document = "alpha beta gamma delta"
    for limit in range(len(ELLIPSIS), len(document)):
        content = fit(document, user, in_characters, limit)[0][0]["content"]
        assert set(content.removesuffix(ELLIPSIS).split()) <= set(document.split()) or len(content) < 8


def test_text_without_spaces_is_cut_where_the_limit_is() -> None:
    messages, cut = fit("文" * 100, user, in_characters, 50)
    assert messages[0]["content"] == "文" * 48 + ELLIPSIS and cut == 52


def test_a_shorter_text_that_takes_more_tokens_is_not_taken() -> None:
    def count(messages: list[Message]) -> int:
        content = messages[0]["content"]
        return 100 if content == "one two" + ELLIPSIS else len(content)

    messages, cut = fit("one two three four", user, count, 12)
    assert messages[0]["content"] == "one two th" + ELLIPSIS and cut == len("ree four")
