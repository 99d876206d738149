"""What agents see: the flat vector, the symbolic dict and the text, of the same public facts."""

from normgym_envs.observations.flat import flat_size, flat_space, observe_flat
from normgym_envs.observations.symbolic import Symbolic, observe_symbolic, symbolic_space
from normgym_envs.observations.text import observe_text, text_space

OBSERVATIONS = ("flat", "symbolic", "text")
"""Observations by name."""

__all__ = [
    "OBSERVATIONS",
    "Symbolic",
    "flat_size",
    "flat_space",
    "observe_flat",
    "observe_symbolic",
    "observe_text",
    "symbolic_space",
    "text_space",
]
