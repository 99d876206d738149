"""From a name to an agent: the built-in table, prefixes, `package.module:attribute` for others."""

import hashlib
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from agents.base import Agent, AgentContext, Observation
from normgym_envs.errors import ConfigError, UnknownNameError, nearest

AGENTS: Final[dict[str, str]] = {
    "oracle": "agents.planners:OracleAgent",
    "norm_blind": "agents.planners:NormBlindAgent",
    "wait": "agents.random_agent:WaitAgent",
    "cautious": "agents.cautious:CautiousAgent",
    "random": "agents.random_agent:RandomAgent",
    "imitator": "agents.imitator:ImitatorAgent",
    "bayesian": "agents.bayesian:BayesianAgent",
    "bayesian_grammar": "agents.bayesian:GrammarBayesianAgent",
    "bayesian_passive": "agents.bayesian:PassiveBayesianAgent",
}
"""Built-in agents by name; imported when asked for."""
PREFIXES: Final[dict[str, str]] = {
    "dqn": "agents.dqn.agent:find_dqn",
    "llm": "agents.llm.agent:find_llm",
}
"""Agents kept in files or elsewhere, by what stands before the colon: a function of the whole name
and the rest that returns an `AgentSource`."""
_KNOWN: Final = (*AGENTS, *(f"{prefix}:" for prefix in PREFIXES))
"""What an unknown name may be meant for."""


@dataclass(frozen=True)
class AgentSource:
    """Where instances of one agent come from."""

    name: str  # as the user gave it
    make: Callable[[], Agent]  # returns a new instance
    digest: str = ""  # of the file that defines it; results of an edited agent are not reused
    by_norm: Mapping[str, Callable[[], Agent]] | None = None  # one policy a norm; None: one for all
    notes: tuple[str, ...] = ()  # what a user should be told, e.g. what was left aside

    def make_for(self, norm: str) -> Agent:
        """Return a new instance for an episode about a norm.

        Raises:
            UnknownNameError: there is no policy for that norm.
        """
        if self.by_norm is None:
            return self.make()
        if norm not in self.by_norm:
            raise UnknownNameError(f"norm of agent {self.name!r}", norm, self.by_norm)
        return self.by_norm[norm]()


class FunctionAgent:
    """A function from observation to action, as an agent."""

    privileged: ClassVar[bool] = False

    def __init__(self, function: Callable[[Observation], Any]) -> None:
        """Wrap a function.

        Args:
            function: takes an observation, returns an action.
        """
        self._function = function

    def reset(self, context: AgentContext) -> None:
        """Begin an episode; a function remembers nothing."""

    def act(self, observation: Observation) -> int:
        """Return the function's answer, unchecked."""
        answer: int = self._function(observation)
        return answer


def list_agents() -> tuple[str, ...]:
    """Return the names of the built-in agents."""
    return tuple(AGENTS)


def make_agent(name: str) -> Agent:
    """Return a new instance of an agent.

    Args:
        name: as `find_agent` takes it.

    Raises:
        UnknownNameError: no built-in agent of that name.
        ConfigError: the module cannot be imported, what it names is no agent, or there is a policy
            for each of several norms and so no instance that would do for all.
        NormGymError: what a prefix raises, see `find_agent`.

    Example:
        >>> make_agent("wait").act({"action_mask": [1, 1, 1, 1, 1]})
        4
    """
    source = find_agent(name)
    if source.by_norm is not None and len(source.by_norm) > 1:
        raise ConfigError(
            f"agent {name!r} has one policy a norm, for {len(source.by_norm)} norms; "
            f"use find_agent({name!r}).make_for(norm)"
        )
    return source.make()


def find_agent(name: str) -> AgentSource:
    """Return where instances of an agent come from.

    Args:
        name: a built-in name; one of `PREFIXES`, a colon and what it asks for, e.g. "dqn:PATH"; or
            "package.module:attribute".

    Raises:
        UnknownNameError: no built-in agent, condition of a sweep or backend of that name.
        ConfigError: the module cannot be imported, what it names is no agent, there is nothing at
            a path, a sweep has several conditions, or a setting of a model is out of range.
        RecordError: a checkpoint is damaged, or a run has not finished.
        MissingExtraError: a prefix needs a package that is missing, e.g. torch.
    """
    prefix, colon, rest = name.partition(":")
    if colon and prefix in PREFIXES:
        module_name, _, attribute = PREFIXES[prefix].partition(":")
        found: AgentSource = getattr(importlib.import_module(module_name), attribute)(name, rest)
        return found
    if name not in AGENTS and ":" not in name:
        raise UnknownNameError("agent", name, _KNOWN)
    module_name, _, attribute = AGENTS.get(name, name).partition(":")
    where = f"agent {name!r}"
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"{where}: module {module_name!r} cannot be imported "
            f"({type(error).__name__}: {error}){nearest(f'{prefix}:', _KNOWN)}"
        ) from error
    target = getattr(module, attribute, None)
    if target is None:
        public = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise ConfigError(
            f"{where}: module {module_name!r} has no {attribute!r}{nearest(attribute, public)}"
        )
    return AgentSource(name, _read_target(where, target), _digest_file(target, module))


def _read_target(where: str, target: Any) -> Callable[[], Agent]:
    """Return how to make an instance of what a name stands for."""
    if inspect.isclass(target):
        missing = [key for key in ("reset", "act") if not callable(getattr(target, key, None))]
        if missing:
            raise ConfigError(
                f"{where}: class {target.__name__} has no {' and no '.join(missing)}; "
                "expected reset(context) and act(observation)"
            )
        return _make_checked(where, target)
    if not callable(target):
        raise ConfigError(
            f"{where}: a {type(target).__name__} cannot be called; expected a class with "
            f"reset and act, or a function from observation to action{nearest(where, AGENTS)}"
        )
    return lambda: FunctionAgent(target)


def _make_checked(where: str, target: type) -> Callable[[], Agent]:
    """Return a maker that explains a class which needs arguments."""

    def make() -> Agent:
        try:
            inspect.signature(target).bind()
        except TypeError as error:
            raise ConfigError(
                f"{where}: {target.__name__}() cannot be made without arguments ({error})"
            ) from None
        except ValueError:
            pass  # no signature to be had, e.g. of a class written in C
        instance: Agent = target()
        return instance

    return make


def _digest_file(target: Any, module: Any) -> str:
    """Return a hash of the file that defines an agent, of all files for a built-in one."""
    path = None
    for thing in (target, module):
        try:
            path = inspect.getsourcefile(thing)
            break
        except TypeError:
            continue
    if path is None or not Path(path).is_file():
        return ""
    here = Path(__file__).parent
    own = Path(path).resolve().is_relative_to(here)
    digest = hashlib.sha256()
    for source in sorted(here.rglob("*.py")) if own else [Path(path)]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
