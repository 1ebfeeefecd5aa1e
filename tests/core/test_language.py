"""Texts in a language that a judge was not trained on."""

import json
from pathlib import Path

import pytest

from judge.errors import JudgeWarning
from judge.prompting.language import LanguageWatch, language_of
from judge.types import Sample
from tests.calling import Ran, call

FOREIGN = {
    "de": "Der Turm wurde im Jahr 1889 gebaut und ist heute das höchste Gebäude der Stadt.",
    "fr": "La tour est un monument de la ville, construite en 1889 par les ouvriers du port.",
    "es": "La torre fue construida en 1889 y es el edificio más alto de la ciudad.",
    "zh": "这座塔建于1889年，如今是全市最高的建筑。",
    "ru": "Башня была построена в 1889 году и сегодня является самым высоким зданием города.",
    "ja": "この塔は1889年に建てられ、現在は市内で最も高い建物です。",
}
ENGLISH = [
    "The tower was built in 1889 and is the tallest building of the town.",
    "20 m.",
    "Yes.",
    "Ludwig van der Waals and Gabriel de la Cruz met in Los Angeles, El Paso and Las Vegas in 1889.",
    "Die Zeit, Le Monde, El País, La Repubblica, Der Spiegel",
    "for key, value in die.items(): print(key, value)\nreturn la[0] + el[1] * un[2]",
    "The town 东京 (Москва) has a tower.",
    "Δx ≥ α + β",
]


@pytest.mark.parametrize("language", FOREIGN)
def test_languages_are_told_apart(language: str) -> None:
    assert language_of(FOREIGN[language]) == language


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_names_or_code_is_not_foreign(text: str) -> None:
    assert language_of(text) in ("en", None)


def test_the_first_one_is_told_where_nobody_waits_for_the_last() -> None:
    watch = LanguageWatch(["en"], at_once=True)
    with pytest.warns(JudgeWarning, match="this text is in a language .* German") as told:
        for language in ("de", "fr", "de"):
            watch.see(Sample("1", FOREIGN[language], "20 m."))
    assert len(told) == 1
    silent = LanguageWatch(())
    silent.see(Sample("1", FOREIGN["de"], FOREIGN["de"]))
    assert not silent.foreign


def test_the_toolkits_judge_warns(tmp_path: Path, ran: Ran) -> None:
    rows = [
        {"document": text, "answer": ENGLISH[0], "label": "PASS" if at % 2 else "FAIL"}
        for at, text in enumerate([FOREIGN["de"], FOREIGN["fr"], FOREIGN["de"], *ENGLISH])
    ]
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps({**row, "id": str(at)}) + "\n" for at, row in enumerate(rows)))
    with pytest.warns(JudgeWarning, match=r"3 of 11 samples are in .*: German \(2\), French \(1\); it"):
        assert call("batch", file, "-o", tmp_path / "out.jsonl") == 0
    with pytest.warns(JudgeWarning, match=r"3 of 11 samples are in .*: German \(2\), French \(1\); it"):
        assert call("eval", "--model", "reference", "--samples", file, "--set", "bootstrap=0") == 0
    with pytest.warns(JudgeWarning, match="this text is in a language"):
        assert call("check", "--document", FOREIGN["es"], "--answer", "20 m.") == 0
    assert "language" not in ran("check", "--document", ENGLISH[3], "--answer", "20 m.").err
