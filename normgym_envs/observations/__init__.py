"""What agents see of the same public facts: flat vector, symbolic dict, text, picture."""

from normgym_envs.observations.flat import flat_size, flat_space, observe_flat
from normgym_envs.observations.image import image_space, observe_image
from normgym_envs.observations.symbolic import Symbolic, observe_symbolic, symbolic_space
from normgym_envs.observations.text import observe_text, text_space

OBSERVATIONS = ("flat", "box", "symbolic", "text", "image")
"""Observations by name."""

__all__ = [
    "OBSERVATIONS",
    "Symbolic",
    "flat_size",
    "flat_space",
    "image_space",
    "observe_flat",
    "observe_image",
    "observe_symbolic",
    "observe_text",
    "symbolic_space",
    "text_space",
]
