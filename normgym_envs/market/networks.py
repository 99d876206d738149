"""Who can meet whom: networks drawn by networkx, as lists of unordered edges."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.mechanisms.base import LeverConfig, check_probability, check_range

STREAM: Final = 51
"""Mixed into a row's seed, so that networks do not share draws with anything else."""


@dataclass(frozen=True)
class NetworkConfig(LeverConfig):
    """A network and how its edges change. Source: SW section 5; the released scenario files."""

    kind: str = "complete"  # a name of NETWORKS
    neighbours: int = 4  # small_world: each agent's in the ring, even, >= 2
    rewiring: float = 0.1  # small_world: probability an edge is moved, [0, 1]
    density: float = 0.5  # erdos_renyi: probability of an edge, [0, 1]
    attachments: int = 2  # scale_free: edges of a new agent, >= 1
    edges: tuple[tuple[int, int], ...] = field(default=())  # custom: unordered, agents from 0
    strengthen: float = 0.0  # weight gained per accepted interaction, [0, 1]
    decay: float = 0.0  # share of weight lost per epoch, [0, 1]
    cut_below: float = 0.0  # edges under this weight are cut, [0, 1]

    def __post_init__(self) -> None:
        """Check the kind and the ranges."""
        if self.kind not in NETWORKS:
            raise UnknownNameError("network", self.kind, NETWORKS)
        for name in ("rewiring", "density", "strengthen", "decay", "cut_below"):
            check_probability(name, getattr(self, name))
        check_range("neighbours", self.neighbours, 2)
        check_range("attachments", self.attachments, 1)
        if self.edges and self.kind != "custom":
            raise ConfigError(f"edges belong to a custom network, not to {self.kind!r}")

    @property
    def is_dynamic(self) -> bool:
        """Whether edges change at all."""
        return bool(self.strengthen or self.decay or self.cut_below)


def make_network(config: NetworkConfig, num_agents: int, seed: int) -> NDArray[np.int64]:
    """Return the edges of a network.

    Args:
        config: which network.
        num_agents: N.
        seed: of the row; the same seed gives the same network.

    Returns:
        (M, 2) int64, smaller agent first, sorted.

    Raises:
        ConfigError: the population cannot form this network.
    """
    import networkx

    build = NETWORKS[config.kind]
    generator = np.random.default_rng([seed, STREAM])
    graph = build(networkx, config, num_agents, generator)
    edges = np.array([tuple(sorted(edge)) for edge in graph.edges], np.int64).reshape(-1, 2)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _need(config: NetworkConfig, num_agents: int, least: int, why: str) -> None:
    """Refuse a population that is too small."""
    if num_agents < least:
        raise ConfigError(
            f"population: {num_agents} agents cannot form a {config.kind} network; {why}"
        )


def _complete(networkx: Any, config: NetworkConfig, num_agents: int, _: Any) -> Any:
    """Everybody meets everybody."""
    _need(config, num_agents, 2, "expected 2 or more")
    return networkx.complete_graph(num_agents)


def _ring(networkx: Any, config: NetworkConfig, num_agents: int, _: Any) -> Any:
    """Everybody meets two neighbours."""
    _need(config, num_agents, 3, "expected 3 or more")
    return networkx.cycle_graph(num_agents)


def _star(networkx: Any, config: NetworkConfig, num_agents: int, _: Any) -> Any:
    """Everybody meets the first agent."""
    _need(config, num_agents, 2, "expected 2 or more")
    return networkx.star_graph(num_agents - 1)


def _erdos_renyi(networkx: Any, config: NetworkConfig, num_agents: int, generator: Any) -> Any:
    """Every edge exists with the same probability."""
    _need(config, num_agents, 2, "expected 2 or more")
    return networkx.fast_gnp_random_graph(num_agents, config.density, seed=generator)


def _small_world(networkx: Any, config: NetworkConfig, num_agents: int, generator: Any) -> Any:
    """Watts and Strogatz: a ring of near neighbours, some edges moved."""
    least = config.neighbours + 1
    _need(config, num_agents, least, f"expected more agents than neighbours ({config.neighbours})")
    if config.neighbours % 2:
        raise ConfigError(f"neighbours is {config.neighbours}; expected an even number")
    return networkx.watts_strogatz_graph(
        num_agents, config.neighbours, config.rewiring, seed=generator
    )


def _scale_free(networkx: Any, config: NetworkConfig, num_agents: int, generator: Any) -> Any:
    """Barabasi and Albert: new agents prefer well-connected ones."""
    least = config.attachments + 1
    _need(config, num_agents, least, f"expected more agents than attachments ({least - 1})")
    start = networkx.complete_graph(least)
    return networkx.barabasi_albert_graph(
        num_agents, config.attachments, seed=generator, initial_graph=start
    )


def _custom(networkx: Any, config: NetworkConfig, num_agents: int, _: Any) -> Any:
    """The edges that were given."""
    for a, b in config.edges:
        if a == b or not (0 <= a < num_agents and 0 <= b < num_agents):
            raise ConfigError(f"edges: [{a}, {b}] is no edge between two of {num_agents} agents")
    graph = networkx.empty_graph(num_agents)
    graph.add_edges_from(config.edges)
    return graph


NETWORKS: Final[dict[str, Callable[[Any, NetworkConfig, int, Any], Any]]] = {
    "complete": _complete,
    "ring": _ring,
    "star": _star,
    "erdos_renyi": _erdos_renyi,
    "small_world": _small_world,
    "scale_free": _scale_free,
    "custom": _custom,
}
"""Kind -> builder."""
