"""The soft-label interaction market: traders, soft labels, governance levers and their metrics.

Source: SW. A scenario is loaded with `load_scenario`, played with `play`, measured with
`metrics.measure`, and written down with `event_log.write_log`. Levers are in `mechanisms`.
"""

from normgym_envs.market.market import Market, Runs, play
from normgym_envs.market.scenario import Scenario, list_scenarios, load_scenario, make_scenario

__all__ = [
    "Market",
    "Runs",
    "Scenario",
    "list_scenarios",
    "load_scenario",
    "make_scenario",
    "play",
]
