"""The pictures of README and docs can be drawn by anybody."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from benchmarks.gallery import PAIRS, draw_families, measure_renderers, write_gallery
from normgym_envs.constants import FAMILIES
from normgym_envs.errors import ConfigError
from normgym_envs.rendering.palette import SANCTION, TRAIL


def test_the_gallery_holds_every_picture(tmp_path: Path) -> None:
    paths = write_gallery(tmp_path / "new", 180)
    assert [path.name for path in paths] == [
        "layouts.png",
        "isometric.png",
        "families.png",
        "market.png",
    ]
    for path in paths:
        picture = PIL.Image.open(path)
        assert picture.size[0] > 360
    with pytest.raises(ConfigError, match="expected a multiple of 15"):
        write_gallery(tmp_path, 181)


def test_a_norm_of_each_family_is_kept_on_the_left_and_broken_on_the_right() -> None:
    assert tuple(PAIRS) == FAMILIES
    sheet = draw_families(180)
    kept, broken = sheet[:, : sheet.shape[1] // 2], sheet[:, sheet.shape[1] // 2 :]
    for row in range(len(FAMILIES)):
        part = slice(row * len(sheet) // 4, (row + 1) * len(sheet) // 4)
        assert (broken[part] == SANCTION).all(axis=2).sum() > 10
        assert (kept[part] == TRAIL).all(axis=2).sum() > 10
    assert np.any(kept != broken)


def test_renderers_are_measured() -> None:
    rates = measure_renderers(0.25)
    assert len(rates) == 4
    assert rates["batch, 180 x 132"] > 1000
