"""Compiled loops of the stacked learner: the layers, greedy actions and updates of a perceptron.

A product of a 64-unit layer with a batch of 32 takes some microseconds, less than the call of any
tensor operation; so a whole update is one loop here. It is the mathematics of `torch_backend`, with
three things left out that change nothing:

    the plane of the layout is the same in every observation, so its part of the first layer is one
    vector, and its gradient a product of two vectors;
    the planes of positions have at most N entries, so their parts are rows that are looked up;
    Adam does nothing to a weight whose gradient has always been zero.

Everything is in one file, because the disk cache of compiled code looks at one file only.
"""

from typing import NamedTuple

import numpy as np

from normgym_envs.kernels import njit

NOBODY = 255  # training.stacked.encoding.NOBODY, frozen into loops
HIDDEN = 64  # agents.dqn.networks.HIDDEN, frozen into loops
_ACTIONS = 5  # constants.NUM_ACTIONS
_CELLS = 165  # constants.NUM_CELLS
_POSITION, _OTHERS, _NUMBERS = 165, 330, 495  # first inputs of the parts of an observation
_THIRD = np.float32(3)  # divisor of the values in the plane of others
_BETA_1, _BETA_2 = 0.9, 0.999  # torch.optim.Adam
_EPSILON = np.float32(1e-8)  # torch.optim.Adam
_TINY = np.float32(1e-6)  # torch.nn.utils.clip_grad_norm_
_ZERO, _HALF, _ONE = np.float32(0), np.float32(0.5), np.float32(1)


class Coding(NamedTuple):
    """How observations are coded; `codes.Codec` makes one."""

    num_inputs: int  # F
    num_others: int  # N - 1
    layout: np.ndarray  # (165,) float32
    offsets: np.ndarray  # (D,) float32
    divisors: np.ndarray  # (D,) float32


class Weights(NamedTuple):
    """M networks, a row each: W1 (F, 64), b1, W2 (64, 64), b2 from inputs on, W3 (5, 64), b3."""

    params: np.ndarray  # (M, P) float32
    targets: np.ndarray  # (M, P) float32, of the target networks
    moments_1: np.ndarray  # (M, P) float32, Adam's mean of gradients
    moments_2: np.ndarray  # (M, P) float32, Adam's mean of their squares
    touched: np.ndarray  # (M, 330) bool, rows of the planes of positions that ever had a gradient


class Memory(NamedTuple):
    """What `replay.Replay` holds."""

    codes: np.ndarray  # (M, S, E, C) uint8, ring of observations
    finals: np.ndarray  # (M, E, G, C) uint8, ring of last observations of episodes
    final_of: np.ndarray  # (M, S, E) int32, place in `finals` of what followed, -1: next position
    actions: np.ndarray  # (M, S, E) int8, executed
    rewards: np.ndarray  # (M, S, E) float32, reward points
    terminated: np.ndarray  # (M, S, E) bool, nothing follows


class _Batch(NamedTuple):
    """Working memory for n observations."""

    codes: np.ndarray  # (n, C) uint8
    numbers: np.ndarray  # (n, D) float32, decoded
    first: np.ndarray  # (n, 64) float32, after the rectifier
    second: np.ndarray  # (n, 64) float32, after the rectifier
    values: np.ndarray  # (n, 5) float32
    seen: np.ndarray  # (64,) float32, what the plane of the layout adds to the first layer


@njit
def _make_batch(size: int, code_size: int, num_numbers: int) -> _Batch:
    return _Batch(
        np.empty((size, code_size), np.uint8),
        np.empty((size, num_numbers), np.float32),
        np.empty((size, HIDDEN), np.float32),
        np.empty((size, HIDDEN), np.float32),
        np.empty((size, _ACTIONS), np.float32),
        np.empty(HIDDEN, np.float32),
    )


@njit
def _see_layout(params: np.ndarray, layout: np.ndarray, out: np.ndarray) -> None:
    """Write what the plane of the layout adds to the first layer, in place in `out`."""
    weights = params[: _CELLS * HIDDEN].reshape((_CELLS, HIDDEN))
    out[:] = _ZERO
    for cell in range(_CELLS):
        value = layout[cell]
        if value != _ZERO:
            for unit in range(HIDDEN):
                out[unit] += value * weights[cell, unit]


