"""Errors carry their message across process borders and name what is near."""

import pickle

from normgym_envs.errors import UnknownNameError


def test_unknown_names_survive_pickling() -> None:
    error = UnknownNameError("norm", "evn-turns-only", ["even-turns-only", "odd-turns-only"])
    twin = pickle.loads(pickle.dumps(error))
    assert isinstance(twin, KeyError)
    assert str(twin) == str(error)
    assert "did you mean 'even-turns-only'" in str(twin)
