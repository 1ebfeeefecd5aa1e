"""From a question and a short answer to a sentence: "Who designed the bridge?", "Ada Holst" -> "Ada Holst
designed the bridge."

By rule, only for questions with simple grammar.
"""

from data_pipeline.pairs.verbalise_en import english
from data_pipeline.pairs.verbalise_zh import chinese
from judge.types import Sample


def statement_of(sample: Sample) -> str | None:
    """The answer of a sample as a sentence that can stand alone, or ``None`` if no rule is sure of it.

    An answer that already is a sentence stays unchanged.
    """
    answer = sample.answer.strip()
    if is_sentence(answer, sample.language):
        return answer
    if not sample.question:
        return None
    if sample.language == "zh":
        return chinese(sample.question, answer)
    return english(sample.question, answer, sample.document_text)


def is_sentence(text: str, language: str) -> bool:
    """Is a text made of whole sentences, judging by its punctuation and length?"""
    if language == "zh":
        return text.endswith(("。", "！", "？", "”", "」")) and len(text) >= 12 and "。" in text
    return (
        text.endswith((".", "!", '."', ".'", ".)"))
        and len(text.split()) >= 5
        and (text[0].isupper() or text[0].isdigit())
    )
