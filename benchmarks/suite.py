"""Suites: stored episodes, hashed, that a benchmark run plays.

A suite file is self-contained but for the maps: it holds the norm rows and every episode whole,
and the hash of each map it was made for. Who builds episodes is `normgym_envs.protocol`.

The file has one JSON value a line: a header, then one episode a line.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from benchmarks.files import dump_json, load_json
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import NormError, RecordError, SpecError, UnknownNameError
from normgym_envs.files import replace_file
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, read_norm
from normgym_envs.protocol.episodes import spec_from_json, spec_to_json
from normgym_envs.types import EpisodeSpec, Layout, Norm

FORMAT: Final = 1
"""Version of the file format."""
SUITES_FOLDER: Final = Path(__file__).parent / "suites"
ENDING: Final = ".jsonl"


@dataclass(frozen=True, eq=False)
class Suite:
    """A fixed set of episodes."""

    name: str  # lower-case words with hyphens
    version: int  # moves whenever an episode changes
    specs: tuple[EpisodeSpec, ...]
    norms: tuple[Norm, ...]  # every norm of the episodes, in order of first use
    layout_hashes: Mapping[str, str]  # layout name -> hash of its map

    @cached_property
    def sha256(self) -> str:
        """Hash of everything an outcome depends on, hexadecimal."""
        return hashlib.sha256(dump_json(_to_json(self), sort_keys=True).encode()).hexdigest()

    @cached_property
    def groups(self) -> tuple["Group", ...]:
        """The episodes sorted by the norms they are about, in order of first use."""
        members: dict[tuple[object, ...], list[int]] = {}
        for index, spec in enumerate(self.specs):
            key = (spec.norms, spec.norms_after, spec.change_turn)
            members.setdefault(key, []).append(index)
        return tuple(_make_group(self, indices) for indices in members.values())

    def token(self, index: int) -> str:
        """Return the name under which an agent knows an episode; it tells nothing about it."""
        return hashlib.sha256(f"{self.sha256}/{index}".encode()).hexdigest()[:16]

    def layouts(self) -> tuple[Layout, ...]:
        """Return the layouts of the episodes."""
        return tuple(get_layout(name) for name in self.layout_hashes)


@dataclass(frozen=True)
class Group:
    """The episodes of a suite that share their norms: what is learnt in one serves the others."""

    norms: tuple[str, ...]  # norm ids
    family: str  # of the first norm
    interaction: int | None  # index into `Suite.specs`
    tests: tuple[int, ...]  # indices into `Suite.specs`


def make_suite(
    name: str, version: int, specs: Iterable[EpisodeSpec], norms: Sequence[Norm] | None = None
) -> Suite:
    """Return a suite of episodes as the present maps and norm rows have them.

    Args:
        name: lower-case words with hyphens.
        version: at least 1.
        specs: interactions and tests, at most one interaction for each set of norms.
        norms: rows of the norms used; None for those of the library.

    Raises:
        SpecError: two episodes have one name, or two interactions are about the same norms.
        UnknownNameError: an episode names a norm or a layout that does not exist.
    """
    specs = tuple(specs)
    given = {norm.id: norm for norm in norms or ()}
    used = [norm for spec in specs for norm in (*spec.norms, *spec.norms_after)]
    rows = tuple(given.get(norm_id) or get_norm(norm_id) for norm_id in dict.fromkeys(used))
    hashes = {name: hash_map(get_layout(name)) for name in dict.fromkeys(s.layout for s in specs)}
    suite = Suite(name, version, specs, rows, hashes)
    _check(suite)
    return suite


def list_suites() -> tuple[str, ...]:
    """Return the names of the suites that ship, by alphabet."""
    return tuple(sorted(path.stem for path in SUITES_FOLDER.glob("*" + ENDING)))


def load_suite(name: str | Path) -> Suite:
    """Return a suite by name, or from a file of one's own.

    Args:
        name: a name of `list_suites`, or the path of a file that ends in ".jsonl".

    Raises:
        UnknownNameError: no such suite.
        RecordError: the file is damaged, its hash is wrong, or a map has changed since.
    """
    path = Path(name)
    if not str(name).endswith(ENDING):
        if str(name) not in list_suites():
            raise UnknownNameError("suite", str(name), list_suites())
        path = SUITES_FOLDER / f"{name}{ENDING}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"suite file {path}: cannot be read: {error}") from None
    return _parse(path, lines)


def save_suite(suite: Suite, folder: Path = SUITES_FOLDER) -> Path:
    """Write a suite to `<folder>/<name>.jsonl` in one piece and return the path.

    Args:
        suite: what to write; equal suites give equal bytes.
        folder: must exist.
    """
    content = _to_json(suite)
    specs = content.pop("specs")
    header = {**content, "num_episodes": len(specs), "sha256": suite.sha256}
    text = "".join(dump_json(line, sort_keys=True) + "\n" for line in (header, *specs))
    path = folder / f"{suite.name}{ENDING}"
    replace_file(path, text.encode())
    return path


def hash_map(layout: Layout) -> str:
    """Return a hash of what a layout's map means to the world, hexadecimal."""
    return hashlib.sha256(layout.cells.tobytes() + layout.zones.tobytes()).hexdigest()


