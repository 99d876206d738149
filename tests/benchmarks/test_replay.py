"""Traces prove records, survive being cut off, and become pages that a browser shows."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from agents import find_agent
from benchmarks.replay import TraceFolder, check_folder, compare, name_file, open_trace
from benchmarks.replay_page import make_page
from benchmarks.runner import Run, make_config, run
from benchmarks.suite import Suite, load_suite, save_suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import RecordError
from normgym_envs.protocol.tracefile import read_trace
from normgym_envs.rendering import make_renderer

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def play(suite: Suite, agent: str, folder: Path, **selection: object) -> Run:
    source = find_agent(agent)
    watch = TraceFolder(folder, make_config(source, suite, 0))
    return run(source, suite, watch=watch, **selection)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def played(suite: Suite, folder: Path) -> Run:
    return play(suite, "bayesian", folder)


@pytest.fixture
def trace(played: Run, folder: Path) -> Path:
    """Return the trace of an interaction with changing beliefs."""
    found = max(played.episodes("interaction"), key=lambda record: len(record.beliefs))
    return folder / name_file(found.episode)


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of a whole interaction with sanctions and changing beliefs."""
    folder = tmp_path_factory.mktemp("long")
    result = play(load_suite("cafe"), "bayesian", folder, norms=["bend-right-1"])
    return folder / name_file(result.episodes("interaction")[0].episode)


@pytest.mark.parametrize("agent", ["oracle", "norm_blind"])
def test_scores_of_all_test_episodes_of_a_suite_follow_from_their_traces(
    agent: str, tmp_path: Path
) -> None:
    suite = load_suite("cafe")
    result = play(suite, agent, tmp_path)
    assert not result.errors
    tests = [record for phase in TEST_PHASES for record in result.episodes(phase)]
    assert len(tests) == sum(spec.phase in TEST_PHASES for spec in suite.specs) > 100
    assert check_folder(tmp_path, [*tests, *result.episodes("interaction")]) == []


def test_traces_of_acting_agents_prove_their_records(played: Run, folder: Path) -> None:
    records = [record for phase in ("interaction", "seen") for record in played.episodes(phase)]
    assert check_folder(folder, records) == []


def test_a_changed_record_or_trace_does_not_go_unseen(
    played: Run, folder: Path, tmp_path: Path
) -> None:
    record = played.episodes("seen")[0]
    recording = read_trace(folder / name_file(record.episode))
    assert compare(recording, record) == []
    wrong = record.model_copy(update={"collisions": record.collisions + 1})
    assert [line.split(":")[0] for line in compare(recording, wrong)] == ["collisions"]
    assert check_folder(tmp_path, [record]) == [
        f"{record.episode}: no trace {name_file(record.episode)}"
    ]


def test_beliefs_lie_beside_the_turns(played: Run, trace: Path) -> None:
    recording = read_trace(trace)
    record = next(r for r in played.episodes("interaction") if r.episode == recording.spec.name)
    stated = [(entry.turn, entry.text, entry.confidence) for entry in record.beliefs]
    assert [tuple(note) for note in recording.beliefs] == stated
    assert len(stated) > 2


