"""The built-in prompts as data, for programs that use an exported judge without this toolkit."""

from typing import Any

from judge.prompting.prompts import LABEL_WORDS, RULES, BuiltinPrompt
from judge.types import MODES, Sample

PLACES = {name: f"{{{name}}}" for name in ("document", "question", "answer")}


def prompt_texts() -> dict[str, Any]:
    """Every prompt with placeholders ``{document}``, ``{question}`` and ``{answer}``, and the label words.

    Each is one user turn. There are two of each, with and without a question. Programs that fill them in must
    strip white space around the texts, and keep the prompt's tags (``<document>`` and the like) and the
    model's control tokens out of them.
    """
    texts = [
        {
            "language": language,
            "task": str(task),
            "mode": mode,
            "question": question,
            "text": BuiltinPrompt().messages(_sample(language, task, question), mode)[0]["content"],
        }
        for language, rules in RULES.items()
        for task in rules
        for mode in MODES
        for question in (True, False)
    ]
    words = {language: dict(pair) for language, pair in LABEL_WORDS.items()}
    return {**BuiltinPrompt().describe(), "label_words": words, "prompts": texts}


def _sample(language: Any, task: Any, question: bool) -> Sample:
    asked = PLACES["question"] if question else ""
    return Sample("", PLACES["document"], PLACES["answer"], asked, task=task, language=language)
