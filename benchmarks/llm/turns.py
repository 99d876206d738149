"""Shortened suites: the same episodes with fewer turns, for trying things out."""

import dataclasses

from benchmarks.suite import Suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import ConfigError


def shorten(suite: Suite, interaction: int | None, test: int | None) -> Suite:
    """Return a suite whose episodes end earlier; its name and hash say that it is another one.

    Args:
        suite: what is shortened.
        interaction: most turns of an interaction, None for as many as now.
        test: most turns of a test, None for as many as now.

    Raises:
        ConfigError: a number below 1.
    """
    for name, turns in (("--interaction-turns", interaction), ("--test-turns", test)):
        if turns is not None and turns < 1:
            raise ConfigError(f"{name} is {turns}; expected at least 1")
    if interaction is None and test is None:
        return suite
    specs = []
    for spec in suite.specs:
        most = test if spec.phase in TEST_PHASES else interaction
        specs.append(
            spec if most is None else dataclasses.replace(spec, limit=min(spec.limit, most))
        )
    ending = "-".join("all" if turns is None else str(turns) for turns in (interaction, test))
    return dataclasses.replace(suite, name=f"{suite.name}-turns-{ending}", specs=tuple(specs))