def test_a_trace_cut_anywhere_in_its_last_line_is_read_up_to_the_last_turn(
    trace: Path, tmp_path: Path
) -> None:
    whole = trace.read_bytes()
    *_, before, end, rest = whole.split(b"\n")
    assert rest == b""
    assert json.loads(end)["kind"] == "end"
    assert json.loads(before)["kind"] in ("turn", "belief")
    turns = len(read_trace(trace).trace.action)
    body = whole[: -len(end) - 1]
    while json.loads(body.split(b"\n")[-2])["kind"] != "turn":
        body = body[: body[:-1].rindex(b"\n") + 1]
    last = body.split(b"\n")[-2]
    path = tmp_path / "cut.jsonl"
    for cut in range(1, len(last) + 1):
        path.write_bytes(body[:-cut])
        if cut == len(last):
            path.write_bytes(body[: -len(last)])  # one byte of the line is left
        with pytest.warns(UserWarning, match=r"line \d+ is cut off; it is left out"):
            recording = read_trace(path)
        assert len(recording.trace.action) == turns - 1
        assert recording.ending is None
        recording.measure()
    path.write_bytes(body[: -len(last) - 1])
    assert len(read_trace(path).trace.action) == turns - 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[:-9],
        lambda line: b"",
        lambda line: b"{}",
        lambda line: line.replace(b'"kind":"turn"', b'"kind":"tern"'),
        lambda line: re.sub(rb'"turn":\d+', b'"turn":9999', line),
        lambda line: re.sub(rb'"pos":\[\d+', b'"pos":["x"', line),
        lambda line: re.sub(rb'"pos":\[[-\d]+,', b'"pos":[', line),
        lambda line: re.sub(rb'"goals":"\d+"', b'"goals":"1"', line),
        lambda line: re.sub(rb'"leg":\[', b'"leg":[70000,', line),
    ],
)
def test_a_damaged_middle_line_is_named(trace: Path, tmp_path: Path, damage) -> None:
    lines = trace.read_bytes().split(b"\n")
    middle = next(n for n in range(20, 60) if b'"kind":"turn"' in lines[n])
    lines[middle] = damage(lines[middle])
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(RecordError, match=rf"damaged\.jsonl: line {middle + 1} is damaged"):
        read_trace(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content, message in (
        (b"", "no whole line"),
        (b"hello\n", "line 1 is damaged"),
        (b'{"kind":"config"}\n', "line 1 is no header"),
        (b'{"kind":"trace","format":99}\n', "format is 99; expected 1"),
        (b'{"kind":"trace","format":1}\n', "line 1: KeyError"),
    ):
        path = tmp_path / "other.jsonl"
        path.write_bytes(content)
        with pytest.raises(RecordError, match=message):
            read_trace(path)
    with pytest.raises(RecordError, match="cannot be read"):
        read_trace(tmp_path / "nowhere.jsonl")


def test_a_trace_of_another_suite_version_is_refused(tmp_path: Path) -> None:
    norms = ["even-turns-only"]
    result = play(load_suite("cafe"), "oracle", tmp_path, norms=norms)
    path = tmp_path / name_file(result.episodes("seen")[0].episode)
    assert open_trace(path).spec.phase == "seen"
    head, rest = path.read_bytes().split(b"\n", 1)
    header = json.loads(head)
    header["suite_hash"], header["suite_version"] = "0" * 64, 0
    path.write_bytes(json.dumps(header).encode() + b"\n" + rest)
    with pytest.raises(RecordError, match=r"of suite 'cafe' version 0, .*--any-version"):
        open_trace(path)
    assert open_trace(path, any_version=True).spec.phase == "seen"


def test_frames_from_a_trace_equal_those_of_the_world(suite: Suite, tmp_path: Path) -> None:
    renderer = make_renderer("flat", 180)
    frames: dict[str, list[np.ndarray]] = {}

    class Painter(TraceFolder):
        """Draws what it watches."""

        def begin(self, engine, row, seat) -> None:
            """Draw the first state."""
            super().begin(engine, row, seat)
            self.draw(engine, row, seat)

        def turn(self, engine, row, seat) -> None:
            """Draw the state after a step."""
            super().turn(engine, row, seat)
            self.draw(engine, row, seat)

        def draw(self, engine, row, seat) -> None:
            """Keep a frame."""
            frame = renderer.draw(engine.states[row], engine.layouts[0], goal=True)
            frames.setdefault(seat.spec.name, []).append(frame)

    run("random", suite, watch=Painter(tmp_path))
    for name, expected in frames.items():
        recording = read_trace(tmp_path / name_file(name))
        assert len(recording.states) == len(expected)
        for state, frame in zip(recording.states, expected, strict=True):
            drawn = renderer.draw(state, recording.layout, goal=True)
            assert np.array_equal(drawn, frame), f"{name}, turn {state['turn']}"


class Page(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.data = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        """Note ids and addresses."""
        found = dict(attrs)
        if "id" in found:
            self.ids.append(found["id"])
        self.addresses += [value for key, value in attrs if key in ("src", "href", "action")]
        self._inside = found.get("id") == "data"

    def handle_data(self, data) -> None:
        """Keep the trace's data."""
        self.data += data if self._inside else ""

    def handle_endtag(self, tag) -> None:
        """Leave the data."""
        self._inside = False


def test_the_page_holds_the_trace_and_nothing_from_outside(long_trace: Path) -> None:
    recording = read_trace(long_trace)
    text = make_page(recording)
    page = Page(text)
    assert page.addresses == []
    code = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", text).lower()
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|xmlhttp|websocket", code)
    for needed in ("picture", "scrubber", "belief", "confidence", "reasoning", "line", "score"):
        assert needed in page.ids
    data = json.loads(page.data)
    assert len(data["turns"]) == len(recording.states)
    own = [turn["sanctioned"] for turn in data["turns"]]
    assert own == [bool(state["sanctioned"][0]) for state in recording.states]
    others = [turn["others"] for turn in data["turns"]]
    assert others == [int(state["sanctioned"][1:].sum()) for state in recording.states]
    assert sum(others) + sum(own) > 0
    assert [b["turn"] for b in data["beliefs"]] == [note.turn for note in recording.beliefs]
    assert paste(data, 20).shape == (660, 900, 3)
    expected = make_renderer("flat", 900).draw(recording.states[20], recording.layout, goal=True)
    assert np.abs(paste(data, 20).astype(int) - expected).max() <= 2


def paste(data: dict, turn: int) -> np.ndarray:
    """Put a frame together from the page's data, as its script does."""
    place, tiles = (
        PIL.Image.open(io.BytesIO(base64.b64decode(data[name].split(",")[1])))
        for name in ("place", "tiles")
    )
    canvas = place.convert("RGBA")
    edge, sprites = data["edge"], data["turns"][turn]["sprites"]
    for sprite, cell in zip(sprites[::2], sprites[1::2], strict=True):
        tile = tiles.crop((sprite * edge, 0, (sprite + 1) * edge, edge))
        canvas.alpha_composite(tile, (cell % 15 * edge, cell // 15 * edge))
    return np.asarray(canvas.convert("RGB"))


def test_what_agents_write_cannot_leave_its_place_in_the_page(trace: Path) -> None:
    recording = read_trace(trace)
    note = recording.beliefs[0]._replace(text="</script><img src=x onerror=alert(1)><!--")
    page = Page(make_page(recording._replace(beliefs=(note,))))
    assert page.addresses == []
    assert json.loads(page.data)["beliefs"][0]["text"] == note.text


def test_a_browser_shows_the_page(long_trace: Path, tmp_path: Path) -> None:
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        pytest.skip(f"no browser found ({', '.join(BROWSERS)}); the page was only parsed")
    recording = read_trace(long_trace)
    path = tmp_path / "page.html"
    path.write_text(make_page(recording), encoding="utf-8")
    shot = tmp_path / "shot.png"
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    common += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=4000"]
    address = f"{path.as_uri()}#turn=20"
    dump = subprocess.run(
        [*common, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    assert 'data-ready="20"' in dump
    assert f"Turn 20 of {recording.spec.limit}" in dump
    held = [note for note in recording.beliefs if note.turn <= 20][-1]
    assert f">{held.text}<" in dump.replace("&lt;", "<")
    subprocess.run(
        [*common, f"--screenshot={shot}", "--window-size=1260,900", address],
        capture_output=True,
        timeout=120,
        check=True,
    )
    picture = np.asarray(PIL.Image.open(shot).convert("RGB"))
    floor = np.abs(picture.astype(int) - (222, 190, 148)).sum(axis=2) < 12
    assert floor.mean() > 0.05, "the picture of the café is missing"


def test_the_command_writes_films_and_pages(trace: Path, tmp_path: Path, normgym) -> None:
    page, film = tmp_path / "page.html", tmp_path / "film.gif"
    status, out, err = normgym(
        "replay", trace, "--html", page, "--gif", film, "--width", 180, "--score"
    )
    assert status == 0, err
    assert page.stat().st_size > 20_000
    assert PIL.Image.open(film).n_frames == len(read_trace(trace).states)
    assert "goals_completed" in out


def test_the_command_plays_in_a_window(
    trace: Path, normgym, monkeypatch: pytest.MonkeyPatch
) -> None:
    from normgym_envs.rendering.window import Window

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    keys = iter([None, None, "space", "right", "left", "left", "space", None, "escape"])
    shown = []
    monkeypatch.setattr(Window, "wait_for_key", lambda self, timeout=None: next(keys))
    original = Window.show
    monkeypatch.setattr(
        Window, "show", lambda self, frame: (shown.append(frame), original(self, frame))[1]
    )
    status, _, err = normgym("replay", trace, "--width", 180)
    assert status == 0, err
    assert len(shown) == 9


def test_the_command_names_what_is_wrong(trace: Path, tmp_path: Path, normgym) -> None:
    for arguments, message in (
        (["--style", "isometrik"], "unknown style 'isometrik'; did you mean 'isometric'"),
        (["--width", "500"], "expected a multiple of 15"),
        (["--fps", "0"], "frames per second is 0"),
        (["--html", str(tmp_path / "no" / "page.html")], "does not exist"),
    ):
        status, _, err = normgym("replay", trace, *arguments)
        assert status == 2
        assert message in err
    if not os.environ.get("DISPLAY") and "SDL_VIDEODRIVER" not in os.environ:
        status, _, err = normgym("replay", trace)
        assert status == 2
        assert "no display to open a window on" in err


def test_a_cut_trace_is_shown_with_a_warning(trace: Path, tmp_path: Path, normgym) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(trace.read_bytes()[:-200])
    status, _, err = normgym("replay", cut, "--html", tmp_path / "page.html")
    assert status == 0
    assert "is cut off; it is left out" in err
    assert "the file stops before the end" in (tmp_path / "page.html").read_text()


def test_a_suite_of_ones_own_needs_no_shipped_version(suite: Suite, tmp_path: Path) -> None:
    save_suite(suite, tmp_path)
    result = play(suite, "wait", tmp_path / "traces")
    assert open_trace(tmp_path / "traces" / name_file(result.episodes("seen")[0].episode))
