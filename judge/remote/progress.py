"""How far a run of calls is, and what it has cost so far, on standard error."""

import time
from collections.abc import Iterable, Iterator

from judge.remote.budget import Budget
from judge.remote.chat import Reply

EVERY = 30.0
"""Seconds between two lines where standard error is no terminal."""


def track(
    replies: Iterable[Reply], budget: Budget, total: int | None = None, title: str = "calls"
) -> Iterator[Reply]:
    """Pass replies through and show their number, the cached ones, the problems and what was spent.

    On a terminal it is one line that changes; elsewhere a line every :data:`EVERY` seconds. One stays.
    """
    from rich.console import Console

    console = Console(stderr=True)
    done = cached = problems = 0
    shown = time.monotonic()

    def line() -> str:
        of = "" if total is None else f"/{total:,}"
        return (
            f"{title}: {done:,}{of} done, {cached:,} from the cache, {problems:,} without an answer; "
            f"{budget.spent.tokens:,} tokens, cost {budget.spent.cost:.4f}"
        )

    with console.status(line()) as status:
        for reply in replies:
            done += 1
            cached += reply.cached
            problems += reply.problem is not None
            now = time.monotonic()
            if now - shown > (0.2 if console.is_terminal else EVERY):
                shown = now
                if console.is_terminal:
                    status.update(line())
                else:
                    console.print(line(), highlight=False, soft_wrap=True)
            yield reply
    console.print(line(), highlight=False, soft_wrap=True)
