"""The ideal observer: an exact posterior over a library of norms, and plans that trust it.

It sees what every agent sees. Each own move of anybody, sanctioned or not, is evidence; the
likelihood allows for sanctions that fail to come and sanctions without a violation. It never reads
the hidden norm, and it says so when no hypothesis explains what it has seen.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.base import AgentContext, Belief, Observation
from agents.reasoning import NormReasoner, make_reasoner
from normgym_envs.constants import MAX_NORMS, TEST_PHASES, Action, Goal1
from normgym_envs.errors import ConfigError, NormGymError
from normgym_envs.norms.library import goal_kinds, load_norms, num_slots
from normgym_envs.norms.parameters import KINDS
from normgym_envs.observations.rebuild import StateTracker
from normgym_envs.protocol.generator import list_possible_norms
from normgym_envs.types import Norm

PASSIVE, ACTIVE = "passive", "active"
MODES = (PASSIVE, ACTIVE)


class ContradictionError(NormGymError, RuntimeError):
    """No hypothesis explains the evidence."""


class BayesianAgent:
    """Exact Bayesian inference over a norm library, then planning under the posterior.

    In mode `passive` it makes no move that is likely to break the norm. In mode `active` it makes
    such a move when the expected gain in knowing the norm is worth more than the expected sanction.
    In tests it keeps to what it has learnt and plans so that none of the norms that are still
    credible is broken.

    Source: not specified in NG; the sanction likelihood follows the usual noise model of Bayesian
    rule induction.
    """

    privileged: ClassVar[bool] = False

    def __init__(
        self,
        mode: str = ACTIVE,
        library: Sequence[Norm] | None = None,
        *,
        false_sanction: float = 0.0,
        missed_sanction: float = 0.0,
        credible: float = 0.01,
        caution: float = 0.1,
        stake: float = 120.0,
        penalty: float = 20.0,
    ) -> None:
        """Choose a mode, hypotheses and a noise model.

        Args:
            mode: "passive" or "active".
            library: hypotheses, by default the norm library; uniform prior over those whose
                episodes have the goals and the population that the agent sees.
            false_sanction: probability that a permissible move is sanctioned, [0, 1).
            missed_sanction: probability that a violation is not, [0, 1).
            credible: posterior probability from which on a hypothesis is respected in plans.
            caution: largest probability of a violation that a passive move may have.
            stake: reward points that certain knowledge is worth: six tests of 20 points.
            penalty: reward points of a sanction.

        Raises:
            ConfigError: unknown mode, empty library, or a probability out of range.
        """
        if mode not in MODES:
            raise ConfigError(f"mode is {mode!r}; expected one of {', '.join(MODES)}")
        noise = (("false_sanction", false_sanction), ("missed_sanction", missed_sanction))
        for name, value in noise:
            if not 0 <= value < 1:
                raise ConfigError(f"{name} is {value}; expected a probability in [0, 1)")
        self.library = tuple(load_norms() if library is None else library)
        if not self.library:
            raise ConfigError("library is empty; expected at least one norm")
        self.mode = mode
        self._false, self._missed = false_sanction, missed_sanction
        self._credible, self._caution = credible, caution
        self._stake, self._penalty = stake, penalty
        self._is_test = False
        self._rng = np.random.default_rng(0)
        self._begin()

    def _begin(self) -> None:
        self.log_posterior: npt.NDArray[np.float64] = np.zeros(len(self.library))
        self._tracker = StateTracker()
        self._reasoner: NormReasoner | None = None
        self._knows_task = False

    def reset(self, context: AgentContext) -> None:
        """Begin an episode; a carried belief brings its posterior along."""
        self._begin()
        self._rng = context.rng
        self._is_test = context.phase in TEST_PHASES
        if context.belief is not None:
            self._recall(context.belief.details)

    @property
    def posterior(self) -> npt.NDArray[np.float64]:
        """Probability of each hypothesis, (n,)."""
        weights = np.exp(self.log_posterior - self.log_posterior.max())
        return np.asarray(weights / weights.sum())

    def observe(self, observation: Observation) -> None:
        """Take in a turn on which there is nothing to choose."""
        self._watch(observation)

    def act(self, observation: Observation) -> int:
        """Take in a turn and choose."""
        self._watch(observation)
        assert self._reasoner is not None
        slot = int(observation["slot"][0])
        rows = self._tracker.rows
        posterior = self.posterior
        forbids = self._reasoner.judge_actions(rows, slot)
        risk = forbids @ posterior
        if self.mode == ACTIVE and not self._is_test:
            probe = self._find_probe(forbids, posterior, risk)
            if probe is not None:
                return probe
        order = np.argsort(-posterior, kind="stable")
        believed = [int(i) for i in order[:MAX_NORMS] if posterior[i] >= self._credible]
        action = self._reasoner.plan(rows, slot, believed or [int(order[0])])
        if action == Action.WAIT and len(believed) > 1:
            action = self._reasoner.plan(rows, slot, believed[:1])
        if self._reasoner.walks_back(rows, slot, action) and self._rng.random() < 0.5:
            return int(Action.WAIT)  # as people do: whoever always steps aside never arrives
        limit = 0.5 if self._is_test else self._caution
        return action if risk[action] <= limit else int(Action.WAIT)

    def belief(self) -> Belief:
        """Return the most probable norm in words, with the posterior as details."""
        posterior = self.posterior
        best = int(np.argmax(posterior))
        likely = {self.library[i].id: float(posterior[i]) for i in np.flatnonzero(posterior > 1e-9)}
        return Belief(
            self.library[best].sentence, min(float(posterior[best]), 1.0), {"posterior": likely}
        )

    def _watch(self, observation: Observation) -> None:
        """Update the posterior by everybody's last move."""
        self._tracker.update(observation)
        if self._reasoner is None:
            assert self._tracker.layout is not None
            self._reasoner = make_reasoner(self._tracker.layout, self.library)
        if not self._knows_task and observation["goal1_kind"][0] >= 0:
            self._knows_task = True
            self._rule_out_other_tasks(observation)
        if self._is_test:
            return
        moved = self._tracker.new_cells[0] >= 0
        if not moved.any():
            return
        forbids = self._reasoner.judge(self._tracker.before, self._tracker.new_cells)[0]
        shown = self._tracker.rows["sanctioned"][0] != 0
        with np.errstate(divide="ignore"):
            if_forbidden = np.log(np.where(shown, 1 - self._missed, self._missed))
            if_allowed = np.log(np.where(shown, self._false, 1 - self._false))
        gain = np.where(forbids, if_forbidden, if_allowed)[:, moved].sum(axis=1)
        self.log_posterior = self.log_posterior + gain
        if np.isneginf(self.log_posterior).all():
            raise ContradictionError(
                f"no hypothesis of {len(self.library)} explains the sanctions seen up to turn "
                f"{int(observation['turn'][0])} with false_sanction={self._false} and "
                f"missed_sanction={self._missed}; raise the noise or widen the library"
            )
        self.log_posterior -= self.log_posterior.max()

    def _rule_out_other_tasks(self, observation: Observation) -> None:
        """Give no weight to norms whose episodes have other goals or another population."""
        task = (
            Goal1(int(observation["goal1_kind"][0])),
            int(observation["goal2_door"][0]) < 0,
            len(observation["present"]),
        )
        fits = np.array([(*goal_kinds(n), num_slots(n)) == task for n in self.library])
        if fits.any():
            self.log_posterior = np.where(fits, self.log_posterior, -np.inf)

    def _find_probe(
        self,
        forbids: npt.NDArray[np.bool_],
        posterior: npt.NDArray[np.float64],
        risk: npt.NDArray[np.float64],
    ) -> int | None:
        """Return the move whose outcome teaches more than its sanction costs, if there is one.

        Worth is the expected rise of the best hypothesis' probability times the stake.
        """
        best = posterior.max()
        if best > 1 - self._credible:
            return None
        if_shown = np.where(forbids, 1 - self._missed, self._false)
        after_sanction = (if_shown * posterior).max(axis=1)
        after_none = ((1 - if_shown) * posterior).max(axis=1)
        worth = self._stake * (after_sanction + after_none - best) - self._penalty * risk
        action = int(np.argmax(worth))
        return action if worth[action] > 1e-9 and risk[action] > self._caution else None

    def _recall(self, details: Mapping[str, Any]) -> None:
        """Take over the posterior of an interaction."""
        known = details.get("posterior")
        if not isinstance(known, Mapping):
            return
        weights = np.array([float(known.get(norm.id, 0.0)) for norm in self.library])
        with np.errstate(divide="ignore"):
            self.log_posterior = np.log(weights / weights.sum())


class PassiveBayesianAgent(BayesianAgent):
    """The ideal observer that never breaks the norm on purpose."""

    def __init__(self) -> None:
        """Use the norm library without noise."""
        super().__init__(PASSIVE)


class GrammarBayesianAgent(BayesianAgent):
    """The ideal observer whose hypotheses are the library and every norm that can be generated."""

    def __init__(self) -> None:
        """Use more than a thousand hypotheses without noise."""
        super().__init__(ACTIVE, list_grammar())


@cache
def list_grammar() -> tuple[Norm, ...]:
    """Return the library and every norm that the generator knows."""
    generated = [norm for kind in KINDS for norm in list_possible_norms(kind)]
    return (*load_norms(), *generated)
