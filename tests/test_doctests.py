"""Every example in a docstring runs and gives what it says."""

import doctest
import importlib
import pkgutil

import pytest

import agents
import benchmarks
import normgym_envs
import training
from normgym_envs.errors import MissingExtraError

MODULES = [
    module.name
    for package in (normgym_envs, agents, training, benchmarks)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingExtraError as error:
        pytest.skip(f"an optional package is missing: {error}")
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0
