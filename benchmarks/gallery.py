"""Pictures for README and docs: all places, a kept and a broken norm of each family, the market."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.suite import load_suite
from normgym_envs.constants import FAMILIES, INTERACTION_STEPS, MAX_SLOTS, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ScenarioError
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.rendering.figures import Sprite
from normgym_envs.rendering.palette import MARGIN
from normgym_envs.rendering.rasterise import Image
from normgym_envs.rendering.renderer import (
    BatchRenderer,
    FlatRenderer,
    check_width,
    make_renderer,
)
from normgym_envs.rendering.scene import list_sprites
from normgym_envs.rendering.themes import THEMES
from normgym_envs.types import EpisodeSpec

PAIRS: Final = {
    "access": "forbidden-zone-q",
    "procedure": "counterclockwise-circulation",
    "coordination": "zigzag-left-1",
    "allocation": "group-seating-1",
}
"""Family -> norm that stands for it."""
SUITE: Final = "cafe"
GAP: Final = 14
"""Pixels between pictures."""


def draw_layouts(style: str, width: int, columns: int = 2) -> Image:
    """Return all places in one picture, with people in them and titles over them."""
    renderer = make_renderer(style, width)
    norms = load_norms()
    pictures = []
    for number, name in enumerate(name for name in list_layouts() if name in THEMES):
        layout = get_layout(name)
        norm = norms[(7 * number) % len(norms)]
        engine = BatchEngine([layout], [norm], 1)
        spec = draw_episode(layout, norm, number, num_learners=0, num_norm_blind=1)
        engine.load(0, spec)
        for _ in range(40):
            engine.step(np.full((1, MAX_SLOTS), Action.WAIT, np.int8))
        frame = renderer.draw(engine.states[0], layout, viewer=-1)
        pictures.append(add_title(frame, layout.title))
    return arrange(pictures, columns)


def draw_families(width: int) -> Image:
    """Return a newcomer that keeps a norm beside one that breaks it, one row a family."""
    suite = load_suite(SUITE)
    pictures = []
    for family in FAMILIES:
        norm = next(norm for norm in suite.norms if norm.id == PAIRS[family])
        spec = next(s for s in suite.specs if s.norms == (norm.id,) and s.phase == "seen")
        for driver, word in ((Driver.NORM_AWARE, "kept"), (Driver.NORM_BLIND, "broken")):
            frame = _draw_moment(spec, norm, driver, width)
            pictures.append(add_title(frame, f"{family.capitalize()}: {norm.id}, {word}"))
    return arrange(pictures, 2)


def _draw_moment(spec: EpisodeSpec, norm: Any, driver: Driver, width: int) -> Image:
    """Return the telling frame of a test: where the norm is broken, or the first goal reached."""
    layout = get_layout(spec.layout)
    engine = BatchEngine([layout], [norm], 1)
    engine.load(0, spec, drivers=(driver, *spec.drivers[1:]))
    state = engine.states[0]
    trail: list[int] = [int(state["pos"][0])]
    renderer = make_renderer("flat", width)
    assert isinstance(renderer, FlatRenderer)
    while state["ending"] == Ending.RUNNING:
        engine.step(np.full((1, MAX_SLOTS), Action.WAIT, np.int8))
        is_moment = state["violated"][0] if driver == Driver.NORM_BLIND else state["timer"][0] == 2
        if is_moment:
            below = [(int(Sprite.TRAIL), cell) for cell in dict.fromkeys(trail)]
            above = list_sprites(state, engine.tables[0], 0, goal=True)
            blits = np.concatenate([np.array(below, np.int16).reshape(-1, 2), above])
            return renderer.draw_blits(layout, blits)
        trail.append(int(state["pos"][0]))
    raise ScenarioError(f"episode {spec.name!r} has no such moment")


def draw_market_view(scenario: str = "adversarial_redteam", seed: int = 42) -> bytes:
    """Return the network and ledger of a market run, as a PNG file."""
    from benchmarks.market_view import draw_market
    from normgym_envs.market.market import play
    from normgym_envs.market.scenario import load_scenario

    return draw_market(play(load_scenario(scenario), [seed]))


def add_title(frame: Image, title: str) -> Image:
    """Return a frame with a line of text over it."""
    import matplotlib
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont

    size = max(round(frame.shape[1] / 24), 11)
    canvas = PIL.Image.new("RGB", (frame.shape[1], frame.shape[0] + round(1.7 * size)), MARGIN)
    canvas.paste(PIL.Image.fromarray(frame), (0, round(1.7 * size)))
    face = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    font = PIL.ImageFont.truetype(str(face), round(0.9 * size))
    PIL.ImageDraw.Draw(canvas).text((2, round(0.25 * size)), title, (52, 50, 58), font=font)
    return np.asarray(canvas)


def arrange(pictures: Sequence[Image], columns: int) -> Image:
    """Return pictures of one size in rows."""
    height, width, _ = pictures[0].shape
    rows = -(-len(pictures) // columns)
    shape = (rows * (height + GAP) + GAP, columns * (width + GAP) + GAP, 3)
    sheet: npt.NDArray[np.uint8] = np.empty(shape, np.uint8)
    sheet[:] = MARGIN
    for number, picture in enumerate(pictures):
        top = GAP + number // columns * (height + GAP)
        left = GAP + number % columns * (width + GAP)
        sheet[top : top + height, left : left + width] = picture
    return sheet


def write_gallery(folder: Path, width: int) -> list[Path]:
    """Write all pictures into a folder and return their paths.

    Args:
        folder: made when missing.
        width: pixels of one picture, a multiple of 15.

    Raises:
        ConfigError: the width is out of range.
        MissingExtraError: pygame is missing.
    """
    import PIL.Image

    check_width(width)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, picture in (
        ("layouts", draw_layouts("flat", width)),
        ("isometric", draw_layouts("isometric", width)),
        ("families", draw_families(width)),
    ):
        paths.append(folder / f"{name}.png")
        PIL.Image.fromarray(picture).save(paths[-1], optimize=True)
    paths.append(folder / "market.png")
    paths[-1].write_bytes(draw_market_view())
    return paths


def measure_renderers(seconds: float = 3.0) -> dict[str, float]:
    """Return frames per second of one thread, by way of drawing.

    Args:
        seconds: for each.
    """
    layouts = [get_layout(name) for name in list_layouts()]
    norms = load_norms()
    engine = BatchEngine(layouts, norms, 256)
    for row in range(256):
        layout, norm = layouts[row % len(layouts)], norms[row % len(norms)]
        spec = draw_episode(layout, norm, row, num_learners=0, limit=INTERACTION_STEPS)
        engine.load(row, spec)
    for _ in range(30):
        engine.step(np.full((256, MAX_SLOTS), Action.WAIT, np.int8))
    batch = BatchRenderer(engine.layouts)
    out = batch.draw(engine.states, engine.tables[0])
    rates = {
        "batch, 180 x 132": _measure(
            lambda: batch.draw(engine.states, engine.tables[0], out=out), seconds, 256
        )
    }
    for style, width in (("flat", 660), ("flat", 1320), ("isometric", 660)):
        renderer = make_renderer(style, width)

        def draw_one(renderer: Any = renderer) -> None:
            state = engine.states[0]
            renderer.draw(state, layouts[int(state["layout"])], goal=True)

        draw_one()
        height, wide, _ = renderer.shape
        rates[f"single, {style}, {wide} x {height}"] = _measure(draw_one, seconds, 1)
    return rates


def _measure(draw: Any, seconds: float, frames: int) -> float:
    """Return the median rate of five stretches."""
    rates = []
    for _ in range(5):
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 5:
            draw()
            count += frames
        rates.append(count / (time.perf_counter() - start))
    return float(np.median(rates))