@njit
def evaluate(params: np.ndarray, coding: Coding, batch: _Batch) -> None:
    """Compute the layers of one network, in place in all but the codes of `batch`.

    Args:
        params: (P,) float32.
        coding: of the observations.
        batch: codes, and `seen` of this network.
    """
    at = coding.num_inputs * HIDDEN
    weights_1 = params[:at].reshape((coding.num_inputs, HIDDEN))
    bias_1 = params[at : at + HIDDEN]
    at += HIDDEN
    weights_2 = params[at : at + HIDDEN * HIDDEN].reshape((HIDDEN, HIDDEN))
    at += HIDDEN * HIDDEN
    bias_2 = params[at : at + HIDDEN]
    at += HIDDEN
    weights_3 = params[at : at + _ACTIONS * HIDDEN].reshape((_ACTIONS, HIDDEN))
    bias_3 = params[at + _ACTIONS * HIDDEN :]
    first, second, values, seen = batch.first, batch.second, batch.values, batch.seen
    num_others = coding.num_others
    offsets, divisors = coding.offsets, coding.divisors
    # one rounding, as where the observation was written: a quotient of small whole numbers
    for row in range(batch.codes.shape[0]):
        code, numbers = batch.codes[row, 2 + 2 * num_others :], batch.numbers[row]
        for place in range(divisors.shape[0]):
            numbers[place] = (np.float32(code[place]) - offsets[place]) / divisors[place]
    np.dot(batch.numbers, weights_1[_NUMBERS:], first)
    for row in range(batch.codes.shape[0]):
        code, out = batch.codes[row], first[row]
        if code[0]:
            for unit in range(HIDDEN):
                out[unit] += bias_1[unit] + seen[unit]
        else:
            for unit in range(HIDDEN):
                out[unit] += bias_1[unit]
        if code[1] != NOBODY:
            line = weights_1[_POSITION + np.int64(code[1])]
            for unit in range(HIDDEN):
                out[unit] += line[unit]
        for place in range(num_others):
            if code[2 + place] == NOBODY:
                break
            line = weights_1[_OTHERS + np.int64(code[2 + place])]
            value = np.float32(code[2 + num_others + place]) / _THIRD
            for unit in range(HIDDEN):
                out[unit] += value * line[unit]
        for unit in range(HIDDEN):
            out[unit] = max(out[unit], _ZERO)
    np.dot(first, weights_2, second)
    for row in range(batch.codes.shape[0]):
        for unit in range(HIDDEN):
            second[row, unit] = max(second[row, unit] + bias_2[unit], _ZERO)
    np.dot(second, weights_3.T, values)
    for row in range(batch.codes.shape[0]):
        for action in range(_ACTIONS):
            values[row, action] += bias_3[action]


@njit
def _find_best(values: np.ndarray, code: np.ndarray) -> int:
    """Return the open action of the highest value, the first of equal ones; a mask ends a code."""
    best = -1
    for action in range(_ACTIONS):
        is_open = code[code.shape[0] - _ACTIONS + action] != 0
        if is_open and (best < 0 or values[action] > values[best]):
            best = action
    return best


@njit
def choose_actions(
    params: np.ndarray, coding: Coding, codes: np.ndarray, out_actions: np.ndarray
) -> None:
    """Replace every -1 among the actions by the greedy open action, in place.

    Args:
        params: (M, P) float32.
        coding: of the observations.
        codes: (M, E, C) uint8.
        out_actions: (M, E) int8.
    """
    batch = _make_batch(codes.shape[1], codes.shape[2], coding.divisors.shape[0])
    for norm in range(codes.shape[0]):
        count = 0
        for world in range(codes.shape[1]):
            if out_actions[norm, world] < 0:
                batch.codes[count] = codes[norm, world]
                count += 1
        if count == 0:
            continue
        _see_layout(params[norm], coding.layout, batch.seen)
        greedy = _Batch(
            batch.codes[:count],
            batch.numbers[:count],
            batch.first[:count],
            batch.second[:count],
            batch.values[:count],
            batch.seen,
        )
        evaluate(params[norm], coding, greedy)
        count = 0
        for world in range(codes.shape[1]):
            if out_actions[norm, world] < 0:
                out_actions[norm, world] = _find_best(batch.values[count], batch.codes[count])
                count += 1


@njit
def _step_range(
    params: np.ndarray,
    moment_1: np.ndarray,
    moment_2: np.ndarray,
    grads: np.ndarray,
    clip: np.float32,
    step_size: np.float32,
    correction: np.float32,
) -> None:
    """Make Adam's step for some weights, and set their gradients to zero, in place.

    Args:
        params: (n,) float32.
        moment_1: (n,) float32.
        moment_2: (n,) float32.
        grads: (n,) float32.
        clip: factor on the gradients.
        step_size: learning rate over the first bias correction.
        correction: 1 over the root of the second bias correction.
    """
    keep = np.float32(_BETA_2)
    new_1, new_2 = np.float32(1 - _BETA_1), np.float32(1 - _BETA_2)
    for place in range(params.shape[0]):
        grad = grads[place] * clip
        grads[place] = _ZERO
        mean = moment_1[place] + (grad - moment_1[place]) * new_1
        square = moment_2[place] * keep + grad * grad * new_2
        moment_1[place] = mean
        moment_2[place] = square
        params[place] -= step_size * mean / (np.sqrt(square) * correction + _EPSILON)


