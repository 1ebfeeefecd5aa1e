"""What Ollama needs besides a GGUF file: a Modelfile with the chat template's own text around the prompt.

Ollama reads Go templates, not Jinja. A judge's prompt is one user turn, so the Modelfile only needs the text
that the chat template writes before and after it.
"""

from judge.errors import InputError
from judge.prompting.rendering import Renderer

MARKS = ("A first text.", "Ein anderer, 2 Zeilen\nlang.")


def around_prompt(renderer: Renderer) -> tuple[str, str]:
    """What a chat template writes before and after the text of a single user turn.

    Raises:
        InputError: if it changes the text, or writes something else around another text.
    """
    found = set()
    for mark in MARKS:
        before, met, after = renderer.prompt_text([{"role": "user", "content": mark}]).partition(mark)
        found.add((before, met and "met", after))
    [(before, met, after), *others] = sorted(found)
    if others or not met:
        raise InputError("the chat template changes a user's text; no Modelfile can say how")
    return before, after


def modelfile(file: str, renderer: Renderer, context_length: int, remarks: str) -> str:
    """The text of a Modelfile.

    Args:
        file: name of the GGUF file next to it.
        renderer: renders messages as the judge reads them.
        context_length: context in tokens to set in Ollama, whose own default cuts long documents.
        remarks: lines of a comment.

    Raises:
        InputError: if the chat template cannot be expressed in a Modelfile.
    """
    before, after = around_prompt(renderer)
    if '"""' in before + after or "{{" in before + after:
        raise InputError("the chat template writes what a Modelfile cannot quote")
    ends = [renderer.tokenizer.decode([token]) for token in renderer.stop_ids()]
    lines = [
        *(f"# {line}" for line in remarks.splitlines()),
        f"FROM ./{file}",
        f'TEMPLATE """{before}{{{{ .Prompt }}}}{after}"""',
        "PARAMETER temperature 0",
        f"PARAMETER num_ctx {context_length}",
        *(f'PARAMETER stop "{end}"' for end in ends if end),
    ]
    return "\n".join(lines) + "\n"
