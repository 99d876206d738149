"""Compiled loops of the stacked learner: codes, and the update of a multilayer perceptron.

A product of a 64-unit layer with a batch of 32 takes some microseconds, less than the call of any
tensor operation; so a whole update is one loop here. It is the mathematics of
`torch_backend`, with three things left out that change nothing:

    the plane of the layout is the same in every observation, so its part of the first layer is one
    vector, and its gradient a product of two vectors;
    the planes of positions have at most N entries, so their parts are rows that are looked up;
    Adam does nothing to a weight whose gradient has always been zero.

Parameters of a network are one row: W1 (F, 64), b1, W2 (64, 64), b2, each from inputs to outputs,
then W3 (5, 64), b3.
"""

import numpy as np

from normgym_envs.kernels import njit

NOBODY = 255
"""Byte of a cell where there is none."""
HIDDEN = 64  # agents.dqn.networks.HIDDEN, frozen into loops
_ACTIONS = 5  # constants.NUM_ACTIONS
_CELLS = 165  # constants.NUM_CELLS
_POSITION, _OTHERS, _NUMBERS = 165, 330, 495  # first inputs of the parts of an observation
_THIRD = np.float32(3)  # divisor of the values in the plane of others
_BETA_1, _BETA_2 = 0.9, 0.999
_EPSILON = np.float32(1e-8)
_ZERO, _HALF, _ONE = np.float32(0), np.float32(0.5), np.float32(1)


@njit
def _third(byte: int) -> float:
    return np.float32(byte) / _THIRD


@njit
def _decode_numbers(
    codes: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,
    num_others: int,
    out: np.ndarray,
) -> None:
    # one rounding, as where the observation was written: a quotient of whole numbers below 2**11
    for row in range(codes.shape[0]):
        code, line = codes[row, 2 + 2 * num_others :], out[row]
        for place in range(divisors.shape[0]):
            line[place] = (np.float32(code[place]) - offsets[place]) / divisors[place]


@njit
def encode_rows(
    flat: np.ndarray,
    layout: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,
    num_others: int,
    out_codes: np.ndarray,
) -> int:
    """Write observations as codes, in place in `out_codes`.

    Args:
        flat: (B, F) float32.
        layout: (165,) float32.
        offsets: (D,) float32, of the bytes.
        divisors: (D,) float32, of the bytes.
        num_others: N - 1.
        out_codes: (B, C) uint8.

    Returns:
        -1, or row * F + column of a number that no byte stands for.
    """
    size = flat.shape[1]
    first = 2 + 2 * num_others
    for row in range(flat.shape[0]):
        code = out_codes[row]
        code[0] = 0
        for cell in range(_CELLS):
            if flat[row, cell] != _ZERO:
                code[0] = 1
                break
        for cell in range(_CELLS):
            if flat[row, cell] != (layout[cell] if code[0] else _ZERO):
                return row * size + cell
        code[1] = NOBODY
        for cell in range(_CELLS):
            value = flat[row, _POSITION + cell]
            if value != _ZERO:
                if value != _ONE or code[1] != NOBODY:
                    return row * size + _POSITION + cell
                code[1] = cell
        count = 0
        for cell in range(_CELLS):
            value = flat[row, _OTHERS + cell]
            if value != _ZERO:
                thirds = np.int64(np.rint(value * _THIRD))
                if count == num_others or not 0 <= thirds < 256 or _third(thirds) != value:
                    return row * size + _OTHERS + cell
                code[2 + count] = cell
                code[2 + num_others + count] = thirds
                count += 1
        for place in range(count, num_others):
            code[2 + place] = NOBODY
            code[2 + num_others + place] = 0
        for place in range(divisors.shape[0]):
            value = flat[row, _NUMBERS + place]
            byte = np.rint(value * divisors[place]) + offsets[place]
            if not 0 <= byte < 256 or (byte - offsets[place]) / divisors[place] != value:
                return row * size + _NUMBERS + place
            code[first + place] = np.int64(byte)
    return -1


