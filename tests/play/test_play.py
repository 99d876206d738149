"""People at the keyboard: the whole protocol in terminal and window, as records of any agent."""

import io
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_suite import build_small_suite

from agents.human import CONFIDENCE, EVIDENCE, HumanAgent
from benchmarks.human import BEST, best_per_norm, draw_norm, load_people, play_protocol
from benchmarks.records import EpisodeRecord
from benchmarks.replay import check_folder
from benchmarks.runner import Run, run
from benchmarks.suite import Suite, save_suite
from normgym_envs import BatchEngine, draw_episode, get_layout, get_norm
from normgym_envs.constants import Action
from normgym_envs.errors import ConfigError, RecordError
from normgym_envs.observations.rebuild import StateTracker
from normgym_envs.observations.symbolic import observe_symbolic
from normgym_envs.play import KEYS, Quit, find_layout, play_freely, tell_events, tell_goals
from normgym_envs.play_terminal import TerminalFace
from normgym_envs.protocol.tracefile import read_trace
from normgym_envs.rendering import draw_text, make_renderer

ROOT = Path(__file__).resolve().parents[2]
NORM = "even-turns-only"


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Return a suite that a script plays in a moment."""
    return build_small_suite([NORM, "all-exit-left"], tests=2, steps=30)


class Script(io.StringIO):
    """Keys for as long as they are asked for; answers where a question expects them."""

    def __init__(self, keys: str) -> None:
        """Start with a cycle of keys."""
        super().__init__()
        self._keys = itertools.cycle(keys)
        self.answers = iter(["Move on even turns only.", "5", "9", "x", "2"])
        self.is_question = False

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Return the next key, or the next answer after a question."""
        if self.is_question:
            self.is_question = False
            return next(self.answers) + "\n"
        return next(self._keys) + "\n"


class Screen(io.StringIO):
    """Tells the script when a question stands on the screen."""

    def __init__(self, script: Script) -> None:
        """Watch for the prompt."""
        super().__init__()
        self._script = script

    def write(self, text: str) -> int:
        """Keep the text."""
        self._script.is_question = self._script.is_question or text == "> "
        return super().write(text)


def sit_at_terminal(keys: str = "dws.a") -> tuple[TerminalFace, Screen]:
    script = Script(keys)
    screen = Screen(script)
    return TerminalFace(script, screen), screen


def test_a_scripted_keyboard_completes_the_protocol_in_the_terminal(
    suite: Suite, tmp_path: Path
) -> None:
    face, screen = sit_at_terminal()
    result = play_protocol(face, suite, NORM, person="7", folder=tmp_path)
    assert not result.errors
    assert [record.phase for record in result.records] == ["interaction", "seen", "seen"]
    interaction, *tests = result.records
    assert isinstance(interaction, EpisodeRecord)
    assert interaction.belief is not None
    assert interaction.belief.text == "Move on even turns only."
    assert interaction.belief.confidence == dict(CONFIDENCE)["almost certain"]
    assert interaction.belief.details == {"evidence": EVIDENCE[1]}
    for test in tests:
        assert isinstance(test, EpisodeRecord)
        assert test.belief == interaction.belief
    shown = screen.getvalue()
    for text in ("What is the rule", "How sure", "What did you learn it from", "Goal 1", "a test"):
        assert text in shown
    assert "Please answer with a number from 1 to 3." in shown
    assert NORM not in shown
    assert get_norm(NORM).sentence not in shown
    episodes = [record for record in result.records if isinstance(record, EpisodeRecord)]
    assert check_folder(tmp_path / "traces" / "human_7", episodes) == []


def test_the_records_are_those_of_any_agent(suite: Suite, tmp_path: Path) -> None:
    face, _ = sit_at_terminal()
    person = play_protocol(face, suite, NORM, person="a", folder=tmp_path)
    replayed = replay_actions(suite, person)
    for mine, theirs in zip(person.records, replayed.records, strict=True):
        assert isinstance(mine, EpisodeRecord)
        assert isinstance(theirs, EpisodeRecord)
        varying = {"agent", "belief", "beliefs", "token"}
        assert mine.model_dump(exclude=varying) == theirs.model_dump(exclude=varying)


