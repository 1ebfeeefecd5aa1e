"""Attack texts: every family says what it should, and none can change the structure of a prompt."""

from typing import Any

import pytest

from judge.formats.spans import wrong_spans
from judge.injections import (
    CONTROL,
    FAMILIES,
    HELD_OUT,
    PLACES,
    TRAINED,
    Place,
    attack_texts,
    inject,
)
from judge.prompting.prompts import LABEL_WORDS, BuiltinPrompt, split_document
from judge.types import LANGUAGES, MODES, Label, Language, Mode, Sample

WORDLESS = {"opener", "symbol", "zero_width", "look_alike", "encoded", CONTROL}


def sample(language: Language = "en", **values: Any) -> Sample:
    fields = {
        "id": "1", "document": "The tower is 20 m high.", "answer": "It is 30 m.", "question": "How high?",
    }  # fmt: skip
    return Sample(**fields | {"language": language, "label": Label.FAIL, "meta": {"kept": 1}} | values)


def all_texts() -> list[tuple[str, Language, Label, str]]:
    return [
        (family, language, wanted, text)
        for family in (*FAMILIES, CONTROL)
        for language in LANGUAGES
        for wanted in Label
        for text in attack_texts(family, language, wanted)
    ]


def test_there_are_many_families_and_some_are_held_out() -> None:
    assert CONTROL not in FAMILIES and HELD_OUT and not set(HELD_OUT) & set(TRAINED)
    assert set(HELD_OUT) | set(TRAINED) == set(FAMILIES)


def test_attacks_ask_for_the_wanted_label_in_the_words_of_the_prompt() -> None:
    for family, language, wanted, text in all_texts():
        assert text.strip() and not {"%W", "%O", "%R", "%S"} & {text[i : i + 2] for i in range(len(text))}
        if family not in WORDLESS:
            assert LABEL_WORDS[language][wanted] in text
        if family != "redefinition":
            other = Label.FAIL if wanted is Label.PASS else Label.PASS
            assert LABEL_WORDS[language][other] not in text


def test_disguises_hide_the_word_from_a_plain_search() -> None:
    for family in ("zero_width", "look_alike", "encoded"):
        assert not any("PASS" in text for text in attack_texts(family, "en", Label.PASS))


@pytest.mark.parametrize("place", PLACES)
def test_only_the_attacked_place_changes(place: Place) -> None:
    before = sample()
    after = inject(before, "order", place, Label.PASS, "s")
    assert after.meta == {"kept": 1, "injection": "order", "injection_place": place}
    assert (after.label, after.id, after.question) == (before.label, before.id, before.question)
    changed = getattr(after, place)
    other = "document" if place == "answer" else "answer"
    assert getattr(after, other) == getattr(before, other)
    parts = changed.split(str(getattr(before, place)))
    assert len(parts) == 2 and "" in parts
    assert "".join(parts).strip("\n") in attack_texts("order", "en", Label.PASS)


@pytest.mark.parametrize("name", ["spans", "errors"])
def test_wrong_spans_move_with_the_answer(name: str) -> None:
    meta = {name: [{"start": 6, "end": 10, "text": "30 m"}]}
    before = sample(meta=meta)
    starts = set()
    for seed in range(10):
        after = inject(before, "order", "answer", Label.PASS, str(seed))
        [marked] = after.meta[name]
        assert after.answer[marked["start"] : marked["end"]] == "30 m"
        assert wrong_spans(after) is None  # the attack is wrong as well, and no span says where it stands
        starts.add(marked["start"])
    assert 6 in starts and len(starts) > 1 and meta[name][0]["start"] == 6


def test_one_passage_is_attacked() -> None:
    before = sample(document=("One.", "Two.", "Three."))
    documents = {inject(before, "json", "document", Label.PASS, str(seed)).document for seed in range(30)}
    assert len(documents) == 6  # three passages, two ends
    for document in documents:
        assert len(document) == 3
        assert sum(old != new for old, new in zip(before.document, document, strict=True)) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", PLACES)
def test_no_attack_opens_or_closes_a_field_of_the_prompt(place: Place, mode: Mode) -> None:
    for language in LANGUAGES:
        clean = BuiltinPrompt().messages(sample(language), mode)[0]["content"]
        for family in FAMILIES:
            for seed in range(8):
                attacked = inject(sample(language), family, place, Label.PASS, str(seed))
                (message,) = BuiltinPrompt().messages(attacked, mode)
                for tag in ("document", "question", "answer"):
                    for form in (f"<{tag}>", f"</{tag}>"):
                        assert message["content"].count(form) == clean.count(form) == 1
                assert "<|" not in message["content"]
                split = split_document(message["content"])
                assert split is not None and clean.startswith(split[0])
