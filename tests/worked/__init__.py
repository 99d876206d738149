"""Small situations with results worked out by hand, for the plain restatement and the engine alike.

`form.py` says how an example is written and compared; the others hold the examples.
"""

from worked.collisions import COLLISIONS
from worked.form import MAPS, Example, PlanExample
from worked.goals import GOALS
from worked.norms import NORMS
from worked.plans import PLANS

__all__ = ["COLLISIONS", "EXAMPLES", "GOALS", "MAPS", "NORMS", "PLANS", "Example", "PlanExample"]

EXAMPLES: tuple[Example, ...] = (*NORMS, *COLLISIONS, *GOALS)
"""All one-step examples."""
