"""Scenario files: population, payoffs, network, levers and success criteria, validated.

A shipped scenario is a TOML file of `scenarios/`; a user's own passes through the same checks. The
numbers of a scenario do not say which preset it is played in: that is chosen when it is played.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from normgym_envs.errors import ConfigError, NormGymError, UnknownNameError
from normgym_envs.market.archetypes import ARCHETYPES
from normgym_envs.market.networks import NETWORKS, NetworkConfig
from normgym_envs.market.payoffs import Payoffs
from normgym_envs.market.proxy import DEFAULT_WEIGHTS, check_weights
from normgym_envs.market.soft_label import DEFAULT_SHARPNESS
from normgym_envs.mechanisms import (
    LEVERS,
    CircuitBreakerConfig,
    CollusionConfig,
    ControllerConfig,
    ExternalityConfig,
    RandomAuditConfig,
    ReputationDecayConfig,
    StakingConfig,
    TransactionTaxConfig,
)

__all__ = [
    "CRITERIA",
    "SCENARIOS",
    "Criterion",
    "Levers",
    "Scenario",
    "ScenarioError",
    "list_scenarios",
    "load_scenario",
    "make_scenario",
]

_FOLDER: Final = Path(__file__).parent / "scenarios"
SCENARIOS: Final = (
    "baseline",
    "strict_governance",
    "adaptive_governance",
    "adversarial_redteam",
    "misalignment_sweep",
    "threshold_dancer",
    "collusion_detection",
)
"""The seven of SW Table 2, in its order."""

CRITERIA: Final = {
    "epochs": "epochs played",
    "toxicity": "mean of the epochs' toxicity, an empty epoch counting 0",
    "welfare": "welfare of the run",
    "flagged_pairs": "pairs flagged by the last collusion report",
    "ecosystem_risk": "risk in the last collusion report",
    "fines": "fines for collusion",
}
"""What a success criterion may look at."""


class ScenarioError(ConfigError):
    """A scenario that is malformed; names file and field."""


class _Model(BaseModel):
    """Frozen, and no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Group(_Model):
    """Agents of one archetype, next to each other in the order of registration."""

    archetype: str
    count: Annotated[int, Field(ge=1)]


