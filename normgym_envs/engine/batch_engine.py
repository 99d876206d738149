"""The one door from Python to the compiled world."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import (
    COLLISION_PENALTY,
    GOAL_REWARD,
    MAX_NORMS,
    MAX_SLOTS,
    NUM_ACTIONS,
    STEP_COST,
    TEST_PHASES,
    VIOLATION_PENALTY,
    Ending,
    Goal1,
)
from normgym_envs.engine.checks import PREDICTIONS, check_drivers, check_frame, check_persons
from normgym_envs.engine.loading import are_actions, are_valid, begin_row
from normgym_envs.engine.state import SCRATCH_DTYPE, allocate_states
from normgym_envs.engine.step import (
    judge_transitions,
    plan_rows,
    step_rows,
    write_masks,
)
from normgym_envs.engine.threads import MIN_ROWS, check_num_threads, step_rows_threaded
from normgym_envs.errors import (
    ActionError,
    ConfigError,
    SpecError,
    UnknownNameError,
)
from normgym_envs.norms.placement import place_norms
from normgym_envs.types import (
    BoolArray,
    EpisodeSpec,
    Layout,
    Norm,
    RecordArray,
)

DEFAULT_REWARD_TERMS = (GOAL_REWARD, STEP_COST, COLLISION_PENALTY, VIOLATION_PENALTY)
"""Goal, step cost, collision, sanction; reward points. Source: NG App. "Reward"."""


class BatchEngine:
    """Many episodes at once, each a row of one structured array.

    The engine never resets by itself: a row that has ended stays as it is until it is loaded
    again. Rows do not influence each other, so the results of a row depend neither on the batch
    nor on the process.

    Attributes:
        layouts: the layouts rows may use.
        norms: the norms rows may hold.
        states: (B,) STATE_DTYPE, the whole state; a copy of a row is a snapshot.

    Example:
        >>> from normgym_envs import BatchEngine, draw_episode, get_layout, load_norms
        >>> engine = BatchEngine([get_layout("cafe")], load_norms(), num_rows=2)
        >>> for row in range(2):
        ...     engine.load(row, draw_episode("cafe", "even-turns-only", seed=row))
        >>> engine.step(np.full((2, 10), 4, np.int8))
        >>> engine.states["turn"].tolist()
        [1, 1]
    """

    def __init__(
        self,
        layouts: Sequence[Layout],
        norms: Sequence[Norm],
        num_rows: int,
        *,
        num_threads: int = 1,
    ) -> None:
        """Place all norms on all layouts and allocate the rows.

        Args:
            layouts: layouts that rows may use, at least one.
            norms: norms that rows may hold; may be empty.
            num_rows: B, number of rows, at least 1.
            num_threads: threads that step batches of at least 256 rows; smaller ones are stepped
                by one. Results are the same.

        Raises:
            ConfigError: no layout, fewer than one row, or more threads than processors.
            NormError: a layout cannot host a norm.
        """
        if not layouts:
            raise ConfigError("layouts is empty; expected at least one layout")
        if num_rows < 1:
            raise ConfigError(f"num_rows is {num_rows}; expected at least 1")
        self.layouts = tuple(layouts)
        self.norms = tuple(norms)
        self._layout_index = {layout.name: i for i, layout in enumerate(self.layouts)}
        self._norm_index = {norm.id: i for i, norm in enumerate(self.norms)}
        if len(self._norm_index) < len(self.norms) or len(self._layout_index) < len(self.layouts):
            names = [norm.id for norm in self.norms] + [place.name for place in self.layouts]
            double = next(name for name in names if names.count(name) > 1)
            raise ConfigError(f"{double!r} is given twice; expected norms and layouts once each")
        self._tables = place_norms(self.layouts, self.norms)
        check_num_threads(num_threads)
        self._pads = np.zeros(num_threads if num_rows >= MIN_ROWS else 1, SCRATCH_DTYPE)
        self.states: RecordArray = allocate_states(num_rows)
        self.states["ending"] = Ending.TRUNCATED  # nothing runs before `load`
        self._blank = allocate_states(1)[0]
        self._enterable = np.ascontiguousarray(self._tables.layouts["enterable"])

    @property
    def num_rows(self) -> int:
        """Number of rows, B."""
        return len(self.states)

    def load(
        self,
        row: int,
        spec: EpisodeSpec,
        *,
        reward_terms: Sequence[float] = DEFAULT_REWARD_TERMS,
        drivers: Sequence[int] | None = None,
        believed: Sequence[str] = (),
    ) -> None:
        """Start an episode in a row.

        Args:
            row: row index, [0, B).
            spec: what the episode starts from.
            reward_terms: goal, step cost, collision, sanction; reward points, all >= 0.
            drivers: (N,) constants.Driver instead of the episode's own.
            believed: ids of norms by which the planner leads the newcomer when it drives it;
                empty for those in force. Others foresee the newcomer as before.

        Raises:
            SpecError: the episode cannot be started; the message names the field.
            UnknownNameError: a layout or norm that this engine does not have.
            ConfigError: no such row, or reward terms that are not four numbers >= 0.
            SeedError: the episode's seed is no integer in [0, 2**63].
        """
        if not 0 <= row < self.num_rows:
            raise ConfigError(f"row is {row}; expected 0 to {self.num_rows - 1}")
        if len(reward_terms) != 4 or not all(0 <= term < np.inf for term in reward_terms):
            raise ConfigError(f"reward_terms is {reward_terms}; expected four numbers >= 0")
        check_frame(spec)
        chosen = spec.drivers if drivers is None else drivers
        if drivers is not None:
            check_drivers(chosen, spec.num_slots, f"episode {spec.name!r}: ")
        layout_index = self._layout_index.get(spec.layout)
        if layout_index is None:
            raise UnknownNameError("layout", spec.layout, self._layout_index)
        persons = np.ascontiguousarray(spec.persons)
        enterable = self._enterable[layout_index]
        if not are_valid(persons, enterable):
            check_persons(spec)
            self._check_cells(spec, enterable)
        if len(believed) > MAX_NORMS:
            raise SpecError(f"{len(believed)} believed norms; expected at most {MAX_NORMS}")
        norms, after, belief = (
            self._find_norms(names) for names in (spec.norms, spec.norms_after, believed)
        )
        self.states[row] = self._blank
        state = self.states[row]
        state["seed"] = spec.seed
        state["limit"] = spec.limit
        state["layout"] = layout_index
        state["num_slots"] = num_slots = spec.num_slots
        state["is_test"] = spec.phase in TEST_PHASES
        state["change_turn"] = spec.change_turn
        state["norms"][: len(norms)] = norms
        state["norms_after"][: len(after)] = after
        state["believed"][: len(belief)] = belief
        state["reward_terms"] = reward_terms
        state["driver"][:num_slots] = chosen
        foreseen = int(PREDICTIONS[spec.predict_newcomer])
        state["predicted"][:num_slots] = [driver or foreseen for driver in chosen]
        state["priority"][list(spec.priority)] = range(num_slots)
        begin_row(self.states, row, self._tables.layouts, persons)

    def _find_norms(self, names: Sequence[str]) -> list[int]:
        """Return the indices of norms by their ids."""
        for name in names:
            if name not in self._norm_index:
                raise UnknownNameError("norm", name, self._norm_index)
        return [self._norm_index[name] for name in names]

    def _check_cells(self, spec: EpisodeSpec, enterable: npt.NDArray[np.uint8]) -> None:
        """Refuse persons who would start or stay where nobody can enter."""
        places = spec.persons["goal1_cell"][spec.persons["goal1_kind"] == Goal1.PLACE]
        for what, cells in (("starts on", spec.persons["start"]), ("goes to", places)):
            wrong = enterable[cells] == 0
            if wrong.any():
                raise SpecError(
                    f"episode {spec.name!r}: a person {what} cell {int(cells[wrong][0])}, which "
                    f"nobody can enter on layout {spec.layout!r}"
                )

    def step(self, actions: npt.NDArray[np.integer]) -> None:
        """Advance every running row by one turn.

        Args:
            actions: (B, N) integers in [0, 5), N up to 10; only outside-driven slots are read.

        Raises:
            ActionError: wrong type, shape or range.
        """
        actions = self.check_actions(actions)
        self.advance(actions)

    def advance(self, actions: npt.NDArray[np.int8]) -> None:
        """Advance every running row by one turn; for callers that have checked the actions.

        Args:
            actions: (B, 10) int8 in [0, 5), C-contiguous.
        """
        tables = self._tables
        stepper = step_rows if len(self._pads) == 1 else step_rows_threaded
        stepper(self.states, tables.layouts, tables.norms, tables.masks, actions, self._pads)

    def check_actions(self, actions: npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
        """Return actions as (B, 10) int8, padded with WAIT.

        Raises:
            ActionError: wrong type, shape or range.
        """
        array = np.asarray(actions)
        if array.dtype == np.int8 and array.shape == (len(self.states), MAX_SLOTS):
            array = np.ascontiguousarray(array)
            if are_actions(array):
                return array
        if array.dtype.kind not in "iu":
            raise ActionError(f"actions have dtype {array.dtype}; expected integers")
        if array.ndim != 2 or len(array) != self.num_rows or not 0 < array.shape[1] <= MAX_SLOTS:
            raise ActionError(
                f"actions have shape {array.shape}; expected ({self.num_rows}, N), N up to 10"
            )
        if array.min() < 0 or array.max() >= NUM_ACTIONS:
            row, slot = np.argwhere((array < 0) | (array >= NUM_ACTIONS))[0]
            raise ActionError(
                f"action {array[row, slot]} of row {row}, slot {slot}; expected 0 to 4"
            )
        padded = np.full((self.num_rows, MAX_SLOTS), NUM_ACTIONS - 1, np.int8)
        padded[:, : array.shape[1]] = array
        return padded

    def plan(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]:
        """Return what the planner would do in every slot; privileged knowledge of the norm.

        Outside-driven slots are planned as norm-aware persons.

        Returns:
            actions: (B, 10) int8.
            ties: (B, 10) uint8, bit a set when action a starts a cheapest path.
        """
        actions = np.empty((self.num_rows, MAX_SLOTS), np.int8)
        ties = np.empty((self.num_rows, MAX_SLOTS), np.uint8)
        tables = self._tables
        plan_rows(
            self.states, tables.layouts, tables.norms, tables.masks, self._pads, actions, ties
        )
        return actions, ties

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return which actions are physically open.

        Source: NG App. "Observation Representation".

        Returns:
            (B, 10, 5) int8, 1 open.
        """
        masks = np.empty((self.num_rows, MAX_SLOTS, NUM_ACTIONS), np.int8)
        write_masks(self.states, self._tables.layouts, masks)
        return masks

    def judge(self, states: RecordArray, new_cells: npt.NDArray[np.integer]) -> BoolArray:
        """Return which of the engine's norms would forbid which own moves; privileged.

        Args:
            states: (B,) STATE_DTYPE, states before the moves, from an engine with these layouts.
            new_cells: (B, N) int16, cell reached by each person's own move, -1 for none.

        Returns:
            (B, n, N) bool.
        """
        forbidden = np.empty((len(states), len(self.norms), new_cells.shape[1]), np.bool_)
        cells = np.ascontiguousarray(new_cells, np.int16)
        judge_transitions(states, self._tables.layouts, self._tables.norms, cells, forbidden)
        return forbidden

    @property
    def tables(self) -> tuple[RecordArray, RecordArray, npt.NDArray[np.uint64]]:
        """The packed layouts (L,), norms (L, n) and masks (M, 4, 3) that kernels read."""
        return self._tables
