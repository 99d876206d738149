"""What a run has cost: calls, tokens, money, time, and why replies held no answer."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.llm import FAILURES, Backend, Completion, Decision, Message
from agents.llm.asking import count_tokens
from benchmarks.llm.decisions import read_decisions
from benchmarks.llm.pricing import Price, show_dollars, sum_cost
from normgym_envs.errors import NormGymError

TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
"""Counts of `agents.llm.Usage`."""


class BudgetError(NormGymError, RuntimeError):
    """The run has cost what it was allowed to."""


@dataclass
class Ledger:
    """Adds up what the decisions of one run have cost, those of earlier attempts included."""

    price: Price | None = None
    max_cost: float | None = None  # dollars
    decisions: int = 0
    requests: int = 0  # retries included, as far as the backend knows of them
    failures: Counter[str] = field(default_factory=Counter)  # by agents.llm.FAILURES
    tokens: Counter[str] = field(default_factory=Counter)  # by TOKENS, known ones
    unknown: Counter[str] = field(default_factory=Counter)  # requests that did not say, by TOKENS
    cost: float | None = 0.0  # dollars, None: unknown
    model_seconds: float = 0.0  # summed over requests, which overlap
    asked: int = 0  # decisions of this session
    own_seconds: float = 0.0  # this session: observing, prompting, parsing, logging, stepping
    transport: int = 0  # requests of this session that were given up

    def read(self, folder: Path) -> None:
        """Add what earlier attempts have left in a folder of decisions.

        Raises:
            RecordError: a file is damaged before its last line.
        """
        for _, decisions in read_decisions(folder):
            for decision in decisions:
                self.add(decision)

    def add(self, decision: Decision) -> None:
        """Add a decision that is kept."""
        self.decisions += 1
        self.requests += decision.attempts
        self.model_seconds += decision.latency_s
        if decision.failure:
            self.failures[decision.failure] += 1
        for usage in decision.usage:
            for name in TOKENS:
                count = getattr(usage, name)
                if count is None:
                    self.unknown[name] += 1
                else:
                    self.tokens[name] += count
        dollars = sum_cost(self.price, [decision])
        self.cost = None if self.cost is None or dollars is None else self.cost + dollars

    def check_budget(self) -> None:
        """Refuse another request when the money is spent.

        Raises:
            BudgetError: it is, or the server does not say how many tokens it took.
        """
        if self.max_cost is None:
            return
        if self.cost is None:
            raise BudgetError(
                f"--max-cost {self.max_cost:g} cannot be kept: the server does not report tokens"
            )
        if self.cost >= self.max_cost:
            raise BudgetError(
                f"the run has cost {show_dollars(self.cost)}, --max-cost is {self.max_cost:g}; "
                "what was played is kept, the same command with a higher --max-cost goes on"
            )

    def to_json(self) -> dict[str, object]:
        """Return the numbers as JSON values."""
        return {
            "decisions": self.decisions,
            "requests": self.requests,
            "failures": {name: self.failures[name] for name in FAILURES},
            "given_up": self.transport,
            "tokens": {name: self._tell(name) for name in TOKENS},
            "cost_dollars": None if self.cost is None else round(self.cost, 6),
            "price_of": None if self.price is None else self.price.as_of or "given",
            "model_seconds": round(self.model_seconds, 3),
            "own_ms_per_decision": self.own_ms,
        }

    @property
    def own_ms(self) -> float | None:
        """Milliseconds of our own work for a decision of this session; None without any."""
        return round(1000 * self.own_seconds / self.asked, 3) if self.asked else None

    def _tell(self, name: str) -> int | None:
        """Return a count of tokens; None when no request has told it."""
        return None if self.unknown[name] and not self.tokens[name] else self.tokens[name]

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as people read them."""
        failed = ", ".join(f"{name} {self.failures[name]}" for name in FAILURES[:-1])
        rows = [
            ("decisions", f"{self.decisions:,} from {self.requests:,} requests"),
            ("no readable answer", failed),
            ("requests given up", f"{self.transport} in this session (asked again on resume)"),
        ]
        for name in TOKENS:
            count = self._tell(name)
            text = "unknown" if count is None else f"{count:,}"
            if count is not None and self.unknown[name]:
                text += f" (and {self.unknown[name]:,} requests that did not say)"
            rows.append((name.replace("_", " "), text))
        dated = (
            "" if self.price is None or not self.price.as_of else f", prices of {self.price.as_of}"
        )
        rows.append(("cost", show_dollars(self.cost if self.price else None) + dated))
        own = "-" if self.own_ms is None else f"{self.own_ms:.2f} ms a decision"
        rows.append(("model time", f"{self.model_seconds:,.1f} s, summed over requests"))
        rows.append(("own time", f"{own}, this session"))
        return rows


class StopWatch:
    """Measures the work of one episode between its requests to the model."""

    def __init__(self, ledger: Ledger) -> None:
        """Stand still."""
        self._ledger = ledger
        self._since: float | None = None

    def go(self) -> None:
        """Begin to measure."""
        self._since = time.perf_counter()

    def stop(self) -> None:
        """Add what was measured."""
        if self._since is not None:
            self._ledger.own_seconds += time.perf_counter() - self._since
            self._since = None


class TimedBackend:
    """A backend that keeps the time of its requests out of ours."""

    def __init__(self, backend: Backend, watch: StopWatch) -> None:
        """Wrap a backend for one episode."""
        self._backend, self._watch = backend, watch

    @property
    def name(self) -> str:
        """See `Backend`."""
        return self._backend.name

    @property
    def images(self) -> bool:
        """See `Backend`."""
        return self._backend.images

    @property
    def context_tokens(self) -> int | None:
        """See `Backend`."""
        return self._backend.context_tokens

    @property
    def max_tokens(self) -> int:
        """See `Backend`."""
        return self._backend.max_tokens

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a prompt, as well as the backend can tell."""
        return count_tokens(self._backend, messages)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """See `Backend`."""
        self._watch.stop()
        try:
            return await self._backend.generate(messages)
        finally:
            self._watch.go()