@njit
def decode_rows(
    codes: np.ndarray,
    layout: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,
    num_others: int,
    out_flat: np.ndarray,
) -> None:
    """Write codes as observations, in place in `out_flat`; arguments as `encode_rows`."""
    for row in range(codes.shape[0]):
        code = codes[row]
        flat = out_flat[row]
        flat[:_NUMBERS] = _ZERO
        if code[0]:
            flat[:_CELLS] = layout
        if code[1] != NOBODY:
            flat[_POSITION + code[1]] = _ONE
        for place in range(num_others):
            if code[2 + place] == NOBODY:
                break
            flat[_OTHERS + code[2 + place]] = _third(code[2 + num_others + place])
    _decode_numbers(codes, offsets, divisors, num_others, out_flat[:, _NUMBERS:])


@njit
def layout_vector(weights: np.ndarray, layout: np.ndarray, out: np.ndarray) -> None:
    """Write what the plane of the layout adds to the first layer, in place.

    Args:
        weights: (F, 64) float32.
        layout: (165,) float32.
        out: (64,) float32.
    """
    out[:] = _ZERO
    for cell in range(_CELLS):
        value = layout[cell]
        if value != _ZERO:
            for unit in range(HIDDEN):
                out[unit] += value * weights[cell, unit]


@njit
def evaluate(
    params: np.ndarray,
    num_inputs: int,
    codes: np.ndarray,
    numbers: np.ndarray,
    seen: np.ndarray,
    num_others: int,
    first: np.ndarray,
    second: np.ndarray,
    values: np.ndarray,
) -> None:
    """Compute the layers of one network for a batch, in place in the last three arguments.

    Args:
        params: (P,) float32.
        num_inputs: F.
        codes: (n, C) uint8.
        numbers: (n, D) float32, decoded.
        seen: (64,) float32, as `layout_vector`.
        num_others: N - 1.
        first: (n, 64) float32, after the rectifier.
        second: (n, 64) float32, after the rectifier.
        values: (n, 5) float32.
    """
    at = num_inputs * HIDDEN
    weights_1 = params[:at].reshape((num_inputs, HIDDEN))
    bias_1 = params[at : at + HIDDEN]
    at += HIDDEN
    weights_2 = params[at : at + HIDDEN * HIDDEN].reshape((HIDDEN, HIDDEN))
    at += HIDDEN * HIDDEN
    bias_2 = params[at : at + HIDDEN]
    at += HIDDEN
    weights_3 = params[at : at + _ACTIONS * HIDDEN].reshape((_ACTIONS, HIDDEN))
    bias_3 = params[at + _ACTIONS * HIDDEN :]
    np.dot(numbers, weights_1[_NUMBERS:], first)
    for row in range(codes.shape[0]):
        code = codes[row]
        out = first[row]
        if code[0]:
            for unit in range(HIDDEN):
                out[unit] += bias_1[unit] + seen[unit]
        else:
            for unit in range(HIDDEN):
                out[unit] += bias_1[unit]
        if code[1] != NOBODY:
            line = weights_1[_POSITION + code[1]]
            for unit in range(HIDDEN):
                out[unit] += line[unit]
        for place in range(num_others):
            if code[2 + place] == NOBODY:
                break
            line = weights_1[_OTHERS + code[2 + place]]
            value = _third(code[2 + num_others + place])
            for unit in range(HIDDEN):
                out[unit] += value * line[unit]
        for unit in range(HIDDEN):
            out[unit] = max(out[unit], _ZERO)
    np.dot(first, weights_2, second)
    for row in range(codes.shape[0]):
        for unit in range(HIDDEN):
            second[row, unit] = max(second[row, unit] + bias_2[unit], _ZERO)
    np.dot(second, weights_3.T, values)
    for row in range(codes.shape[0]):
        for action in range(_ACTIONS):
            values[row, action] += bias_3[action]


@njit
def best_open(values: np.ndarray, code: np.ndarray) -> int:
    """Return the open action of the highest value, the first of equal ones.

    Args:
        values: (5,) float32.
        code: (C,) uint8, the mask in the last five.
    """
    best = -1
    for action in range(_ACTIONS):
        if code[code.shape[0] - _ACTIONS + action] != 0:
            if best < 0 or values[action] > values[best]:
                best = action
    return best


