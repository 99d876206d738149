"""One self-contained page of a trace: picture, time line, belief and reasoning.

The page puts the frames together itself, from the picture of the empty place and the sprites, so
that a whole episode takes a few hundred kilobytes. It loads nothing from anywhere.
"""

import base64
import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import GRID_HEIGHT, GRID_WIDTH, Action, Group
from normgym_envs.norms.placement import place_norms
from normgym_envs.observations.text import name_slot
from normgym_envs.protocol.tracefile import Recording
from normgym_envs.rendering.renderer import check_width, make_place, make_tiles
from normgym_envs.rendering.scene import list_sprites

TEMPLATE: Final = Path(__file__).parent / "pages" / "replay.html"
PAGE_WIDTH: Final = 900
"""Pixels of the picture in a page."""


def make_page(recording: Recording, width: int = PAGE_WIDTH) -> str:
    """Return the page.

    Args:
        recording: the trace.
        width: pixels of the picture, a multiple of 15 from 180 to 1,320.

    Raises:
        ConfigError: the width is out of range.
        MissingExtraError: pygame is missing.
    """
    edge = check_width(width)
    tiles = np.concatenate(list(make_tiles(edge)), axis=1)
    data = {
        "title": _make_title(recording),
        "subtitle": _make_subtitle(recording),
        "norm": " / ".join(str(row["sentence"]) for row in recording.header["norms"]),
        "width": GRID_WIDTH * edge,
        "height": GRID_HEIGHT * edge,
        "edge": edge,
        "limit": recording.spec.limit,
        "place": _to_address(make_place(recording.layout, edge)),
        "tiles": _to_address(tiles),
        "turns": _list_turns(recording),
        "beliefs": _list_beliefs(recording),
        "reasoning": [{"turn": n.turn, "text": n.text} for n in recording.reasoning],
        "score": _list_scores(recording),
    }
    # "<" could end the element that holds the data
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("__DATA__", text)


def _make_title(recording: Recording) -> str:
    agent = recording.header.get("agent")
    words = {"interaction": "interaction", "seen": "test on the seen layout"}
    phase = words.get(recording.spec.phase, f"test on an {recording.spec.phase} layout")
    phase = "free play" if recording.spec.phase == "free" else phase
    return f"{recording.layout.title}, {phase}" + (f": {agent}" if agent else "")


def _make_subtitle(recording: Recording) -> str:
    header = recording.header
    parts = [f"episode {recording.spec.name}"]
    if header.get("suite"):
        parts.append(f"suite {header['suite']}, version {header.get('suite_version')}")
    parts.append(f"normgym {header.get('package_version', '?')}")
    if recording.ending is None:
        parts.append("the file stops before the end")
    return ", ".join(parts)


def _list_turns(recording: Recording) -> list[dict[str, Any]]:
    """Return what the page shows of every turn."""
    tables = place_norms((recording.layout,), ()).layouts
    count = recording.spec.num_slots
    turns = []
    for state in recording.states:
        sanctioned = state["sanctioned"][:count] != 0
        turns.append(
            {
                "sprites": list_sprites(state, tables, 0, goal=True).reshape(-1).tolist(),
                "sanctioned": bool(sanctioned[0]),
                "others": int(sanctioned[1:].sum()),
                "collided": bool(state["collided"][0] or state["displaced"][0]),
                "goals": int(state["goals"][0]),
                "events": _list_events(state, count),
            }
        )
    return turns


def _list_events(state: np.void, count: int) -> list[tuple[str, str, bool]]:
    """Return what happened in the last step: who, what, whether it is a sanction."""
    events = []
    for slot in range(count):
        present = bool(state["present"][slot])
        what = []
        if slot == 0 and state["prev"][0] >= 0 and state["action"][0] >= 0:
            what.append(
                "waits"
                if state["action"][0] == Action.WAIT
                else f"goes {Action(int(state['action'][0])).name.lower()}"
            )
        if state["sanctioned"][slot]:
            what.append("is sanctioned")
        if state["collided"][slot]:
            what.append("collides")
        elif state["displaced"][slot]:
            what.append("is pushed")
        if state["goals"][slot]:
            what.append("completes a goal" if present else "leaves")
        if present and state["is_new"][slot]:
            what.append("appears")
        if what:
            group = Group(int(state["group"][slot])).name.lower()
            who = f"{name_slot(slot).replace('_', ' ')} ({group})"
            events.append((who, ", ".join(what), bool(state["sanctioned"][slot])))
    return events


def _list_beliefs(recording: Recording) -> list[dict[str, Any]]:
    """Return the beliefs in order, one carried over first."""
    carried = recording.header.get("belief")
    notes = [
        {"turn": note.turn, "text": note.text, "confidence": note.confidence}
        for note in recording.beliefs
    ]
    if carried:
        notes.insert(0, {"turn": -1, "text": carried["text"], "confidence": carried["confidence"]})
    return notes


def _list_scores(recording: Recording) -> list[tuple[str, str]]:
    """Return the newcomer's score as the trace gives it."""
    score = recording.measure()
    rows = [("goals complete", str(score.goals_completed))]
    if score.joint is not None:
        rows += [("task", f"{score.task:g}"), ("joint", f"{score.joint:g}")]
    rows += [
        ("violations", str(len(score.violations))),
        ("collisions", str(score.collisions)),
        ("others' violations", str(score.background_violations)),
        ("return", f"{score.returns[0]:.1f}"),
    ]
    return rows


def _to_address(image: npt.NDArray[np.uint8]) -> str:
    """Return a picture as a data address."""
    import PIL.Image

    buffer = BytesIO()
    PIL.Image.fromarray(image).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
