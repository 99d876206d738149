"""What an agent remembers of an episode: recent turns, and older ones that cost it something.

Entries are texts with a mark; what they are about is the caller's business.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from normgym_envs.errors import ConfigError


@dataclass(frozen=True)
class Entry:
    """One remembered turn."""

    turn: int  # turn index
    text: str
    marked: bool = False  # worth keeping when it is no longer recent


@dataclass(frozen=True)
class Recollection:
    """The entries that a prompt shows."""

    older: tuple[Entry, ...]  # marked ones, oldest first
    recent: tuple[Entry, ...]  # oldest first
    total: int  # turns lived through so far
    first: int  # turn index of the first of them; -1 before the first
    last: int
    dropped: int = 0  # entries left out to save room


class Memory:
    """The most recent entries, and some marked ones that are older.

    An entry moves from the recent ones to the older ones when it is marked, so that none is kept
    twice.

    Source: NG "LLM Agents" (ten most recent steps, up to five older sanctioned ones).
    """

    def __init__(self, recent: int = 10, marked: int = 5) -> None:
        """Start empty.

        Args:
            recent: most recent entries kept, at least 1.
            marked: older marked entries kept, at least 0.

        Raises:
            ConfigError: a number out of range.
        """
        if recent < 1 or marked < 0:
            raise ConfigError(
                f"memory of {recent} recent and {marked} marked turns; expected at least 1 and 0"
            )
        self._recent: deque[Entry] = deque()
        self._marked: deque[Entry] = deque(maxlen=marked)
        self._size = recent
        self._total = 0
        self._first = self._last = -1

    def add(self, entry: Entry) -> None:
        """Remember a turn; must be later than all before."""
        if self._total == 0:
            self._first = entry.turn
        self._last = entry.turn
        self._total += 1
        self._recent.append(entry)
        if len(self._recent) > self._size:
            oldest = self._recent.popleft()
            if oldest.marked:
                self._marked.append(oldest)

    def recall(self, dropped: int = 0) -> Recollection:
        """Return what is remembered, with some entries left out to save room.

        Args:
            dropped: entries left out: the older marked ones first, oldest first, then the recent
                ones, oldest first.
        """
        older = tuple(self._marked)
        recent = tuple(self._recent)
        from_older = min(dropped, len(older))
        return Recollection(
            older[from_older:],
            recent[dropped - from_older :],
            self._total,
            self._first,
            self._last,
            dropped,
        )

    def shrink(self) -> Iterator[Recollection]:
        """Yield what is remembered, each time with one entry less; the last of all stays in."""
        for dropped in range(max(1, len(self._marked) + len(self._recent))):
            yield self.recall(dropped)
