"""Films: every frame arrives; what is missing is named."""

import sys
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from normgym_envs import NormGymEnv, NormGymParallelEnv
from normgym_envs.errors import ConfigError, MissingExtraError, UnknownNameError
from normgym_envs.rendering.film import write_gif, write_mp4
from normgym_envs.rendering.palette import SANCTION, SHIRTS
from normgym_envs.wrappers import RecordVideo


def make_frames(count: int) -> list[np.ndarray]:
    env = NormGymParallelEnv(render_mode="rgb_array", render_width=330)
    env.reset(seed=0)
    frames = []
    for _ in range(count):
        env.step({"newcomer": 3})
        frames.append(env.render())
    return frames


def test_a_gif_holds_every_frame_in_its_colours(tmp_path: Path) -> None:
    frames = make_frames(9)
    frames[4][100:120, 100:120] = SANCTION
    write_gif(tmp_path / "film.gif", frames, 10)
    film = PIL.Image.open(tmp_path / "film.gif")
    assert film.n_frames == 9
    assert film.info["duration"] == 100
    film.seek(4)
    picture = np.asarray(film.convert("RGB")).astype(int)
    assert np.abs(picture[105, 105] - SANCTION).sum() < 30
    assert np.abs(picture - frames[4]).mean() < 6
    for colour in SHIRTS.values():
        if (frames[4] == colour).all(axis=2).any():
            assert np.abs(picture - colour).sum(axis=2).min() < 60


def test_an_mp4_holds_every_frame(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra render is missing")
    write_mp4(tmp_path / "film.mp4", make_frames(9), 10)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "film.mp4"))
    facts = next(reader)
    assert facts["codec"] == "h264"
    assert facts["size"] == (330, 242)
    assert sum(1 for _ in reader) == 9


def test_a_missing_codec_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = make_frames(1)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/nowhere/ffmpeg")
    with pytest.raises((MissingExtraError, ConfigError), match="ffmpeg"):
        write_mp4(tmp_path / "film.mp4", frames, 10)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"install normgym\[render\], or write a GIF"):
        write_mp4(tmp_path / "film.mp4", frames, 10)


def test_rates_out_of_range_and_empty_films_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="frames per second is 0; expected 1 to 50"):
        write_gif(tmp_path / "film.gif", [], 0)
    with pytest.raises(ConfigError, match="no frame"):
        write_gif(tmp_path / "film.gif", [], 5)


def test_the_wrapper_films_chosen_episodes(tmp_path: Path) -> None:
    env = NormGymParallelEnv(render_mode="rgb_array", render_width=180, max_episode_steps=5)
    env = RecordVideo(env, tmp_path, is_wanted=lambda episode: episode != 1)
    for seed in range(3):
        env.reset(seed=seed)
        while env.agents:
            env.step({"newcomer": 4})
    env.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["episode-0.gif", "episode-2.gif"]
    assert PIL.Image.open(tmp_path / "episode-0.gif").n_frames == 6


def test_the_wrapper_needs_frames(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a film needs render_mode='rgb_array'"):
        RecordVideo(NormGymParallelEnv(), tmp_path)
    with pytest.raises(UnknownNameError, match="unknown kind of film 'mpg'"):
        RecordVideo(NormGymParallelEnv(render_mode="rgb_array"), tmp_path, kind="mpg")


def test_the_wrappers_of_gymnasium_and_pettingzoo_work(tmp_path: Path) -> None:
    pytest.importorskip("moviepy", reason="these wrappers need moviepy, which is not installed")
    from gymnasium.wrappers import RecordVideo as GymnasiumVideo
    from pettingzoo.utils.wrappers.record_video_parallel import RecordVideoParallel

    single = GymnasiumVideo(
        NormGymEnv(render_mode="rgb_array", max_episode_steps=5), str(tmp_path / "single")
    )
    single.reset(seed=0)
    for _ in range(5):
        single.step(4)
    single.close()
    many = RecordVideoParallel(
        NormGymParallelEnv(render_mode="rgb_array", max_episode_steps=5),
        str(tmp_path / "many"),
        episode_trigger=lambda episode: True,
    )
    many.reset(seed=0)
    for _ in range(5):
        many.step({"newcomer": 4})
    many.close()
    assert list((tmp_path / "single").glob("*.mp4"))
    assert list((tmp_path / "many").glob("*.mp4"))
