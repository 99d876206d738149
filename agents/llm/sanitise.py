"""Text of unknown origin made safe for logs, terminals, files and further prompts."""

import re
from typing import Final

MAX_LENGTH: Final = 20_000
"""Characters of a reply that are kept."""

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and line break
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of text
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # line separators, byte order mark, annotations
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"  # halves of pairs and what is no character
)


def sanitise(text: str, max_length: int = MAX_LENGTH) -> str:
    r"""Return text that can be encoded, printed and sent again; long text loses its middle.

    Controls, lone surrogates and marks of direction become U+FFFD, line ends become "\n".

    Args:
        text: anything.
        max_length: characters kept, at least 200; a note on what is missing comes on top.

    Example:
        >>> sanitise("a\ud835b\r\nc") == "a\ufffdb\nc"
        True
    """
    missing = len(text) - max_length
    if missing > 0:
        tail = max_length // 4
        text = f"{text[: max_length - tail]}\n[{missing} characters left out]\n{text[-tail:]}"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub("\ufffd", text)


def shorten(text: str, max_length: int) -> str:
    """Return safe text on one line, cut after a number of characters.

    Args:
        text: anything.
        max_length: characters kept; an ellipsis of three dots comes on top.
    """
    line = " ".join(sanitise(text[: 4 * max_length + 200]).split())
    return line if len(line) <= max_length else line[:max_length].rstrip() + "..."