def replay_actions(suite: Suite, person: Run) -> Run:
    """Play the person's actions with an ordinary agent."""
    from agents import AgentSource

    actions = {r.token: list(r.actions) for r in person.records if isinstance(r, EpisodeRecord)}

    class Parrot:
        """Repeats."""

        privileged = False

        def reset(self, context) -> None:
            """Look up what to repeat."""
            self.rest = [int(sign) for sign in actions[context.token] if sign != "."]

        def act(self, observation) -> int:
            """Repeat."""
            return self.rest.pop(0)

    return run(AgentSource("parrot", Parrot), suite, norms=[NORM])


def test_leaving_keeps_what_is_complete_and_the_same_command_goes_on(
    suite: Suite, tmp_path: Path
) -> None:
    face, _ = sit_at_terminal()
    tell = face.tell

    def leave_in_the_first_test(lines) -> None:
        if "Now a test" in lines[0]:
            raise Quit
        tell(lines)

    face.tell = leave_in_the_first_test  # type: ignore[method-assign]
    with pytest.raises(Quit):
        play_protocol(face, suite, NORM, person="b", folder=tmp_path)
    again, screen = sit_at_terminal()
    result = play_protocol(again, suite, NORM, person="b", folder=tmp_path)
    assert [record.phase for record in result.records] == ["interaction", "seen", "seen"]
    assert "What is the rule" not in screen.getvalue()
    assert "Your own words on the rule: Move on even turns only." in " ".join(
        screen.getvalue().split()
    )


@pytest.mark.parametrize("norm", ["zigzag-left-1", "group-doors-abc"])
def test_a_person_sees_exactly_what_a_newcomer_is_shown(norm: str) -> None:
    layout = get_layout("cafe")
    engine = BatchEngine([layout], [get_norm(norm)], 1)
    engine.load(0, draw_episode(layout, norm, 4, num_norm_blind=3))
    renderer = make_renderer("flat", 180)
    rng = np.random.default_rng(1)
    for _ in range(120):
        observation = observe_symbolic(engine, 0, 0)
        row = StateTracker().update(observation)[0]
        assert find_layout(observation) is layout
        assert np.array_equal(
            renderer.draw(row, layout, goal=True),
            renderer.draw(engine.states[0], layout, goal=True),
        )
        assert draw_text(row, layout) == draw_text(engine.states[0], layout)
        sanctioned = sum("sanctioned" in line for line in tell_events(observation))
        assert sanctioned == int(engine.states["sanctioned"].sum())
        assert tell_goals(observation)
        engine.step(rng.integers(0, 5, (1, 10)))


def test_free_play_leaves_a_trace(tmp_path: Path) -> None:
    face, screen = sit_at_terminal("s.")
    layout = get_layout("cafe")
    spec = draw_episode(layout, NORM, 3, limit=25)
    score = play_freely(face, spec, layout, tmp_path / "free.jsonl")
    recording = read_trace(tmp_path / "free.jsonl")
    assert score["turns"] == 25 == len(recording.trace.action)
    assert score["violations"] == len(recording.measure().violations)
    assert "turn 24 of 25" in screen.getvalue()


def test_keys_mean_the_same_everywhere() -> None:
    assert {KEYS[key] for key in KEYS} == set(Action)
    assert KEYS["w"] == KEYS["up"] == Action.UP
    assert KEYS["space"] == KEYS["."] == Action.WAIT


def test_the_best_of_each_norm_are_put_together(suite: Suite, tmp_path: Path) -> None:
    for person, keys in (("a", "dws.a"), ("b", "."), ("c", "ddss")):
        for norm in (NORM, "all-exit-left"):
            face, _ = sit_at_terminal(keys)
            play_protocol(face, suite, norm, person=person, folder=tmp_path)
    people = load_people(tmp_path / "records", suite)
    assert [one.config.agent for one in people] == ["human_a", "human_b", "human_c"]
    best = best_per_norm(people)
    assert best.config.agent == BEST
    for norm in (NORM, "all-exit-left"):
        means = [mean_score(one, norm) for one in people]
        assert mean_score(best, norm) == max(means)
    with pytest.raises(ConfigError, match="no record of a person"):
        load_people(tmp_path, suite)
    with pytest.raises(RecordError, match="of suite 'small'"):
        load_people(tmp_path / "records", build_small_suite([NORM], tests=1, steps=5))


def mean_score(one: Run, norm: str) -> tuple[float, float]:
    tests = [r for r in one.episodes("seen") if r.norms == (norm,)]
    return sum(r.joint or 0 for r in tests), sum(r.task or 0 for r in tests)


def test_a_norm_is_drawn_by_seed(suite: Suite) -> None:
    assert draw_norm(suite, 3) == draw_norm(suite, 3)
    assert {draw_norm(suite, seed) for seed in range(20)} == {NORM, "all-exit-left"}