@njit
def choose_actions(
    params: np.ndarray,
    num_inputs: int,
    codes: np.ndarray,
    layout: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,
    num_others: int,
    out_actions: np.ndarray,
) -> None:
    """Replace every -1 among the actions by the greedy open action, in place.

    Args:
        params: (M, P) float32.
        num_inputs: F.
        codes: (M, E, C) uint8.
        layout: (165,) float32.
        offsets: (D,) float32.
        divisors: (D,) float32.
        num_others: N - 1.
        out_actions: (M, E) int8.
    """
    num_worlds = codes.shape[1]
    chosen = np.empty((num_worlds, codes.shape[2]), np.uint8)
    numbers = np.empty((num_worlds, divisors.shape[0]), np.float32)
    first = np.empty((num_worlds, HIDDEN), np.float32)
    second = np.empty((num_worlds, HIDDEN), np.float32)
    values = np.empty((num_worlds, _ACTIONS), np.float32)
    seen = np.empty(HIDDEN, np.float32)
    for norm in range(codes.shape[0]):
        count = 0
        for world in range(num_worlds):
            if out_actions[norm, world] < 0:
                chosen[count] = codes[norm, world]
                count += 1
        if count == 0:
            continue
        weights = params[norm, : num_inputs * HIDDEN].reshape((num_inputs, HIDDEN))
        layout_vector(weights, layout, seen)
        _decode_numbers(chosen[:count], offsets, divisors, num_others, numbers)
        evaluate(
            params[norm],
            num_inputs,
            chosen[:count],
            numbers[:count],
            seen,
            num_others,
            first[:count],
            second[:count],
            values[:count],
        )
        count = 0
        for world in range(num_worlds):
            if out_actions[norm, world] < 0:
                out_actions[norm, world] = best_open(values[count], chosen[count])
                count += 1


@njit
def adam_range(
    params: np.ndarray,
    moment_1: np.ndarray,
    moment_2: np.ndarray,
    grads: np.ndarray,
    start: int,
    stop: int,
    clip: float,
    step_size: float,
    correction: float,
) -> None:
    """Make Adam's step for a range of weights, and set their gradients to zero, in place.

    Args:
        params: (P,) float32.
        moment_1: (P,) float32, running mean of gradients.
        moment_2: (P,) float32, running mean of their squares.
        grads: (P,) float32.
        start: first of the range.
        stop: end of the range.
        clip: float32, factor on the gradients.
        step_size: float32, learning rate over the first bias correction.
        correction: float32, 1 over the root of the second bias correction.
    """
    keep = np.float32(_BETA_2)
    new_1, new_2 = np.float32(1 - _BETA_1), np.float32(1 - _BETA_2)
    own, slope = params[start:stop], grads[start:stop]
    first, second = moment_1[start:stop], moment_2[start:stop]
    for place in range(own.shape[0]):
        grad = slope[place] * clip
        slope[place] = _ZERO
        mean = first[place] + (grad - first[place]) * new_1
        square = second[place] * keep + grad * grad * new_2
        first[place] = mean
        second[place] = square
        own[place] -= step_size * mean / (np.sqrt(square) * correction + _EPSILON)


