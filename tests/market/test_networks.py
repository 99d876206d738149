"""Networks: their edges, that a seed fixes them, and populations that cannot form them."""

import numpy as np
import pytest

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.market.networks import NETWORKS, NetworkConfig, make_network


def test_small_networks_by_hand() -> None:
    assert make_network(NetworkConfig("complete"), 3, 0).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert make_network(NetworkConfig("ring"), 4, 0).tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert make_network(NetworkConfig("star"), 4, 0).tolist() == [[0, 1], [0, 2], [0, 3]]
    custom = NetworkConfig("custom", edges=((2, 0), (1, 2), (0, 2)))
    assert make_network(custom, 3, 0).tolist() == [[0, 2], [1, 2]]
    still = NetworkConfig("small_world", neighbours=4, rewiring=0.0)
    assert len(make_network(still, 8, 0)) == 16


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_seed_fixes_the_network_and_its_edges_are_sorted(kind: str) -> None:
    config = NetworkConfig(kind)
    first, second = make_network(config, 12, 5), make_network(config, 12, 5)
    assert (first == second).all()
    assert (first[:, 0] < first[:, 1]).all()
    keys = first[:, 0] * 12 + first[:, 1]
    assert (np.diff(keys) > 0).all()
    if kind in ("erdos_renyi", "small_world", "scale_free"):
        others = [make_network(config, 12, seed).tolist() for seed in range(6)]
        assert any(other != first.tolist() for other in others)


def test_scale_free_has_hubs_and_the_right_number_of_edges() -> None:
    edges = make_network(NetworkConfig("scale_free", attachments=2), 300, 1)
    degree = np.bincount(edges.ravel())
    assert len(edges) == 3 + 2 * 297
    assert degree.max() > 20


@pytest.mark.parametrize(
    ("config", "number"),
    [
        (NetworkConfig("complete"), 1),
        (NetworkConfig("ring"), 2),
        (NetworkConfig("star"), 1),
        (NetworkConfig("erdos_renyi"), 1),
        (NetworkConfig("small_world", neighbours=4), 4),
        (NetworkConfig("scale_free", attachments=5), 5),
    ],
)
def test_a_population_too_small_for_its_network_is_refused(config, number: int) -> None:
    with pytest.raises(ConfigError, match=f"{number} agents cannot form a {config.kind}"):
        make_network(config, number, 0)


def test_settings_that_make_no_network_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="small_world"):
        NetworkConfig("smal_world")
    with pytest.raises(ConfigError, match="even"):
        make_network(NetworkConfig("small_world", neighbours=3), 9, 0)
    with pytest.raises(ConfigError, match="density"):
        NetworkConfig("erdos_renyi", density=2.0)
    with pytest.raises(ConfigError, match="custom"):
        NetworkConfig("ring", edges=((0, 1),))
    with pytest.raises(ConfigError, match=r"\[0, 7\]"):
        make_network(NetworkConfig("custom", edges=((0, 7),)), 3, 0)
