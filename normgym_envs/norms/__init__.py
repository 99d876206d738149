"""Norms: the rows of the library, the kinds they are made of, and their places on layouts."""

from normgym_envs.norms.library import (
    describe_condition,
    get_norm,
    goal_kinds,
    list_norms,
    load_norms,
    num_slots,
)

__all__ = [
    "describe_condition",
    "get_norm",
    "goal_kinds",
    "list_norms",
    "load_norms",
    "num_slots",
]