@njit
def _step(
    params: np.ndarray,
    moment_1: np.ndarray,
    moment_2: np.ndarray,
    touched: np.ndarray,
    grads: np.ndarray,
    layout: np.ndarray,
    layout_slope: np.ndarray,
    count: int,
    learning_rate: float,
    max_norm: float,
) -> None:
    """Clip the gradient of one network and make Adam's step, in place; gradients become zero.

    Args:
        params: (P,) float32.
        moment_1: (P,) float32.
        moment_2: (P,) float32.
        touched: (330,) bool.
        grads: (P,) float32, the rows of the layout's plane still zero.
        layout: (165,) float32.
        layout_slope: (64,) float32; times the layout, the gradient of these rows.
        count: updates, this one included.
        learning_rate: of Adam.
        max_norm: of the gradient.
    """
    squares = np.zeros(HIDDEN, np.float32)
    rows = grads[: _NUMBERS * HIDDEN].reshape((_NUMBERS, HIDDEN))
    for place in range(2 * _CELLS):
        if touched[place]:
            line = rows[_POSITION + place]
            for unit in range(HIDDEN):
                squares[unit] += line[unit] * line[unit]
    rest = grads[_NUMBERS * HIDDEN :]
    total = np.dot(rest, rest) + squares.sum()
    total += np.dot(layout, layout) * np.dot(layout_slope, layout_slope)
    clip = min(np.float32(max_norm) / (np.sqrt(total) + _TINY), _ONE)
    for cell in range(_CELLS):
        if layout[cell] != _ZERO:
            for unit in range(HIDDEN):
                rows[cell, unit] = layout[cell] * layout_slope[unit]

    step_size = np.float32(learning_rate / (1 - _BETA_1**count))
    correction = np.float32(1 / np.sqrt(1 - _BETA_2**count))
    start = 0
    while start < params.shape[0]:  # the layout's plane, runs of touched rows, the rest
        stop = start + HIDDEN
        if start == 0:
            stop = _CELLS * HIDDEN
        elif start >= _NUMBERS * HIDDEN:
            stop = params.shape[0]
        else:
            place = start // HIDDEN - _POSITION
            if not touched[place]:
                start = stop
                continue
            while place + 1 < 2 * _CELLS and touched[place + 1]:
                place += 1
            stop = (place + 1 + _POSITION) * HIDDEN
        _step_range(
            params[start:stop],
            moment_1[start:stop],
            moment_2[start:stop],
            grads[start:stop],
            clip,
            step_size,
            correction,
        )
        start = stop


@njit
def _descend(
    params: np.ndarray,
    coding: Coding,
    batch: _Batch,
    actions: np.ndarray,
    goals: np.ndarray,
    slope_1: np.ndarray,
    slope_2: np.ndarray,
    touched: np.ndarray,
    grads: np.ndarray,
    layout_slope: np.ndarray,
) -> float:
    """Add up the gradient of a batch's mean Huber loss, in place in the last five arguments.

    Args:
        params: (P,) float32.
        coding: of the observations.
        batch: evaluated.
        actions: (n,) int8.
        goals: (n,) float32, what the values should be.
        slope_1: (n, 64) float32, working memory.
        slope_2: (n, 64) float32, working memory.
        touched: (330,) bool.
        grads: (P,) float32, zero; but for the rows of the layout's plane.
        layout_slope: (64,) float32; times the layout, the gradient of these rows.

    Returns:
        float, the loss.
    """
    size, num_others = actions.shape[0], coding.num_others
    at_b1 = coding.num_inputs * HIDDEN
    at_2 = at_b1 + HIDDEN
    at_b2 = at_2 + HIDDEN * HIDDEN
    at_3 = at_b2 + HIDDEN
    at_b3 = at_3 + _ACTIONS * HIDDEN
    weights_2 = params[at_2:at_b2].reshape((HIDDEN, HIDDEN))
    weights_3 = params[at_3:at_b3].reshape((_ACTIONS, HIDDEN))
    grads_1 = grads[:at_b1].reshape((coding.num_inputs, HIDDEN))
    grads_2 = grads[at_2:at_b2].reshape((HIDDEN, HIDDEN))
    grads_3 = grads[at_3:at_b3].reshape((_ACTIONS, HIDDEN))
    bias_1, bias_2 = grads[at_b1:at_2], grads[at_b2:at_3]
    loss = 0.0
    for row in range(size):
        action = np.int64(actions[row])
        error = batch.values[row, action] - goals[row]
        if abs(error) < _ONE:
            loss += _HALF * error * error
        else:
            loss += abs(error) - _HALF
        slope = min(max(error, -_ONE), _ONE) / np.float32(size)
        grads[at_b3 + action] += slope
        line, out, second = grads_3[action], slope_2[row], batch.second[row]
        for unit in range(HIDDEN):
            line[unit] += slope * second[unit]
            out[unit] = slope * weights_3[action, unit] if second[unit] > _ZERO else _ZERO
    np.dot(batch.first.T, slope_2, grads_2)
    np.dot(slope_2, weights_2.T, slope_1)
    layout_slope[:] = _ZERO
    for row in range(size):
        code, out, first = batch.codes[row], slope_1[row], batch.first[row]
        for unit in range(HIDDEN):
            out[unit] = out[unit] if first[unit] > _ZERO else _ZERO
            bias_1[unit] += out[unit]
            bias_2[unit] += slope_2[row, unit]
        if code[0]:
            for unit in range(HIDDEN):
                layout_slope[unit] += out[unit]
        if code[1] != NOBODY:
            cell = np.int64(code[1])
            touched[cell] = True
            line = grads_1[_POSITION + cell]
            for unit in range(HIDDEN):
                line[unit] += out[unit]
        for place in range(num_others):
            if code[2 + place] == NOBODY:
                break
            cell = np.int64(code[2 + place])
            touched[_CELLS + cell] = True
            line = grads_1[_OTHERS + cell]
            value = np.float32(code[2 + num_others + place]) / _THIRD
            for unit in range(HIDDEN):
                line[unit] += value * out[unit]
    np.dot(batch.numbers.T, slope_1, grads_1[_NUMBERS:])
    return loss / size


