"""A scripted chat model for tests: replies come from a list or a function, in the order of the prompts."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonschema import ValidationError, validate

from data_pipeline.teachers.base import Ask
from data_pipeline.teachers.prompts.base import Prompted
from judge.remote.chat import Reply


def replied(answer: Any, schema: Any = None) -> Reply:
    """A reply that a client would give: JSON of a value, a text as it stands, or a ready reply."""
    if isinstance(answer, Reply):
        return answer
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if schema is None:
        return Reply(text)
    try:
        parsed = json.loads(text)
        validate(parsed, schema)
    except (ValueError, ValidationError) as error:
        return Reply(text, problem="invalid", detail=str(error))
    return Reply(text, parsed)


def scripted(answers: Iterable[Any] | Callable[[str], Any], ahead: int = 3) -> Ask:
    """Answers prompts from a list, or by a function of a prompt's text; prompts are taken ``ahead``."""
    script = answers if callable(answers) else iter(answers)

    def ask(prompts: Iterable[Prompted]) -> Iterator[Reply]:
        waiting: deque[Reply] = deque()
        for prompt in prompts:
            text = prompt.messages[0]["content"]
            waiting.append(replied(script(text) if callable(script) else next(script), prompt.schema))
            if len(waiting) > ahead:
                yield waiting.popleft()
        yield from waiting

    return ask


REFUSED = Reply("", problem="refused", detail="I would rather not")
