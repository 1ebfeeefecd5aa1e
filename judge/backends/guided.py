"""What a guided reply may look like: the form of a judgement as a regular expression."""

from judge.prompting.prompts import KEYS, LABEL_WORDS

_CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'


def judgement_pattern(max_chars: int | None) -> str:
    """A reason-mode reply of either language, written just as training writes it, with one reasoning.

    The reasoning is bounded and white space is not free: held to any JSON, small models run on in both.

    Args:
        max_chars: characters that the reasoning may take; any number where it is ``None``: replies of
            transformers are closed near their limit (:mod:`judge.backends.held`), and xgrammar, which servers
            of vLLM take by default, looks for seconds at every token of a counted repetition.
    """
    most = "+" if max_chars is None else f"{{1,{max_chars}}}"
    forms = []
    for language, (reasoning_key, score_key) in KEYS.items():
        words = "|".join(LABEL_WORDS[language].values())
        forms.append(rf'\{{"{reasoning_key}": "{_CHARACTER}{most}", "{score_key}": "({words})"\}}')
    return "|".join(forms)
