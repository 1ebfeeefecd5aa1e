"""What a guided reply may look like: the form of a judgement as a regular expression, its length bounded."""

from judge.prompting.prompts import KEYS, LABEL_WORDS

_CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'


def judgement_pattern(max_chars: int) -> str:
    """A reason-mode reply of either language, written just as training writes it, with one reasoning.

    The reasoning is bounded and white space is not free: held to any JSON, small models run on in both.

    Args:
        max_chars: characters that the reasoning may take.
    """
    forms = []
    for language, (reasoning_key, score_key) in KEYS.items():
        words = "|".join(LABEL_WORDS[language].values())
        forms.append(rf'\{{"{reasoning_key}": "{_CHARACTER}{{1,{max_chars}}}", "{score_key}": "({words})"\}}')
    return "|".join(forms)