def test_the_window_completes_the_protocol(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from normgym_envs.play_window import WindowFace
    from normgym_envs.rendering.rasterise import load_pygame
    from normgym_envs.rendering.window import Window

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = load_pygame()
    face = WindowFace("flat", 330)
    moves = itertools.cycle("dws.a")
    words = [*"Even turns x", "backspace", "return", "5", "2"]
    questions: list[str] = []
    typing: list[str] = []

    def ask(name: str, original):
        def asked(question, *rest):
            questions.append(question)
            typing[:] = [words.pop(0) for _ in range(14 if name == "ask_text" else 1)]
            return original(question, *rest)

        return asked

    for name in ("ask_text", "ask_choice"):
        setattr(face, name, ask(name, getattr(face, name)))
    wait = Window.wait_for_event

    def press_then_wait(self, timeout=None):
        key = typing.pop(0) if typing else next(moves)
        code = pygame.key.key_code(key.lower() if len(key) == 1 else key)
        text = key if len(key) == 1 else ""
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, unicode=text))
        return wait(self, timeout)

    monkeypatch.setattr(Window, "wait_for_event", press_then_wait)
    result = play_protocol(face, suite, NORM, person="w", folder=tmp_path)
    assert face.frame is not None
    assert face.frame.shape[1] > 330
    face.close()
    assert not result.errors
    assert [record.phase for record in result.records] == ["interaction", "seen", "seen"]
    learnt = result.records[0]
    assert isinstance(learnt, EpisodeRecord)
    assert learnt.belief is not None
    assert learnt.belief.text == "Even turns"
    assert learnt.belief.details == {"evidence": EVIDENCE[1]}
    assert len(questions) == 3


def test_closing_the_window_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    from normgym_envs.play_window import WindowFace
    from normgym_envs.rendering.rasterise import load_pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame = load_pygame()
    face = WindowFace("flat", 180)
    face.show(observe_some(), "somewhere")
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    with pytest.raises(Quit):
        face.ask_action(observe_some(), "somewhere")
    face.close()


def observe_some():
    layout = get_layout("cafe")
    engine = BatchEngine([layout], [get_norm(NORM)], 1)
    engine.load(0, draw_episode(layout, NORM, 4))
    return observe_symbolic(engine, 0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a POSIX thing")
def test_single_keys_work_in_a_real_terminal(tmp_path: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "normgym_envs", "play", "--terminal", "--norm", NORM]
    command += ["--steps", "4", "--trace", str(tmp_path / "t.jsonl")]
    child = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=ROOT, close_fds=True
    )
    os.close(follower)
    keys = [b"\x1b[C", b" ", b".", b"."]  # right arrow, space, two dots
    text = b""
    prompts = 0
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
        while text.count(b"q: leave") > prompts and keys:
            prompts += 1
            os.write(leader, keys.pop(0))
    assert child.wait(timeout=60) == 0, text.decode()
    assert b"The rule was:" in text
    played = read_trace(tmp_path / "t.jsonl").trace.action[:, 0].tolist()
    assert played == [3, 4, 4, 4]


def test_the_command_plays_the_protocol(suite: Suite, tmp_path: Path) -> None:
    path = save_suite(suite, tmp_path)
    keys = "\n".join(["dws.a"] * 200)
    # one line for each key would do too; a question takes a whole line
    decisions = "dws.a" * 6  # of the interaction, more than there are turns
    lines = [decisions, "They move on even turns.", "4", "3", keys]
    command = [sys.executable, "-m", "normgym_envs", "play", "--protocol", "--terminal"]
    command += ["--suite", str(path), "--norm", NORM, "--name", "9", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    assert "The rule was:" in done.stdout
    records = (tmp_path / "out" / "records" / "human_9.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in records] == ["config"] + ["episode"] * 3
    report = subprocess.run(
        [
            sys.executable,
            "-m",
            "normgym_envs",
            "humans",
            str(tmp_path / "out"),
            "--suite",
            str(path),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    assert BEST in report.stdout


def test_the_end_of_the_keys_is_the_end_of_the_game() -> None:
    face = TerminalFace(io.StringIO("dd"), io.StringIO())
    agent = HumanAgent(face)
    observation = observe_some()
    assert [face.ask_action(observation, "") for _ in range(2)] == [Action.RIGHT] * 2
    with pytest.raises(Quit):
        face.ask_action(observation, "")
    assert agent.belief() is None