@njit
def learn(
    weights: Weights,
    memory: Memory,
    coding: Coding,
    oldest: int,
    indices: np.ndarray,
    updates: int,
    learning_rate: float,
    gamma: float,
    max_norm: float,
    out_losses: np.ndarray,
) -> None:
    """Make the same number of updates of every network, in place in `weights`.

    Source: NG App. "Reward and optimization"; the mask in the target's maximum, App. "Observation
    Representation".

    Args:
        weights: of the networks.
        memory: what to learn from.
        coding: of the observations.
        oldest: ring position of the oldest transition.
        indices: (M, U, n) int64, transitions of each update, 0 for the oldest one kept.
        updates: made so far.
        learning_rate: of Adam.
        gamma: discount.
        max_norm: of the gradient of one network.
        out_losses: (M, U) float32, mean Huber loss of each update.
    """
    size = indices.shape[2]
    num_positions, num_worlds, code_size = memory.codes.shape[1:]
    here = _make_batch(size, code_size, coding.divisors.shape[0])
    there = _make_batch(size, code_size, coding.divisors.shape[0])
    actions = np.empty(size, np.int8)
    goals = np.empty(size, np.float32)
    slope_1 = np.empty((size, HIDDEN), np.float32)
    slope_2 = np.empty((size, HIDDEN), np.float32)
    layout_slope = np.empty(HIDDEN, np.float32)
    grads = np.zeros(weights.params.shape[1], np.float32)
    gamma_32 = np.float32(gamma)
    for norm in range(indices.shape[0]):
        params, target = weights.params[norm], weights.targets[norm]
        _see_layout(target, coding.layout, there.seen)
        for update in range(indices.shape[1]):
            for row in range(size):
                age, world = divmod(indices[norm, update, row], num_worlds)
                slot = (oldest + age) % num_positions
                here.codes[row] = memory.codes[norm, slot, world]
                end = memory.final_of[norm, slot, world]
                if end >= 0:
                    there.codes[row] = memory.finals[norm, world, end]
                else:
                    there.codes[row] = memory.codes[norm, (slot + 1) % num_positions, world]
                actions[row] = memory.actions[norm, slot, world]
            evaluate(target, coding, there)
            for row in range(size):
                age, world = divmod(indices[norm, update, row], num_worlds)
                slot = (oldest + age) % num_positions
                goals[row] = memory.rewards[norm, slot, world]
                if not memory.terminated[norm, slot, world]:
                    best = _find_best(there.values[row], there.codes[row])
                    goals[row] += gamma_32 * there.values[row, best]
            _see_layout(params, coding.layout, here.seen)
            evaluate(params, coding, here)
            touched = weights.touched[norm]
            out_losses[norm, update] = _descend(
                params,
                coding,
                here,
                actions,
                goals,
                slope_1,
                slope_2,
                touched,
                grads,
                layout_slope,
            )
            _step(
                params,
                weights.moments_1[norm],
                weights.moments_2[norm],
                touched,
                grads,
                coding.layout,
                layout_slope,
                updates + update + 1,
                learning_rate,
                max_norm,
            )
