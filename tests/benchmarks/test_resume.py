"""An interrupted run, resumed, leaves the same bytes as an uninterrupted one."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import pytest

from agents import AgentContext, AgentSource, Belief, Observation
from benchmarks.recordfile import RecordFile, set_aside
from benchmarks.records import EpisodeRecord, ErrorRecord
from benchmarks.runner import make_config, run
from benchmarks.suite import Suite
from normgym_envs.errors import RecordError


class _Counter:
    """Believes in the number of observations, acts by what it believes and by chance."""

    def reset(self, context: AgentContext) -> None:
        self.rng = context.rng
        self.seen = 0
        self.carried = 0 if context.belief is None else int(context.belief.details["seen"])

    def act(self, observation: Observation) -> int:
        self.seen += 1
        return int(self.rng.integers(5) + self.carried) % 5

    def observe(self, observation: Observation) -> None:
        self.seen += 1

    def belief(self) -> Belief:
        return Belief(f"{self.seen // 10} tens", 0.5, {"seen": self.seen, "pair": (1, 2)})


COUNTER = AgentSource("counter", _Counter)


@pytest.fixture(scope="module")
def whole(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the record file of a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    run(COUNTER, suite, folder=folder)
    return (folder / "counter.jsonl").read_bytes()


def resume(suite: Suite, folder: Path, content: bytes) -> bytes:
    """Run on top of a file and return what it has become."""
    path = folder / "counter.jsonl"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(COUNTER, suite, folder=folder)
    return path.read_bytes()


def list_cuts(content: bytes) -> list[int]:
    """Return places to cut a file: none, in and around the first lines and the last ones."""
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    cuts = {0, 1, 20, ends[0] // 2, len(content) - 2}
    for end in (*ends[:3], ends[len(ends) // 2], ends[-2], ends[-1]):
        cuts |= {end - 1, end, min(end + 1, len(content)), max(end - 300, 0)}
    return sorted(cuts)


def test_file_holds_the_configuration_and_every_episode(suite: Suite, whole: bytes) -> None:
    assert whole.count(b"\n") == 1 + len(suite.specs)
    assert whole.endswith(b"\n")


def test_resuming_after_any_cut_gives_the_same_bytes(
    suite: Suite, whole: bytes, tmp_path: Path
) -> None:
    for cut in list_cuts(whole):
        assert resume(suite, tmp_path, whole[:cut]) == whole, f"cut at byte {cut}"


def test_records_in_the_order_of_ending_are_put_in_the_suite_order(
    suite: Suite, whole: bytes, tmp_path: Path
) -> None:
    header, *lines = whole.splitlines(keepends=True)
    assert resume(suite, tmp_path, b"".join([header, *reversed(lines)])) == whole


def test_an_incomplete_last_line_is_told_of(suite: Suite, whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "counter.jsonl").write_bytes(whole[:-10])
    with pytest.warns(UserWarning, match="last line is incomplete"):
        run(COUNTER, suite, folder=tmp_path)


def test_a_complete_file_is_not_played_again(suite: Suite, whole: bytes, tmp_path: Path) -> None:
    made = []
    source = AgentSource("counter", lambda: made.append(1) or _Counter())
    (tmp_path / "counter.jsonl").write_bytes(whole)
    result = run(source, suite, folder=tmp_path)
    assert len(made) == 1  # the one that is asked for its privileges
    assert len(result.records) == len(suite.specs)


def test_a_part_is_extended_to_the_whole(suite: Suite, whole: bytes, tmp_path: Path) -> None:
    part = run(COUNTER, suite, folder=tmp_path, norms=["bend-right-1"])
    assert {record.norms for record in part.records} == {("bend-right-1",)}
    run(COUNTER, suite, folder=tmp_path)
    assert (tmp_path / "counter.jsonl").read_bytes() == whole


@pytest.mark.parametrize("damage", [b"\x00", b"{", b'"', b"NaN", b"\xff"])
@pytest.mark.parametrize("line", [2, 5, -1])
def test_a_damaged_line_is_refused_with_its_number(
    suite: Suite, whole: bytes, tmp_path: Path, damage: bytes, line: int
) -> None:
    lines = whole.splitlines(keepends=True)
    number = line % len(lines)
    text = lines[number]
    lines[number] = text[:40] + damage + text[41:]
    with pytest.raises(RecordError, match=rf"counter\.jsonl: line {number + 1} "):
        resume(suite, tmp_path, b"".join(lines))
    assert (tmp_path / "counter.jsonl").read_bytes() == b"".join(lines)  # nothing lost


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"turns":40', b'"turns":"40"', "turns"),
        (b'"turns":40', b'"turn":40', "turn"),
        (b'"record_schema":1', b'"record_schema":2', "record schema 2"),
        (b'"kind":"episode"', b'"kind":"epic"', "known kind"),
        (b'"agent":"counter"', b'"agent":"another"', "agent"),
        (b'"token":"', b'"token":"0', "token"),
    ],
)
def test_a_changed_record_is_refused(
    suite: Suite, whole: bytes, tmp_path: Path, old: bytes, new: bytes, said: str
) -> None:
    lines = whole.splitlines(keepends=True)
    number = next(i for i, text in enumerate(lines) if i and old in text)
    lines[number] = lines[number].replace(old, new)
    with pytest.raises(RecordError, match=f"line {number + 1}.*{said}"):
        resume(suite, tmp_path, b"".join(lines))


def test_two_records_of_one_episode_are_refused(suite: Suite, whole: bytes, tmp_path: Path) -> None:
    lines = whole.splitlines(keepends=True)
    with pytest.raises(RecordError, match="line 3: a second record"):
        resume(suite, tmp_path, b"".join([*lines[:2], lines[1], *lines[2:]]))


@pytest.mark.parametrize(
    ("field", "value"),
    [("suite_hash", "0" * 64), ("package_version", "0.0.0"), ("agent", "x"), ("seed", 1)],
)
def test_records_of_another_run_are_refused(
    suite: Suite, whole: bytes, tmp_path: Path, field: str, value: object
) -> None:
    config = make_config(COUNTER, suite, 0).model_copy(update={field: value})
    path = tmp_path / "counter.jsonl"
    path.write_bytes(whole)
    with pytest.raises(RecordError, match=f"another run: {field} is"):
        RecordFile(path, config, suite)
    assert path.read_bytes() == whole


def test_an_edited_agent_does_not_reuse_records(suite: Suite, whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "counter.jsonl").write_bytes(whole)
    with pytest.raises(RecordError, match="agent_digest"):
        run(AgentSource("counter", _Counter, "edited"), suite, folder=tmp_path)


def test_two_runs_cannot_write_one_file(suite: Suite, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "counter.jsonl"
    config = make_config(COUNTER, suite, 0)
    with (
        RecordFile(path, config, suite),
        pytest.raises(RecordError, match="being written by another run"),
    ):
        RecordFile(path, config, suite)
    RecordFile(path, config, suite).__exit__()


class _Moody(_Counter):
    """Fails on its eighth decision in some episodes while told to."""

    is_moody = True

    def reset(self, context: AgentContext) -> None:
        super().reset(context)
        self.fails = _Moody.is_moody and int(context.token, 16) % 3 == 0

    def act(self, observation: Observation) -> int:
        if self.fails and self.seen >= 8:
            raise RuntimeError("not today")
        return super().act(observation)


def test_failed_episodes_are_recorded_and_played_again(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = AgentSource("counter", _Moody)
    first = run(source, suite, folder=tmp_path)
    failed = {error.episode for error in first.errors}
    assert failed
    assert len(failed) < len(suite.specs)
    assert {error.error for error in first.errors if "not played" not in error.error} == {
        "RuntimeError: not today"
    }
    for group in suite.groups:
        assert group.interaction is not None
        if suite.specs[group.interaction].name in failed:
            assert {suite.specs[i].name for i in group.tests} <= failed
    content = (tmp_path / "counter.jsonl").read_bytes()
    assert run(source, suite, folder=tmp_path).records == first.records
    assert (tmp_path / "counter.jsonl").read_bytes() == content
    monkeypatch.setattr(_Moody, "is_moody", False)
    second = run(source, suite, folder=tmp_path)
    assert not second.errors
    kept = [record for record in first.records if isinstance(record, EpisodeRecord)]
    assert set(map(repr, kept)) <= set(map(repr, second.records))
    assert not any(isinstance(record, ErrorRecord) for record in second.records)


SLOW = """
import time
from pathlib import Path
from small_suite import build_small_suite
from agents import AgentSource
from agents.random_agent import RandomAgent
from benchmarks.runner import run

