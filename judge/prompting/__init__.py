"""What a judge reads and writes: prompts, chat templates, fitting into the context, parsing of replies.

Judges released by others have their own prompts and replies (``templates``, ``replies``).
Documents that are too long are shortened (``fitting``) or judged in parts (``windows``); quotes in a
reasoning are located in the document (``evidence``).
"""

from judge.prompting.fitting import TooLong, fit
from judge.prompting.parsing import Parsed, parse
from judge.prompting.prompts import LABEL_WORDS, PROMPT_VERSION, BuiltinPrompt, Prompt
from judge.prompting.rendering import Renderer
from judge.prompting.replies import ReplyForm
from judge.prompting.sentences import sentence_spans
from judge.prompting.templates import TemplatePrompt
from judge.prompting.windows import check_in_windows

__all__ = [
    "LABEL_WORDS",
    "PROMPT_VERSION",
    "BuiltinPrompt",
    "Parsed",
    "Prompt",
    "Renderer",
    "ReplyForm",
    "TemplatePrompt",
    "TooLong",
    "check_in_windows",
    "fit",
    "parse",
    "sentence_spans",
]
