"""Judges that read a document, a question and an answer and say whether the answer is faithful.

from judge import Sample, load_judge

judge = load_judge("runs/demo/dpo")
(verdict,) = judge.check([Sample(id="1", document="...", question="...", answer="...")])
"""

from typing import TYPE_CHECKING

from judge.errors import InputError, JudgeError
from judge.lazy import lazy
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
__getattr__, __dir__ = lazy(
    __name__, {"Checker": "judge.checker", "Judge": "judge.judge", "load_judge": "judge.load"}
)
