"""Judges that read a document, a question and an answer and say whether the answer is faithful."""

from typing import TYPE_CHECKING, Any

from judge.errors import InputError, JudgeError
from judge.types import Label, Message, Mode, Sample, Task, Usage, Verdict

if TYPE_CHECKING:
    from judge.judge import Judge
    from judge.load import load_judge

__version__ = "0.1.0"
__all__ = [
    "InputError",
    "Judge",
    "JudgeError",
    "Label",
    "Message",
    "Mode",
    "Sample",
    "Task",
    "Usage",
    "Verdict",
    "load_judge",
]


def __getattr__(name: str) -> Any:
    """Names that are imported when they are first used, so that ``import judge`` stays fast."""
    if name == "Judge":
        from judge.judge import Judge

        return Judge
    if name == "load_judge":
        from judge.load import load_judge

        return load_judge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
