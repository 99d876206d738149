"""Frames: sizes, styles, golden images, errors, and that nothing is loaded or opened too early."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from played_worlds import play_rows

from normgym_envs import BatchEngine, NormGymEnv, NormGymParallelEnv, NormGymVectorEnv
from normgym_envs.engine.state import allocate_states
from normgym_envs.errors import ConfigError, MissingExtraError, StateError, UnknownNameError
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.observations.image import IMAGE_SHAPE, observe_image
from normgym_envs.rendering import BatchRenderer, draw_text, make_renderer
from normgym_envs.rendering.renderer import make_place
from normgym_envs.rendering.themes import THEMES

GOLDEN = Path(__file__).parent / "golden"
HEADLESS = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "SDL_VIDEODRIVER")}


def get_golden_frame(style: str) -> np.ndarray:
    """Return a frame of a made-up state in which every mark is to be seen."""
    layout = get_layout("cafe")
    state = allocate_states(1)[0]
    state["num_slots"] = 8
    places = [(1, 9), (1, 10), (3, 6), (4, 6), (6, 8), (7, 9), (6, 10), (5, 0)]
    state["present"][:8] = [1, 1, 1, 1, 1, 1, 1, 0]
    state["pos"][:8] = [row * 15 + column for row, column in places[:7]] + [-1]
    state["prev"][:8] = [row * 15 + column for row, column in places[:7]] + [5 * 15 + 1]
    state["action"][:8] = [4, 4, 4, 4, 4, 4, 4, 2]  # the last one has gone left, out of the door
    state["group"][:8] = [0, 1, 2, 0, 1, 2, 0, 1]
    state["timer"][:8] = [0, 3, 0, 0, 0, 0, 0, 0]
    state["leg"][:8] = [0, 0, 0, 1, 0, 0, 1, 0]
    state["sanctioned"][:8] = [0, 0, 1, 0, 0, 0, 0, 1]
    state["collided"][:8] = [0, 0, 0, 0, 1, 0, 0, 0]
    state["displaced"][:8] = [0, 0, 0, 0, 0, 1, 0, 0]
    return make_renderer(style, 330).draw(state, layout, goal=True)


@pytest.mark.parametrize("style", ["flat", "isometric"])
def test_frames_equal_the_golden_ones_to_the_pixel(style: str) -> None:
    # `python tests/rendering/test_frames.py` writes them anew, to be looked at before committing
    expected = np.asarray(PIL.Image.open(GOLDEN / f"{style}.png"))
    assert np.array_equal(get_golden_frame(style), expected)


@pytest.mark.parametrize("width", [180, 330, 660, 1320])
def test_a_frame_has_the_width_asked_for(engine: BatchEngine, width: int) -> None:
    layout = engine.layouts[engine.states[0]["layout"]]
    renderer = make_renderer("flat", width)
    frame = renderer.draw(engine.states[0], layout)
    assert frame.shape == renderer.shape == (width // 15 * 11, width, 3)
    assert frame.dtype == np.uint8
    numbered = make_renderer("flat", width, numbers=True).draw(engine.states[0], layout)
    margin = numbered.shape[1] - width
    assert 0 < margin < width // 15
    assert np.array_equal(numbered[margin:, margin:], frame)


@pytest.mark.parametrize("width", [330, 1320])
def test_frames_from_a_corner_have_the_width_asked_for(engine: BatchEngine, width: int) -> None:
    renderer = make_renderer("isometric", width, numbers=True)
    frame = renderer.draw(engine.states[0], engine.layouts[engine.states[0]["layout"]])
    assert frame.shape == renderer.shape
    assert frame.shape[1] == width


@pytest.mark.parametrize("style", ["flat", "isometric"])
def test_every_mark_shows_in_every_style(engine: BatchEngine, style: str) -> None:
    from normgym_envs.rendering import palette

    state = engine.states[0].copy()
    slot = int(np.flatnonzero(state["present"])[0])
    renderer = make_renderer(style, 660)
    layout = engine.layouts[state["layout"]]
    for name in ("sanctioned", "collided", "leg", "timer", "displaced"):
        state[name][:] = 0
    plain = renderer.draw(state, layout, viewer=-1)
    for name, colour in (
        ("sanctioned", palette.SANCTION),
        ("collided", palette.CHARGED),
        ("displaced", palette.PUSHED),
        ("leg", palette.DONE),
        ("timer", palette.CLOCK_SERVED),
    ):
        marked = state.copy()
        marked[name][slot] = 1
        frame = renderer.draw(marked, layout, viewer=-1)
        assert not (plain == colour).all(axis=2).any()
        assert (frame == colour).all(axis=2).any(), name


def test_the_batch_renderer_draws_the_same_picture(engine: BatchEngine) -> None:
    frames = observe_image(engine, 0)
    renderer = make_renderer("flat", 180)
    for row in range(engine.num_rows):
        layout = engine.layouts[engine.states[row]["layout"]]
        assert np.array_equal(renderer.draw(engine.states[row], layout, goal=True), frames[row])


def test_the_batch_renderer_is_fast_enough_for_learning() -> None:
    engine = play_rows(128, 20)
    renderer = BatchRenderer(engine.layouts)
    out = renderer.draw(engine.states, engine.tables[0])
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        renderer.draw(engine.states, engine.tables[0], out=out)
        rates.append(engine.num_rows / (time.perf_counter() - start))
    assert max(rates) > 3000, rates


def test_all_places_look_different() -> None:
    assert set(THEMES) <= set(list_layouts())
    pictures = {name: make_place(get_layout(name), 22) for name in THEMES}
    names = list(pictures)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            assert (pictures[first] != pictures[second]).any(axis=2).mean() > 0.3


def test_the_text_shows_what_the_frame_shows(engine: BatchEngine) -> None:
    state = engine.states[0].copy()
    layout = engine.layouts[state["layout"]]
    lines = draw_text(state, layout, goal=True).splitlines()
    assert len(lines) == 12
    for slot in np.flatnonzero(state["present"]):
        row, column = divmod(int(state["pos"][slot]), 15)
        sign = lines[row + 1][4 + 4 * column : 8 + 4 * column]
        assert "ogb"[state["group"][slot]] in sign
        assert ("*" in sign) == (slot == 0)
    assert "\x1b[" in draw_text(state, layout, colour=True)
    assert "\x1b[" not in draw_text(state, layout)


def test_unknown_styles_and_sizes_out_of_range_are_refused() -> None:
    with pytest.raises(
        UnknownNameError, match="unknown style 'isometrc'; did you mean 'isometric'"
    ):
        make_renderer("isometrc")
    for width in (165, 181, 1335, 0, -15):
        with pytest.raises(
            ConfigError, match=r"expected a multiple of 15 from 180 to 1320, e\.g\."
        ):
            make_renderer("flat", width)
    with pytest.raises(ConfigError, match="expected a whole number of pixels"):
        make_renderer("flat", 330.0)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown render_mode 'rgb'"):
        NormGymParallelEnv(render_mode="rgb")
    with pytest.raises(UnknownNameError, match="unknown style"):
        NormGymParallelEnv(render_mode="rgb_array", render_style="3d")
    with pytest.raises(ConfigError, match="multiple of 15"):
        NormGymParallelEnv(render_mode="rgb_array", render_width=1000)


def test_render_modes() -> None:
    env = NormGymParallelEnv(render_mode="rgb_array", render_width=330)
    with pytest.raises(StateError, match="before reset"):
        env.render()
    env.reset(seed=1)
    frame = env.render()
    assert frame.shape == (242, 330, 3)
    for _ in range(20):
        env.step({"newcomer": 3})
    assert not np.array_equal(env.render(), frame)
    text = NormGymEnv(render_mode="ansi")
    text.reset(seed=1)
    assert "*" in text.render()
    none = NormGymParallelEnv()
    none.reset(seed=1)
    with pytest.raises(ConfigError, match="render_mode= one of human, rgb_array, ansi"):
        none.render()


def test_image_observations_in_every_face() -> None:
    parallel = NormGymParallelEnv(observation="image", num_learners=2)
    observations, _ = parallel.reset(seed=3)
    for agent, seen in observations.items():
        assert parallel.observation_space(agent).contains(seen)
    single = NormGymEnv(observation="image")
    seen, info = single.reset(seed=3)
    assert single.observation_space.contains(seen)
    assert seen.shape == IMAGE_SHAPE
    assert info["action_mask"].shape == (5,)
    batch = NormGymVectorEnv(3, observation="image")
    many, _ = batch.reset(seed=3)
    assert batch.observation_space.contains(many)
    assert np.array_equal(many[0], seen)
    seen, *_ = single.step(3)
    many, *_ = batch.step(np.array([3, 3, 3]))
    assert np.array_equal(many[0], seen)


def test_pickled_environments_leave_their_surfaces_behind() -> None:
    env = NormGymParallelEnv(render_mode="rgb_array", render_width=330)
    env.reset(seed=1)
    frame = env.render()
    copy = pickle.loads(pickle.dumps(env))
    assert np.array_equal(copy.render(), frame)


def run_alone(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**HEADLESS, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )


def test_pygame_is_not_imported_unless_something_is_drawn() -> None:
    code = (
        "import sys; from normgym_envs import NormGymParallelEnv\n"
        "import normgym_envs.rendering, normgym_envs.play, normgym_envs.observations\n"
        "env = NormGymParallelEnv(render_mode='ansi'); env.reset(seed=0)\n"
        "for _ in range(100): env.step({'newcomer': 4})\n"
        "env.render(); print('pygame' in sys.modules)"
    )
    done = run_alone(code)
    assert done.stdout.strip() == "False", done.stderr


def test_arrays_need_no_display_and_little_time() -> None:
    code = (
        "import os, time; from normgym_envs import NormGymParallelEnv\n"
        "env = NormGymParallelEnv(render_mode='rgb_array'); env.reset(seed=0); env.render()\n"
        "import pygame; start = time.perf_counter()\n"
        "env = NormGymParallelEnv(layout='cafe', render_mode='rgb_array', render_width=675)\n"
        "env.reset(seed=0); env.render(); print(time.perf_counter() - start)\n"
        "print(pygame.display.get_init(), pygame.mixer.get_init(), pygame.font.get_init())\n"
    )
    done = run_alone(code)
    seconds, started = done.stdout.splitlines()
    assert started == "False None False", done.stderr
    assert float(seconds) < 5


def test_a_window_without_a_display_gives_advice() -> None:
    code = (
        "from normgym_envs import NormGymParallelEnv\n"
        "NormGymParallelEnv(render_mode='human').reset(seed=0)"
    )
    done = run_alone(code)
    assert "ConfigError: no display to open a window on" in done.stderr
    assert "xvfb-run" in done.stderr


def test_a_window_shows_every_turn() -> None:
    code = (
        "from normgym_envs import NormGymParallelEnv\n"
        "import normgym_envs.envs.frames as frames; frames.RENDER_FPS = 0\n"
        "env = NormGymParallelEnv(render_mode='human', render_width=330); env.reset(seed=0)\n"
        "for _ in range(3): env.step({'newcomer': 4})\n"
        "assert env.render() is None\n"
        "import pygame; print(pygame.display.get_surface().get_size()); env.close()\n"
        "print(pygame.display.get_init())"
    )
    done = run_alone(code, SDL_VIDEODRIVER="dummy")
    assert done.stdout.split("\n")[:2] == ["(330, 242)", "False"], done.stderr


def test_a_missing_pygame_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from normgym_envs.rendering.rasterise import load_pygame

    load_pygame.cache_clear()
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtraError, match=r"normgym\[render\]"):
        make_renderer()
    load_pygame.cache_clear()


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in ("flat", "isometric"):
        PIL.Image.fromarray(get_golden_frame(name)).save(GOLDEN / f"{name}.png", optimize=True)
