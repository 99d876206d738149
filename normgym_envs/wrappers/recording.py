"""Films of episodes, without any package beyond the extra `render`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pettingzoo.utils.wrappers import BaseParallelWrapper

from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.rendering.film import check_rate, write_gif, write_mp4
from normgym_envs.rendering.rasterise import Image

FORMATS = ("gif", "mp4")


class RecordVideo(BaseParallelWrapper):  # type: ignore[misc]  # it ships no types
    """Writes a film of chosen episodes of a parallel environment.

    Gymnasium's and PettingZoo's own wrappers of that name work too; they need moviepy.

    Example:
        >>> env = RecordVideo(  # doctest: +SKIP
        ...     NormGymParallelEnv(render_mode="rgb_array"), "films"
        ... )
    """

    def __init__(
        self,
        env: Any,
        folder: str | Path,
        *,
        is_wanted: Callable[[int], bool] = lambda episode: True,
        kind: str = "gif",
        frames_per_second: int = 8,
    ) -> None:
        """Wrap an environment.

        Args:
            env: with render_mode="rgb_array".
            folder: gets `episode-<number>.<kind>`; made when missing.
            is_wanted: which episodes, counted from 0.
            kind: "gif" or "mp4".
            frames_per_second: 1 to 50.

        Raises:
            ConfigError: the environment gives no frames, or the rate is out of range.
            UnknownNameError: no such kind of film.
        """
        super().__init__(env)
        if env.render_mode != "rgb_array":
            raise ConfigError(
                f"render_mode is {env.render_mode!r}; a film needs render_mode='rgb_array'"
            )
        if kind not in FORMATS:
            raise UnknownNameError("kind of film", kind, FORMATS)
        check_rate(frames_per_second)
        self._folder = Path(folder)
        self._is_wanted = is_wanted
        self._kind = kind
        self._rate = frames_per_second
        self._episode = -1
        self._frames: list[Image] = []

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; the film of one that was broken off is written first."""
        self._write()
        result: tuple[dict[str, Any], dict[str, Any]] = self.env.reset(seed, options)
        self._episode += 1
        self._film()
        return result

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Advance by a turn; the film is written when the episode ends."""
        result = self.env.step(actions)
        self._film()
        if not self.env.agents:
            self._write()
        return result

    def close(self) -> None:
        """Write the film of an episode that was broken off, and close the environment."""
        self._write()
        self.env.close()

    def _film(self) -> None:
        if self._is_wanted(self._episode):
            self._frames.append(self.env.render())

    def _write(self) -> None:
        if len(self._frames) > 1:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"episode-{self._episode}.{self._kind}"
            write = write_gif if self._kind == "gif" else write_mp4
            write(path, self._frames, self._rate)
        self._frames = []
