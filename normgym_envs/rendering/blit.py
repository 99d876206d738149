"""Puts sprites over pictures of empty places, compiled."""

import numpy as np

from normgym_envs.kernels import njit
from normgym_envs.rendering.scene import MAX_BLITS, write_sprites


@njit
def blend(frame: np.ndarray, tile: np.ndarray, top: int, left: int) -> None:
    """Draw a tile over a frame, in place.

    Args:
        frame: (H, W, 3) uint8.
        tile: (h, w, 4) uint8, red, green, blue, opacity; must lie inside the frame.
        top: row of the tile's first row in the frame.
        left: column of its first column.
    """
    for y in range(tile.shape[0]):
        for x in range(tile.shape[1]):
            alpha = np.int32(tile[y, x, 3])
            if alpha == 255:
                frame[top + y, left + x, 0] = tile[y, x, 0]
                frame[top + y, left + x, 1] = tile[y, x, 1]
                frame[top + y, left + x, 2] = tile[y, x, 2]
            elif alpha > 0:
                for part in range(3):
                    below = np.int32(frame[top + y, left + x, part])
                    above = np.int32(tile[y, x, part])
                    mixed = above * alpha + below * (255 - alpha)
                    frame[top + y, left + x, part] = (mixed + 127) // 255


@njit
def draw_blits(
    frame: np.ndarray, tiles: np.ndarray, blits: np.ndarray, count: int, margin: int
) -> None:
    """Draw a list of sprites over a frame, in place.

    Args:
        frame: (H, W, 3) uint8.
        tiles: (n, c, c, 4) uint8, by sprite; c pixels are a cell's edge.
        blits: (n, 2) int16, sprite and cell.
        count: entries of `blits` to draw.
        margin: pixels above and left of the grid.
    """
    edge = tiles.shape[1]
    for place in range(count):
        cell = np.int64(blits[place, 1])
        top = margin + cell // 15 * edge
        left = margin + cell % 15 * edge
        blend(frame, tiles[blits[place, 0]], top, left)


@njit
def draw_rows(
    states: np.ndarray,
    layouts: np.ndarray,
    places: np.ndarray,
    tiles: np.ndarray,
    viewer: int,
    goal: bool,
    out: np.ndarray,
) -> None:
    """Draw every row of a batch, in place in `out`.

    Args:
        states: (B,) STATE_DTYPE.
        layouts: (L,) LAYOUT_DTYPE.
        places: (L, H, W, 3) uint8, pictures of the empty places.
        tiles: as `draw_blits`.
        viewer: slot that carries the star, -1 for none.
        goal: mark the viewer's present goal.
        out: (B, H, W, 3) uint8.
    """
    blits = np.empty((MAX_BLITS, 2), np.int16)
    for index in range(states.shape[0]):
        where = states[index]["layout"]
        out[index] = places[where]
        count = write_sprites(states[index], layouts[where], viewer, goal, blits)
        draw_blits(out[index], tiles, blits, count, 0)
