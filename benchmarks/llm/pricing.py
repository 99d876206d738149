"""What tokens cost, from a dated table; what nobody has told is unknown, never 0."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from agents.llm import Decision, Usage
from normgym_envs.errors import ConfigError

TABLE: Final = Path(__file__).with_name("prices.toml")
_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None  # of input that was read from a cache; None: as other input
    as_of: str = ""  # date of the price, "" when the user gave it

    def cost(self, usage: Usage) -> float | None:
        """Return dollars for one request; None when its tokens are unknown.

        Cached tokens are part of the input and are not counted twice.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        rate = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - cached
        dollars = fresh * self.input + cached * rate + usage.output_tokens * self.output
        return dollars / _MILLION


def find_price(model: str) -> Price | None:
    """Return the price of a model by name, None when the table has none.

    Args:
        model: "PROVIDER/NAME"; a dated snapshot of a listed model has the price of that model.
    """
    table = _load_table()
    if model in table:
        return table[model]
    for name, price in sorted(table.items(), key=lambda item: -len(item[0])):
        rest = model.removeprefix(name)
        if rest != model and rest[:1] in "-@" and rest[1:].replace("-", "").isdigit():
            return price
    return None


def read_price(text: str) -> Price:
    """Return a price that a user has typed.

    Args:
        text: "INPUT,OUTPUT" or "INPUT,OUTPUT,CACHED", dollars for a million tokens.

    Raises:
        ConfigError: something else.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= number < 1e6 for number in numbers):
        raise ConfigError(
            f"--price is {text!r}; expected dollars for a million tokens as INPUT,OUTPUT or "
            "INPUT,OUTPUT,CACHED, e.g. 3,15 or 3,15,0.3"
        )
    return Price(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None)


def sum_cost(price: Price | None, decisions: Iterable[Decision]) -> float | None:
    """Return dollars for some decisions; None when the price or any of their tokens is unknown."""
    if price is None:
        return None
    total = 0.0
    for decision in decisions:
        for usage in decision.usage:
            dollars = price.cost(usage)
            if dollars is None:
                return None
            total += dollars
    return total


def show_dollars(amount: float | None) -> str:
    """Return an amount as people read it."""
    return "unknown" if amount is None else f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.4f}"


@cache
def _load_table() -> dict[str, Price]:
    """Return the prices that ship."""
    content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    as_of = str(content["as_of"])
    return {
        name: Price(
            input=float(row["input"]),
            output=float(row["output"]),
            cached=float(row["cached"]) if "cached" in row else None,
            as_of=str(row.get("as_of", as_of)),
        )
        for name, row in content["models"].items()
    }
