"""Frames to films: GIF with Pillow, MP4 with the ffmpeg that comes with imageio-ffmpeg."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from normgym_envs.errors import ConfigError, MissingExtraError
from normgym_envs.rendering.palette import (
    CHARGED,
    CLOCK_SERVED,
    DONE,
    GOAL,
    PUSHED,
    SANCTION,
    SHIRTS,
    STAR,
)
from normgym_envs.rendering.rasterise import Image

MARK_COLOURS = (*SHIRTS.values(), SANCTION, CHARGED, PUSHED, DONE, CLOCK_SERVED, GOAL, STAR)


def write_gif(path: Path, frames: Iterable[Image], frames_per_second: int) -> None:
    """Write an endless GIF.

    Args:
        path: file to write.
        frames: (H, W, 3) uint8 each, at least one.
        frames_per_second: 1 to 50.

    Raises:
        ConfigError: no frame, or a rate out of range.
    """
    import PIL.Image

    check_rate(frames_per_second)
    pictures = [PIL.Image.fromarray(frame) for frame in frames]
    if not pictures:
        raise ConfigError("no frame to write")
    # one palette for all frames, so that nothing flickers; the colours of people and marks cover
    # little, so they are given some room of their own
    sample = [np.asarray(picture) for picture in pictures[:: len(pictures) // 8 + 1]]
    swatches = np.array(MARK_COLOURS, np.uint8).repeat(sample[0].shape[1] // 4, axis=0)
    rows = -(-len(swatches) // sample[0].shape[1]) * 4
    strip = np.resize(swatches, (rows, sample[0].shape[1], 3))
    palette = PIL.Image.fromarray(np.concatenate([*sample, strip])).quantize(
        256, method=PIL.Image.Quantize.MAXCOVERAGE
    )
    flat = [picture.quantize(palette=palette, dither=PIL.Image.Dither.NONE) for picture in pictures]
    flat[0].save(
        path,
        save_all=True,
        append_images=flat[1:],
        duration=round(1000 / frames_per_second),
        loop=0,
    )


def write_mp4(path: Path, frames: Iterable[Image], frames_per_second: int) -> None:
    """Write an H.264 film.

    Args:
        path: file to write.
        frames: (H, W, 3) uint8 each, at least one.
        frames_per_second: 1 to 50.

    Raises:
        MissingExtraError: imageio-ffmpeg, or the program it brings, is missing.
        ConfigError: no frame, a rate out of range, or ffmpeg has failed.
    """
    check_rate(frames_per_second)
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingExtraError(
            "MP4 needs imageio-ffmpeg, which is not installed; install normgym[render], "
            "or write a GIF or a page (--gif, --html)"
        ) from None
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise ConfigError("no frame to write")
    height, width, _ = first.shape
    even = (width + width % 2, height + height % 2)
    try:
        writer = imageio_ffmpeg.write_frames(
            str(path),
            even,
            fps=frames_per_second,
            codec="libx264",
            quality=8,
            macro_block_size=2,
            ffmpeg_log_level="error",
        )
        writer.send(None)
        for frame in (first, *pictures):
            writer.send(_pad(frame, even))
        writer.close()
    except (OSError, RuntimeError) as error:
        text = str(error).strip().splitlines()
        reason = text[-1] if text else type(error).__name__
        if "No ffmpeg exe" in str(error) or "Unknown encoder" in str(error):
            raise MissingExtraError(
                f"MP4 needs ffmpeg with the codec libx264 ({reason}); write a GIF or a page "
                "(--gif, --html) instead"
            ) from None
        raise ConfigError(f"ffmpeg could not write {path}: {reason}") from None


def check_rate(frames_per_second: int) -> None:
    """Refuse a rate that a film cannot have.

    Raises:
        ConfigError: not 1 to 50.
    """
    if not 1 <= frames_per_second <= 50:
        raise ConfigError(f"frames per second is {frames_per_second}; expected 1 to 50")


def _pad(frame: Image, size: tuple[int, int]) -> Image:
    """Return a frame with even width and height, as the codec wants it."""
    width, height = size
    below, right = height - frame.shape[0], width - frame.shape[1]
    return np.ascontiguousarray(np.pad(frame, ((0, below), (0, right), (0, 0)), mode="edge"))