class Slow(RandomAgent):
    def act(self, observation):
        time.sleep({pause})
        return super().act(observation)

run(AgentSource("slow", Slow), build_small_suite(), folder=Path({folder!r}), max_rows=3)
"""


def test_records_of_another_version_are_set_aside_and_not_lost(
    suite: Suite, whole: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "counter.jsonl"
    config = make_config(COUNTER, suite, 0)
    assert set_aside(path, config) is None
    path.write_bytes(whole)
    assert set_aside(path, config) is None
    assert path.read_bytes() == whole
    other = config.model_copy(update={"agent_digest": "edited"})
    for number in (1, 2):
        path.write_bytes(whole)
        assert set_aside(path, other) == tmp_path / f"counter.jsonl.{number}"
        assert not path.exists()
        assert (tmp_path / f"counter.jsonl.{number}").read_bytes() == whole


@pytest.mark.slow
def test_a_killed_run_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    search_path = os.pathsep.join([str(root), str(root / "tests")])

    def start(folder: Path, pause: float) -> subprocess.Popen[bytes]:
        program = textwrap.dedent(SLOW).format(folder=str(folder), pause=pause)
        return subprocess.Popen(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": search_path}
        )

    assert start(tmp_path / "whole", 0).wait() == 0
    whole = (tmp_path / "whole" / "slow.jsonl").read_bytes()
    path = tmp_path / "cut" / "slow.jsonl"
    process = start(tmp_path / "cut", 0.01)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= 4:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    assert process.wait() == -signal.SIGKILL
    assert 0 < len(path.read_bytes()) < len(whole)
    assert start(tmp_path / "cut", 0).wait() == 0
    assert path.read_bytes() == whole
