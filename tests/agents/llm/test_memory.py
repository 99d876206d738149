"""Ten recent turns, five older marked ones, none twice; and what goes first when room is short."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm import ContextError, Message
from agents.llm.asking import CHARACTERS_PER_TOKEN, count_tokens, fit_prompt, hash_prompt
from agents.llm.backends.scripted import ScriptedBackend
from agents.llm.memory import Entry, Memory, Recollection
from normgym_envs.errors import ConfigError


def fill(marks: Sequence[bool], recent: int = 10, marked: int = 5) -> Memory:
    memory = Memory(recent, marked)
    for turn, mark in enumerate(marks):
        memory.add(Entry(turn, f"turn {turn}", mark))
    return memory


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 12), st.integers(0, 6))
def test_what_is_kept(marks: list[bool], recent: int, marked: int) -> None:
    shown = fill(marks, recent, marked).recall()
    turns = list(range(len(marks)))
    assert [entry.turn for entry in shown.recent] == turns[-recent:]
    old = [turn for turn in turns[: max(0, len(turns) - recent)] if marks[turn]]
    assert [entry.turn for entry in shown.older] == (old[-marked:] if marked else [])
    assert shown.total == len(marks)
    assert (shown.first, shown.last) == ((0, len(marks) - 1) if marks else (-1, -1))


@given(st.lists(st.booleans(), max_size=40))
def test_older_marked_turns_go_first_and_the_last_turn_stays(marks: list[bool]) -> None:
    memory = fill(marks)
    full = memory.recall()
    kept = [*full.older, *full.recent]
    steps = list(memory.shrink())
    assert len(steps) == max(1, len(kept))
    for dropped, step in enumerate(steps):
        assert [*step.older, *step.recent] == kept[dropped:]
        assert step.dropped == dropped
        assert step.total == len(marks)


@pytest.mark.parametrize(("recent", "marked"), [(0, 5), (-1, 5), (1, -1)])
def test_sizes_are_checked(recent: int, marked: int) -> None:
    with pytest.raises(ConfigError, match="expected at least 1 and 0"):
        Memory(recent, marked)


def write(memory: Recollection) -> list[Message]:
    lines = [entry.text for entry in (*memory.older, *memory.recent)]
    return [Message("system", "rules " * 20), Message("user", "\n".join(lines))]


def test_prompts_are_cut_to_fit_by_the_same_rule_every_time() -> None:
    memory = fill([True] * 30)
    wide = ScriptedBackend([], context_tokens=100_000, max_tokens=100)
    _, shown = fit_prompt(wide, memory, write)
    assert shown.dropped == 0
    previous = 0
    for room in range(140, 60, -1):
        narrow = ScriptedBackend([], context_tokens=room + 100, max_tokens=100)
        try:
            messages, shown = fit_prompt(narrow, memory, write)
        except ContextError as error:
            assert "larger context" in str(error)  # noqa: PT017
            assert previous == 14  # all but the last turn had been dropped
            return
        assert count_tokens(narrow, messages) <= room
        assert shown.dropped >= previous
        assert shown.recent[-1].turn == 29
        previous = shown.dropped
    raise AssertionError("the context was never too small")


def test_backends_may_count_tokens_themselves() -> None:
    class Exact(ScriptedBackend):
        def count_tokens(self, messages: Sequence[Message]) -> int:
            return sum(len(message.text.split()) for message in messages)

    messages = [Message("user", "one two three")]
    assert count_tokens(Exact([]), messages) == 3
    estimate = count_tokens(ScriptedBackend([]), messages)
    assert estimate > 13 / CHARACTERS_PER_TOKEN
    pictures = [Message("user", "one two three", (b"x", b"y"))]
    assert count_tokens(ScriptedBackend([]), pictures) > estimate + 2_000


def test_hashes_of_prompts_see_everything() -> None:
    prompts = [
        [Message("user", "ab")],
        [Message("system", "ab")],
        [Message("user", "a"), Message("user", "b")],
        [Message("user", "ab", (b"x",))],
        [Message("user", "ab", (b"y",))],
        [Message("user", "a\ud835b")],
    ]
    assert len({hash_prompt(prompt) for prompt in prompts}) == len(prompts)


def test_scripts_end_and_repeat() -> None:
    once = ScriptedBackend(["a"])
    assert asyncio.run(once.generate([Message("user", "x")])).text == "a"
    with pytest.raises(Exception, match="no reply is left"):
        asyncio.run(once.generate([]))
    with pytest.raises(ConfigError, match="at least one"):
        ScriptedBackend([], repeat=True)
