"""Judges that read a document, a question and an answer and say whether the answer is faithful."""

from judge.errors import InputError, JudgeError
from judge.types import Label, Message, Mode, Sample, Task, Usage, Verdict

__version__ = "0.1.0"
__all__ = ["InputError", "JudgeError", "Label", "Message", "Mode", "Sample", "Task", "Usage", "Verdict"]
