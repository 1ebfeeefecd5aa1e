"""Judges that read a document, a question and an answer and say whether the answer is faithful.

from judge import Sample, load_judge

judge = load_judge("runs/demo/dpo")
(verdict,) = judge.check([Sample(id="1", document="...", question="...", answer="...")])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from judge.errors import InputError, JudgeError
from judge.types import Label, Message, Mode, Sample, Task, Usage, Verdict

if TYPE_CHECKING:
    from judge.checker import Checker
    from judge.judge import Judge
    from judge.load import load_judge

__version__ = "0.3.0"
__all__ = [
    "Checker",
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
_LATER = {"Checker": "judge.checker", "Judge": "judge.judge", "load_judge": "judge.load"}
"""Names that are imported on first use, so that the package itself loads fast (PEP 562)."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
