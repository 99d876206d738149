"""A run that is killed at any moment goes on: the same records, and no decision asked twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from llm_policies import wander
from llm_stub import StubServer

from benchmarks.llm.decisions import read_decisions

ROOT = Path(__file__).resolve().parents[3]
COMMAND = (
    *(sys.executable, "-m", "normgym_envs", "bench", "llm", "--suite", "smoke"),
    *("--limit", "2", "--interaction-turns", "12", "--test-turns", "12", "--modality", "text"),
)


def start(folder: Path, model: Sequence[str], **variables: str) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    return subprocess.Popen(
        [*COMMAND, *model, "--out", str(folder)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **variables},
        cwd=folder.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def read_records(folder: Path) -> bytes:
    """Return the record file of a folder with one model."""
    (path,) = (folder / "records").glob("*.jsonl")
    return path.read_bytes()


def count_decisions(folder: Path) -> int:
    """Return how many whole decisions there are."""
    (decisions,) = (folder / "decisions").iterdir()
    return sum(len(stored) for _, stored in read_decisions(decisions))


@pytest.mark.slow
def test_killed_in_the_middle_of_requests_over_http(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    model = ("--model", "vllm/stub")
    with StubServer(wander) as server:
        whole = start(tmp_path / "whole", model, VLLM_BASE_URL=server.url)
        assert whole.wait(300) == 0
        calls = server.total
    assert count_decisions(tmp_path / "whole") == calls
    with StubServer(wander) as server:
        killed = start(tmp_path / "killed", model, VLLM_BASE_URL=server.url)

        def kill(number: int) -> None:
            if number == 31:
                os.kill(killed.pid, signal.SIGKILL)

        server.on_request = kill
        assert killed.wait(300) == -signal.SIGKILL
        kept = count_decisions(tmp_path / "killed")
        lost = server.total - kept  # asked, but not on disk when the process died
        assert 1 <= lost <= 8
        again = start(tmp_path / "killed", model, VLLM_BASE_URL=server.url)
        assert again.wait(300) == 0
        assert server.total == calls + lost
    assert read_records(tmp_path / "killed") == read_records(tmp_path / "whole")
    assert count_decisions(tmp_path / "killed") == calls


@pytest.mark.slow
def test_killed_twice_while_a_function_answers(tmp_path: Path) -> None:
    model = ("--model", "callable:llm_policies:wander_until_killed")
    log = tmp_path / "calls"
    folder = tmp_path / "run"
    lost = kept = calls = 0
    for moment in ("17", "40"):
        killed = start(folder, model, KILL_AT=moment, CALLS=str(log))
        assert killed.wait(300) == -signal.SIGKILL
        asked = len(log.read_bytes()) - calls
        here = asked - (count_decisions(folder) - kept)
        assert 1 <= here <= 8  # answered or not, these were not on disk yet
        lost, kept, calls = lost + here, count_decisions(folder), calls + asked
    assert start(folder, model, CALLS=str(log)).wait(300) == 0
    other = tmp_path / "other"
    assert start(other, model, CALLS=str(tmp_path / "others")).wait(300) == 0
    assert read_records(folder) == read_records(other)
    whole = len((tmp_path / "others").read_bytes())
    assert count_decisions(folder) == count_decisions(other) == whole
    assert len(log.read_bytes()) == whole + lost