def _to_json(suite: Suite) -> dict[str, Any]:
    """Return everything of a suite that is hashed, as JSON values."""
    return {
        "format": FORMAT,
        "suite": suite.name,
        "version": suite.version,
        "layouts": dict(suite.layout_hashes),
        "norms": [dataclasses.asdict(norm) for norm in suite.norms],
        "specs": [spec_to_json(spec) for spec in suite.specs],
    }


def _parse(path: Path, lines: list[str]) -> Suite:
    """Return the suite that lines of a file hold."""
    values: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        try:
            value = load_json(line)
        except ValueError as error:
            raise RecordError(f"suite file {path}: line {number} is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise RecordError(f"suite file {path}: line {number} is no JSON object")
        values.append(value)
    if not values or values[0].get("format") != FORMAT:
        found = values[0].get("format") if values else "nothing"
        raise RecordError(f"suite file {path}: format is {found!r}; expected {FORMAT}")
    header, rows = values[0], values[1:]
    try:
        suite = Suite(
            name=str(header["suite"]),
            version=int(header["version"]),
            specs=tuple(spec_from_json(row) for row in rows),
            norms=tuple(read_norm(row, path.name) for row in header["norms"]),
            layout_hashes={str(key): str(value) for key, value in header["layouts"].items()},
        )
        _check(suite)
        expected = str(header["sha256"])
    except (KeyError, TypeError, AttributeError, SpecError, NormError) as error:
        raise RecordError(f"suite file {path}: {type(error).__name__}: {error}") from None
    if suite.sha256 != expected:
        raise RecordError(
            f"suite file {path}: its content has hash {suite.sha256}, "
            f"its header says {expected}; the file was edited or damaged"
        )
    for name, stored in suite.layout_hashes.items():
        present = hash_map(get_layout(name))
        if present != stored:
            raise RecordError(
                f"suite file {path}: made for layout {name!r} with hash {stored[:16]}, "
                f"but the map now has {present[:16]}; build the suite again"
            )
    return suite


def _check(suite: Suite) -> None:
    """Refuse a suite whose episodes cannot be told apart or sorted."""
    names = [spec.name for spec in suite.specs]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            raise SpecError(f"suite {suite.name!r}: two episodes are named {name!r}")
    rows = {norm.id for norm in suite.norms}
    for spec in suite.specs:
        if not spec.norms:
            raise SpecError(f"episode {spec.name!r} has no norm; a suite is sorted by norms")
        for norm_id in (*spec.norms, *spec.norms_after):
            if norm_id not in rows:
                raise SpecError(f"episode {spec.name!r}: no row of norm {norm_id!r} in the suite")
        if spec.layout not in suite.layout_hashes:
            raise SpecError(f"episode {spec.name!r}: no hash of layout {spec.layout!r}")
    _ = suite.groups  # sorting refuses a second interaction


def _make_group(suite: Suite, indices: list[int]) -> Group:
    """Return the group of some episodes with the same norms."""
    interactions = [i for i in indices if suite.specs[i].phase == "interaction"]
    tests = tuple(i for i in indices if suite.specs[i].phase in TEST_PHASES)
    first = suite.specs[indices[0]]
    if len(interactions) > 1:
        names = ", ".join(suite.specs[i].name for i in interactions)
        raise SpecError(f"suite {suite.name!r}: more than one interaction under {names}")
    if len(interactions) + len(tests) < len(indices):
        raise SpecError(f"suite {suite.name!r}: {first.name!r} or a relative has phase 'free'")
    family = next(norm.family for norm in suite.norms if norm.id == first.norms[0])
    return Group(first.norms, family, interactions[0] if interactions else None, tests)
