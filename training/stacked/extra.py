"""torch, or the message that names its extra; every module of this package takes it from here."""

from normgym_envs.errors import MissingExtraError

try:
    import torch
except ImportError as error:
    raise MissingExtraError(
        "the stacked learner needs torch; install the extra: pip install 'normgym[rl]'"
    ) from error

__all__ = ["torch"]
