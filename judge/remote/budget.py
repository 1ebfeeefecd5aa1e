"""A run's budget, its spending and its estimated cost, in money and tokens."""

import threading
from dataclasses import dataclass

from judge.errors import JudgeError
from judge.remote.chat import price
from judge.remote.config import Prices
from judge.types import Usage


@dataclass(frozen=True, slots=True)
class Spending:
    """Number of calls, tokens of prompts and replies, and their cost in the prices' currency."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, usage: Usage, prices: Prices | None) -> "Spending":
        """The spending of one call."""
        return cls(1, usage.prompt_tokens + usage.completion_tokens, price(usage, prices))

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


class Budget:
    """The limits of one run, shared by all its clients and their threads; without limits it only counts.

    Before a call is sent it reserves the most that it can use, until its real use is known, so the limits
    hold with any number of calls in flight. A call whose answer got lost (timeout, broken connection) counts
    in full, since the endpoint may bill it. Answers from the cache cost nothing.

    Args:
        money: the most to spend, in the currency of the prices.
        tokens: the most tokens to use, of prompts and replies together.
    """

    def __init__(self, money: float | None = None, tokens: int | None = None):
        self.money, self.tokens = money, tokens
        self.spent = Spending()
        self._held = Spending()
        self._changed = threading.Condition()

    def hold(self, most: Spending) -> None:
        """Reserve the most that a call can use; waits if only reservations of other calls prevent it.

        Raises:
            JudgeError: if the rest of the budget is too small.
        """
        with self._changed:
            while not self._fits(self.spent + self._held + most):
                if not self._held.calls:
                    raise JudgeError(self._used_up(most))
                self._changed.wait()
            self._held += most

    def settle(self, most: Spending, used: Spending) -> None:
        """Release what :meth:`hold` reserved and count what was used."""
        with self._changed:
            self._held -= most
            if not self._held.calls:
                self._held = Spending()  # drops rounding errors
            self.spent += used
            self._changed.notify_all()

    def _fits(self, total: Spending) -> bool:
        return (self.money is None or total.cost <= self.money) and (
            self.tokens is None or total.tokens <= self.tokens
        )

    def _used_up(self, most: Spending) -> str:
        limits = [] if self.money is None else [f"{self.money:g} in money"]
        limits += [] if self.tokens is None else [f"{self.tokens:,} tokens"]
        return (
            f"the budget of {' and '.join(limits)} does not reach for the next call, which may take "
            f"{most.tokens:,} tokens and cost {most.cost:.6f}. Spent: {self.spent.cost:.6f} on "
            f"{self.spent.calls:,} calls with {self.spent.tokens:,} tokens. All answers are in the call "
            "cache: run the same command again, with the same budget or a larger one, to continue from here"
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would use. ``completion_tokens`` is an upper bound; ``cached`` calls cost nothing.

    ``cost`` is in the prices' currency, ``None`` without prices. ``counted`` says how prompt tokens were
    counted. Repeated calls are not included.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    counted: str

    def __add__(self, other: "Estimate") -> "Estimate":
        """Both together, counted the same way."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Estimate(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            cost,
            self.counted,
        )

    def text(self) -> str:
        """One line for people."""
        cost = "no prices are given" if self.cost is None else f"at most about {self.cost:,.4f} in money"
        return (
            f"{self.calls:,} calls ({self.cached:,} more are in the cache), {self.prompt_tokens:,} prompt "
            f"tokens ({self.counted}), at most {self.completion_tokens:,} completion tokens, {cost}; "
            "what is asked again for unusable replies comes on top"
        )
