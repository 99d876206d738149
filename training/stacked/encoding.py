"""The compiled loop that writes observations as bytes; `codes` says how, and reads them again."""

import numpy as np

from normgym_envs.kernels import njit

NOBODY = 255
"""Byte of a cell where there is none."""
_CELLS = 165  # constants.NUM_CELLS
_POSITION, _OTHERS, _NUMBERS = 165, 330, 495  # first numbers of the parts of an observation
_THIRD = np.float32(3)  # divisor of the values in the plane of others
_ZERO, _ONE = np.float32(0), np.float32(1)


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
                thirds = np.rint(value * _THIRD)
                if count == num_others or not 0 <= thirds < 256 or thirds / _THIRD != value:
                    return row * size + _OTHERS + cell
                code[2 + count] = cell
                code[2 + num_others + count] = np.int64(thirds)
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
