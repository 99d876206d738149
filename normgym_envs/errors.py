"""Errors of this project. Each message names the value, what was expected, and what is near it."""

import difflib
import operator
from collections.abc import Iterable


class NormGymError(Exception):
    """Base of every error this project raises on purpose."""


class UnknownNameError(NormGymError, KeyError):
    """A norm, layout, agent, suite, family or option that does not exist."""

    def __init__(self, what: str, value: object, accepted: Iterable[str]) -> None:
        """Build the message.

        Args:
            what: kind of thing that was looked up, e.g. "norm".
            value: the name that was not found.
            accepted: all names that exist.
        """
        self.what = what
        self.value = value
        self.accepted = tuple(accepted)
        super().__init__(f"unknown {what} {value!r}{nearest(value, self.accepted)}")

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error cross process borders."""
        return type(self), (self.what, self.value, self.accepted)

    def __str__(self) -> str:
        """Return the message (KeyError would show its repr)."""
        return str(self.args[0])


class LayoutError(NormGymError, ValueError):
    """A map file that is malformed or breaks a condition of the rules."""


class NormError(NormGymError, ValueError):
    """A norm row that is malformed, or that a layout cannot host."""


class SpecError(NormGymError, ValueError):
    """An episode specification that no engine can start from."""


class ActionError(NormGymError, ValueError):
    """Actions of the wrong type, shape, range, or for the wrong agents."""


class ConfigError(NormGymError, ValueError):
    """A setting outside its range."""


class SeedError(NormGymError, ValueError):
    """A seed that is not an integer in [0, 2**63]."""


class StateError(NormGymError, RuntimeError):
    """A call that the present state does not allow, such as `step` before `reset`."""


class RecordError(NormGymError, ValueError):
    """A suite or record file that is damaged or belongs to something else."""


class ScenarioError(NormGymError, RuntimeError):
    """No scenario could be built within the allowed number of candidates."""


class MissingExtraError(NormGymError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


def nearest(value: object, accepted: Iterable[str], limit: int = 3) -> str:
    """Return the tail of an error message: near names, or the whole list when it is short.

    Args:
        value: the name that was not found.
        accepted: all names that exist.
        limit: largest number of near names.

    Returns:
        str, starting with "; " or empty when nothing is accepted.
    """
    names = list(accepted)
    close = difflib.get_close_matches(str(value), names, n=limit, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(repr(name) for name in close) + "?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    return f"; expected one of: {shown}"


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return a number of things as int.

    Args:
        name: of the argument, for the message.
        value: what was given.
        low: least accepted.
        high: most accepted, None for no limit.

    Raises:
        ConfigError: not an integer (bool is none), or out of range.
    """
    expected = f"at least {low}" if high is None else f"{low} to {high}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ConfigError(f"{name} is {value!r}; expected an integer, {expected}")
    if number < low or (high is not None and number > high):
        raise ConfigError(f"{name} is {value}; expected {expected}")
    return number


def check_seed(seed: object) -> int:
    """Return `seed` as int.

    Raises:
        SeedError: not an integer (bool is none), or outside [0, 2**63].
    """
    if isinstance(seed, bool):
        raise SeedError(f"seed is {seed!r}; expected an integer from 0 to 2**63")
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise SeedError(f"seed is {seed!r}; expected an integer from 0 to 2**63") from None
    if not 0 <= number <= 2**63:
        raise SeedError(f"seed is {number}; expected an integer from 0 to 2**63")
    return number