@njit
def learn(
    params: np.ndarray,
    targets: np.ndarray,
    moments_1: np.ndarray,
    moments_2: np.ndarray,
    touched: np.ndarray,
    codes: np.ndarray,
    finals: np.ndarray,
    final_of: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    terminated: np.ndarray,
    oldest: int,
    indices: np.ndarray,
    num_inputs: int,
    layout: np.ndarray,
    offsets: np.ndarray,
    divisors: np.ndarray,
    num_others: int,
    updates: int,
    learning_rate: float,
    gamma: float,
    max_norm: float,
    out_losses: np.ndarray,
) -> None:
    """Make the same number of updates of every network, in place in the first five arguments.

    Source: NG App. "Reward and optimization"; the mask in the target's maximum, App. "Observation
    Representation".

    Args:
        params: (M, P) float32.
        targets: (M, P) float32, of the target networks.
        moments_1: (M, P) float32, of Adam.
        moments_2: (M, P) float32, of Adam.
        touched: (M, 330) bool, rows of the two planes of positions that ever had a gradient.
        codes: (M, S, E, C) uint8, ring of observations.
        finals: (M, E, G, C) uint8, ring of last observations of episodes.
        final_of: (M, S, E) int32, place in `finals` of what followed, -1 for the next position.
        actions: (M, S, E) int8, executed.
        rewards: (M, S, E) float32, reward points.
        terminated: (M, S, E) bool, nothing follows.
        oldest: ring position of the oldest transition.
        indices: (M, U, n) int64, transitions of each update, 0 for the oldest one kept.
        num_inputs: F.
        layout: (165,) float32.
        offsets: (D,) float32.
        divisors: (D,) float32.
        num_others: N - 1.
        updates: made so far.
        learning_rate: of Adam.
        gamma: discount.
        max_norm: of the gradient of one network.
        out_losses: (M, U) float32, mean Huber loss of each update.
    """
    num_updates, batch = indices.shape[1], indices.shape[2]
    num_positions, num_worlds, code_size = codes.shape[1], codes.shape[2], codes.shape[3]
    num_params = params.shape[1]
    at_1 = num_inputs * HIDDEN  # first bias
    at_2 = at_1 + HIDDEN  # second weights
    at_b2 = at_2 + HIDDEN * HIDDEN
    at_3 = at_b2 + HIDDEN
    at_b3 = at_3 + _ACTIONS * HIDDEN
    here = np.empty((batch, code_size), np.uint8)
    there = np.empty((batch, code_size), np.uint8)
    numbers = np.empty((batch, divisors.shape[0]), np.float32)
    first = np.empty((batch, HIDDEN), np.float32)
    second = np.empty((batch, HIDDEN), np.float32)
    values = np.empty((batch, _ACTIONS), np.float32)
    goals = np.empty(batch, np.float32)
    slope_1 = np.empty((batch, HIDDEN), np.float32)
    slope_2 = np.empty((batch, HIDDEN), np.float32)
    seen = np.empty(HIDDEN, np.float32)
    target_seen = np.empty(HIDDEN, np.float32)
    layout_slope = np.empty(HIDDEN, np.float32)
    squares = np.empty(HIDDEN, np.float32)
    grads = np.zeros(num_params, np.float32)
    layout_square = np.dot(layout, layout)
    gamma_32, max_32 = np.float32(gamma), np.float32(max_norm)
    for norm in range(params.shape[0]):
        own, target = params[norm], targets[norm]
        moment_1, moment_2 = moments_1[norm], moments_2[norm]
        weights_1 = own[:at_1].reshape((num_inputs, HIDDEN))
        weights_2 = own[at_2:at_b2].reshape((HIDDEN, HIDDEN))
        weights_3 = own[at_3:at_b3].reshape((_ACTIONS, HIDDEN))
        grads_1 = grads[:at_1].reshape((num_inputs, HIDDEN))
        grads_2 = grads[at_2:at_b2].reshape((HIDDEN, HIDDEN))
        grads_3 = grads[at_3:at_b3].reshape((_ACTIONS, HIDDEN))
        layout_vector(target[:at_1].reshape((num_inputs, HIDDEN)), layout, target_seen)
        for update in range(num_updates):
            for row in range(batch):
                age, world = divmod(indices[norm, update, row], num_worlds)
                slot = (oldest + age) % num_positions
                here[row] = codes[norm, slot, world]
                end = final_of[norm, slot, world]
                if end >= 0:
                    there[row] = finals[norm, world, end]
                else:
                    there[row] = codes[norm, (slot + 1) % num_positions, world]
            _decode_numbers(there, offsets, divisors, num_others, numbers)
            evaluate(
                target,
                num_inputs,
                there,
                numbers,
                target_seen,
                num_others,
                first,
                second,
                values,
            )
            for row in range(batch):
                age, world = divmod(indices[norm, update, row], num_worlds)
                slot = (oldest + age) % num_positions
                goals[row] = rewards[norm, slot, world]
                if not terminated[norm, slot, world]:
                    goals[row] += gamma_32 * values[row, best_open(values[row], there[row])]

            layout_vector(weights_1, layout, seen)
            _decode_numbers(here, offsets, divisors, num_others, numbers)
            evaluate(own, num_inputs, here, numbers, seen, num_others, first, second, values)
            loss = 0.0
            for row in range(batch):
                age, world = divmod(indices[norm, update, row], num_worlds)
                action = actions[norm, (oldest + age) % num_positions, world]
                error = values[row, action] - goals[row]
                if abs(error) < _ONE:
                    loss += _HALF * error * error
                else:
                    loss += abs(error) - _HALF
                slope = min(max(error, -_ONE), _ONE) / np.float32(batch)
                grads[at_b3 + action] += slope
                line, out = grads_3[action], slope_2[row]
                for unit in range(HIDDEN):
                    line[unit] += slope * second[row, unit]
                    is_on = second[row, unit] > _ZERO
                    out[unit] = slope * weights_3[action, unit] if is_on else _ZERO
            out_losses[norm, update] = loss / batch
            np.dot(first.T, slope_2, grads_2)
            np.dot(slope_2, weights_2.T, slope_1)
            layout_slope[:] = _ZERO
            for row in range(batch):
                code, out = here[row], slope_1[row]
                for unit in range(HIDDEN):
                    out[unit] = out[unit] if first[row, unit] > _ZERO else _ZERO
                    grads[at_1 + unit] += out[unit]
                    grads[at_b2 + unit] += slope_2[row, unit]
                if code[0]:
                    for unit in range(HIDDEN):
                        layout_slope[unit] += out[unit]
                if code[1] != NOBODY:
                    touched[norm, code[1]] = True
                    line = grads_1[_POSITION + code[1]]
                    for unit in range(HIDDEN):
                        line[unit] += out[unit]
                for place in range(num_others):
                    if code[2 + place] == NOBODY:
                        break
                    touched[norm, _CELLS + code[2 + place]] = True
                    line = grads_1[_OTHERS + code[2 + place]]
                    value = _third(code[2 + num_others + place])
                    for unit in range(HIDDEN):
                        line[unit] += value * out[unit]
            np.dot(numbers.T, slope_1, grads_1[_NUMBERS:])

            squares[:] = _ZERO
            for place in range(2 * _CELLS):
                if touched[norm, place]:
                    line = grads_1[_POSITION + place]
                    for unit in range(HIDDEN):
                        squares[unit] += line[unit] * line[unit]
            total = np.dot(grads[_NUMBERS * HIDDEN :], grads[_NUMBERS * HIDDEN :])
            total += layout_square * np.dot(layout_slope, layout_slope) + squares.sum()
            clip = min(max_32 / (np.sqrt(total) + np.float32(1e-6)), _ONE)

            count = updates + update + 1
            step_size = np.float32(learning_rate / (1 - _BETA_1**count))
            correction = np.float32(1 / np.sqrt(1 - _BETA_2**count))
            for cell in range(_CELLS):
                value = layout[cell]
                if value != _ZERO:
                    for unit in range(HIDDEN):
                        grads_1[cell, unit] = value * layout_slope[unit]
                    start = cell * HIDDEN
                    adam_range(
                        own,
                        moment_1,
                        moment_2,
                        grads,
                        start,
                        start + HIDDEN,
                        clip,
                        step_size,
                        correction,
                    )
            for place in range(2 * _CELLS):
                if touched[norm, place]:
                    start = (_POSITION + place) * HIDDEN
                    adam_range(
                        own,
                        moment_1,
                        moment_2,
                        grads,
                        start,
                        start + HIDDEN,
                        clip,
                        step_size,
                        correction,
                    )
            adam_range(
                own,
                moment_1,
                moment_2,
                grads,
                _NUMBERS * HIDDEN,
                num_params,
                clip,
                step_size,
                correction,
            )
