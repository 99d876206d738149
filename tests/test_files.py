"""Files of runs and reports: whole at every moment, and a full disk is one clear line."""

import errno
import os
from pathlib import Path

import pytest

from agents import find_agent
from benchmarks.recordfile import RecordFile
from benchmarks.runner import make_config
from benchmarks.suite import load_suite
from normgym_envs.errors import ConfigError
from normgym_envs.files import make_folder, replace_file


def test_a_full_disk_leaves_the_old_file_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.md"
    replace_file(path, b"old")

    def fill(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(ConfigError, match=r"No space left on device; make room .*is kept"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_names_its_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"--out: folder .* cannot be made"):
        make_folder(tmp_path / "file" / "out", "--out")
    make_folder(tmp_path / "a" / "b", "--out")
    assert (tmp_path / "a" / "b").is_dir()


def test_half_written_records_are_cleared_away(tmp_path: Path) -> None:
    suite = load_suite("smoke")
    path = tmp_path / "random.jsonl"
    leftover = tmp_path / ".random.jsonl.12345.tmp"
    leftover.write_bytes(b"{")
    with RecordFile(path, make_config(find_agent("random"), suite, 0), suite):
        pass
    assert not leftover.exists()