class Criterion(_Model):
    """A success criterion. `read` says whether the released checker looks at it."""

    name: str
    at_least: float | None = None
    at_most: float | None = None
    read: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Want exactly one bound."""
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("expected one of at_least and at_most")
        return self

    @property
    def words(self) -> str:
        """The criterion as text, e.g. "toxicity <= 0.5"."""
        if self.at_least is not None:
            return f"{self.name} >= {self.at_least:g}"
        return f"{self.name} <= {self.at_most:g}"

    def holds(self, value: float | None) -> bool | None:
        """Return whether a value passes; None when there is no value to look at."""
        if value is None:
            return None
        if self.at_least is not None:
            return value >= self.at_least
        return self.at_most is not None and value <= self.at_most


class Levers(_Model):
    """Levers that are on. Fields are the names of `mechanisms.LEVERS`."""

    transaction_tax: TransactionTaxConfig | None = None
    reputation_decay: ReputationDecayConfig | None = None
    staking: StakingConfig | None = None
    circuit_breaker: CircuitBreakerConfig | None = None
    random_audit: RandomAuditConfig | None = None
    collusion: CollusionConfig | None = None
    externality: ExternalityConfig | None = None


class Scenario(_Model):
    """Everything a run starts from, apart from seed and preset."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    title: str = ""
    epochs: Annotated[int, Field(ge=1)] = 20
    """Source: SW Figure 4; the released files have other horizons."""
    steps: Annotated[int, Field(ge=1)] = 15
    """Per epoch. Source: not specified in SW; the runs behind its tables."""
    posts: Annotated[int, Field(ge=0)] = 10
    """Feed posts per agent and epoch. Source: the released scenario files."""
    resources: Annotated[float, Field(ge=0)] = 100.0
    """An agent's at the start, payoff points. Source: the released runs."""
    population: Annotated[tuple[Group, ...], Field(min_length=1)]
    weights: tuple[float, float, float, float] = DEFAULT_WEIGHTS
    sharpness: Annotated[float, Field(gt=0)] = DEFAULT_SHARPNESS
    payoffs: Payoffs = Payoffs()
    network: NetworkConfig = NetworkConfig()
    levers: Levers = Levers()
    controller: ControllerConfig | None = None
    criteria: tuple[Criterion, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Look at what concerns several fields."""
        check_weights(self.weights)
        levers = self.levers
        if levers.staking is not None and levers.staking.minimum > self.resources:
            raise ValueError(
                f"levers.staking.minimum is {levers.staking.minimum:g}, above the resources "
                f"everybody starts with ({self.resources:g}): nobody could ever act"
            )
        steered = (levers.circuit_breaker, levers.random_audit, levers.collusion)
        if self.controller is not None and not any(steered):
            raise ValueError(
                "controller has nothing to steer; expected circuit_breaker, random_audit or "
                "collusion among the levers"
            )
        if levers.staking is not None and levers.staking.slashing and not any(steered[:2]):
            raise ValueError(
                "levers.staking.slashing needs violations; expected circuit_breaker or "
                "random_audit among the levers"
            )
        return self

    @property
    def archetypes(self) -> tuple[str, ...]:
        """The archetype of each agent, in order of registration."""
        return tuple(group.archetype for group in self.population for _ in range(group.count))

    @property
    def num_agents(self) -> int:
        """N."""
        return sum(group.count for group in self.population)

    def without_levers(self) -> "Scenario":
        """Return the paired control: same population, payoffs and rho, every other lever off."""
        kept = Levers(externality=self.levers.externality)
        return self.model_copy(update={"levers": kept, "controller": None})

    def with_lever(self, lever: str, **values: Any) -> "Scenario":
        """Return a copy with fields of one lever changed, which is switched on if it was off.

        Raises:
            UnknownNameError: no such lever.
            ScenarioError: values outside their range.
        """
        if lever not in LEVERS:
            raise UnknownNameError("lever", lever, LEVERS)
        data = self.model_dump()
        data["levers"][lever] = (data["levers"][lever] or {}) | values
        return make_scenario(data, f"scenario {self.name!r}")


def list_scenarios() -> tuple[str, ...]:
    """Return the names of the shipped scenarios: SW's seven first."""
    found = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    return tuple(sorted(found, key=lambda n: SCENARIOS.index(n) if n in SCENARIOS else 99))


def load_scenario(name: str | Path) -> Scenario:
    """Return a shipped scenario by name, or one from a .toml file.

    Args:
        name: e.g. "baseline", or a path that ends in .toml.

    Raises:
        UnknownNameError: no such scenario, archetype, lever, network or criterion.
        ScenarioError: the file cannot be read or is malformed.

    Example:
        >>> load_scenario("baseline").num_agents
        5
    """
    if isinstance(name, str) and not name.endswith(".toml"):
        if name not in list_scenarios():
            raise UnknownNameError("scenario", name, list_scenarios())
        path = _FOLDER / f"{name}.toml"
    else:
        path = Path(name)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: no TOML: {error}") from None
    return make_scenario(data, str(path))


def make_scenario(data: Mapping[str, Any], source: str = "scenario") -> Scenario:
    """Return a scenario from plain values.

    Args:
        data: as in a file.
        source: where they come from, for messages.

    Raises:
        UnknownNameError: no such archetype, lever, network or criterion.
        ScenarioError: anything else that is wrong.
    """
    _check_names(data, source)
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "scenario"
        message = first["msg"].removeprefix("Value error, ")
        raise ScenarioError(f"{source}: {field}: {message}") from None
    except NormGymError as error:
        raise ScenarioError(f"{source}: {error}") from None


def _check_names(data: Mapping[str, Any], source: str) -> None:
    """Look names up first, so that a wrong one is answered with near ones."""
    population, network = data.get("population"), data.get("network")
    if isinstance(population, list | tuple):
        for place, group in enumerate(population):
            if isinstance(group, dict) and isinstance(group.get("archetype"), str):
                _look_up("archetype", group["archetype"], ARCHETYPES, source, f"population.{place}")
    if isinstance(data.get("levers"), dict):
        for name in data["levers"]:
            _look_up("lever", name, LEVERS, source, "levers")
    if isinstance(network, dict) and isinstance(network.get("kind"), str):
        _look_up("network", network["kind"], NETWORKS, source, "network.kind")
    if isinstance(data.get("criteria"), list | tuple):
        for place, one in enumerate(data["criteria"]):
            if isinstance(one, dict) and isinstance(one.get("name"), str):
                _look_up("criterion", one["name"], CRITERIA, source, f"criteria.{place}")


def _look_up(what: str, name: str, accepted: Any, source: str, field: str) -> None:
    """Refuse an unknown name, with file and field."""
    if name not in accepted:
        raise UnknownNameError(f"{what} ({source}: {field})", name, accepted)
