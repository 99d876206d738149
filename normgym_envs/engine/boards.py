"""Sets of cells as three 64-bit words: cell (row, column) is bit 16 * row + column.

Column 15 is never set, so moving a whole set left or right needs no edge mask.
"""

import numpy as np

from normgym_envs.kernels import njit

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_S63 = np.uint64(63)


@njit
def copy_board(board: np.ndarray, source: np.ndarray) -> None:
    """Write another board's bits; three words compile much faster than a slice.

    Args:
        board: (3,) uint64, written.
        source: (3,) uint64.
    """
    for word in range(3):
        board[word] = source[word]


@njit
def copy_boards(boards: np.ndarray, sources: np.ndarray) -> None:
    """Write the bits of several boards.

    Args:
        boards: (n, 3) uint64, written.
        sources: (n, 3) uint64.
    """
    for place in range(boards.shape[0]):
        copy_board(boards[place], sources[place])


@njit
def clear_board(board: np.ndarray) -> None:
    """Empty a board in place.

    Args:
        board: (3,) uint64.
    """
    board[0] = _ZERO
    board[1] = _ZERO
    board[2] = _ZERO


@njit
def locate(cell: int) -> tuple[int, np.uint64]:
    """Return a cell's word index and its bit.

    Args:
        cell: cell index, row * 15 + column.
    """
    index = cell + cell // 15
    return index >> 6, _ONE << (np.uint64(index) & _S63)


@njit
def add_bit(board: np.ndarray, cell: int) -> None:
    """Put a cell into a board in place."""
    word, bit = locate(cell)
    board[word] |= bit


@njit
def remove_bit(board: np.ndarray, cell: int) -> None:
    """Take a cell out of a board in place."""
    word, bit = locate(cell)
    board[word] &= bit ^ _FULL


@njit
def has_bit(board: np.ndarray, cell: int) -> bool:
    """Return whether a board holds a cell."""
    word, bit = locate(cell)
    return (board[word] & bit) != _ZERO
