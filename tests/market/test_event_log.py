"""The event log: same bytes, exact replay, and every kind of damage is found and named."""

import json
from pathlib import Path

import pytest

from normgym_envs.errors import ConfigError, RecordError
from normgym_envs.market import list_scenarios, load_scenario, play
from normgym_envs.market.archetypes import PRESETS
from normgym_envs.market.event_log import LogError, make_lines, write_log
from normgym_envs.market.replay import read_log, replay_log


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", list_scenarios())
def test_replay_recomputes_every_number_exactly(name: str, preset: str, tmp_path: Path) -> None:
    runs = play(load_scenario(name), [3, 42], preset=preset)
    path = tmp_path / "run.jsonl"
    write_log(runs, 1, path)
    replay = replay_log(path)
    assert (replay.seed, replay.preset, replay.scenario) == (42, preset, runs.scenario)
    assert replay.records.tobytes() == runs.row(1).tobytes()


def test_replay_follows_a_controller_that_moved(tmp_path: Path) -> None:
    runs = play(load_scenario("adaptive_governance"), [380])
    assert runs.moves[0]
    path = tmp_path / "run.jsonl"
    write_log(runs, 0, path)
    assert replay_log(path).records.tobytes() == runs.row(0).tobytes()


def test_the_same_seed_gives_the_same_bytes_in_any_batch() -> None:
    scenario = load_scenario("collusion_detection")
    alone, batch = play(scenario, [42]), play(scenario, [1, 42, 2])
    assert b"".join(make_lines(alone, 0)) == b"".join(make_lines(batch, 1))


def test_the_log_tells_what_levers_did(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_log(play(load_scenario("adversarial_redteam"), [42]), 0, path)
    events = read_log(path)
    kinds = {event["type"] for event in events}
    assert {"interaction", "audited", "frozen", "released", "fined", "collusion_report"} <= kinds
    assert len({event["id"] for event in events}) == len(events)
    empty = [e for e in events if e["type"] == "epoch_ended" and e["accepted"] == 0]
    assert empty
    assert all(event["toxicity"] is None and event["reason"] for event in empty)


def test_a_log_is_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    scenario = load_scenario("baseline")
    write_log(play(scenario, [1]), 0, path)
    write_log(play(scenario, [1]), 0, path)  # the same bytes are no rewriting
    with pytest.raises(ConfigError, match="never rewritten"):
        write_log(play(scenario, [2]), 0, path)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_log(play(scenario, [2]), 0, tmp_path / "none" / "run.jsonl")


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """Return the lines of a log."""
    return list(make_lines(play(load_scenario("strict_governance"), [42]), 0))


def rehash(lines: list[bytes]) -> list[bytes]:
    """Return lines with the hash of the last one set right, as a forger would."""
    import hashlib

    last = json.loads(lines[-1])
    last["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    return [*lines[:-1], json.dumps(last).encode() + b"\n"]


def refuse(path: Path, lines: list[bytes], words: str) -> None:
    """Write a damaged log and check the answer."""
    path.write_bytes(b"".join(lines))
    with pytest.raises(LogError, match=words) as caught:
        replay_log(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, RecordError)


def test_damage_is_found_and_named(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "run.jsonl"
    place = next(i for i, line in enumerate(lines) if b'"type":"interaction"' in line)
    refuse(path, lines[:-1], "ends before its run does")
    refuse(path, lines[:5] + lines[6:], "line 6: field sequence")
    refuse(path, [*lines[:3], lines[3][:20]], "line 4: no JSON")
    refuse(path, [], "line 1: field type")
    refuse(path, [b"[1]\n"], "line 1: field type")
    refuse(path, lines[1:], "line 1: field sequence")
    changed = lines[place].replace(b'"accepted":true', b'"accepted":false')
    changed = changed if changed != lines[place] else lines[place].replace(b"false", b"true")
    refuse(path, [*lines[:place], changed, *lines[place + 1 :]], "field sha256")
    other = lines[0].replace(b'"schema":1', b'"schema":9')
    refuse(path, rehash([other, *lines[1:]]), "field schema: is 9")
    with pytest.raises(LogError, match="cannot be read"):
        read_log(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    "field", ["p", "score", "payoff_initiator", "tax_initiator", "reputation_after", "penalty"]
)
def test_a_forged_number_is_found_by_computing_it_again(
    tmp_path: Path, lines: list[bytes], field: str
) -> None:
    place = [i for i, line in enumerate(lines) if b'"type":"interaction"' in line][20]
    event = json.loads(lines[place])
    event[field] += 1e-12
    forged = [*lines[:place], json.dumps(event).encode() + b"\n", *lines[place + 1 :]]
    refuse(tmp_path / "run.jsonl", rehash(forged), f"line {place + 1}: field {field}")


def test_a_missing_field_is_named(tmp_path: Path, lines: list[bytes]) -> None:
    place = next(i for i, line in enumerate(lines) if b'"type":"interaction"' in line)
    event = json.loads(lines[place])
    del event["engagement"]
    forged = [*lines[:place], json.dumps(event).encode() + b"\n", *lines[place + 1 :]]
    refuse(tmp_path / "run.jsonl", rehash(forged), "field engagement: missing")
    head = json.loads(lines[0])
    del head["scenario"]
    refuse(
        tmp_path / "run.jsonl",
        rehash([json.dumps(head).encode() + b"\n", *lines[1:]]),
        "field scenario",
    )
