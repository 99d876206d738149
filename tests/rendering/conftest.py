"""Worlds in the middle of things."""

import pytest
from played_worlds import play_rows

from normgym_envs import BatchEngine


@pytest.fixture(scope="session")
def engine() -> BatchEngine:
    """Return rows of every place, some forty turns in."""
    return play_rows(40, 40)
