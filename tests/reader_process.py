"""The readers of prompts in processes of their own, where no engine can be imported.

`obey` and `ignore` are functions from text to text, as `callable:reader_process:obey` names them.
"""

import atexit
import json
import subprocess
import sys
import threading
from pathlib import Path

READER = Path(__file__).with_name("prompt_reader.py")


class ReaderProcess:
    """A reader that answers from a process of its own."""

    def __init__(self, kind: str) -> None:
        """Start it.

        Args:
            kind: "obey" or "ignore".
        """
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(READER), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=READER.parent,
        )
        atexit.register(self.close)

    def __call__(self, prompt: str) -> str:
        """Return the reader's reply to a prompt."""
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            stdin.write(json.dumps(prompt) + "\n")
            stdin.flush()
            line = stdout.readline()
        if not line:
            raise RuntimeError(f"the reader has ended with status {self._process.wait()}")
        reply: str = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait()


_started: dict[str, ReaderProcess] = {}
_starting = threading.Lock()


def _ask(kind: str, prompt: str) -> str:
    with _starting:
        if kind not in _started:
            _started[kind] = ReaderProcess(kind)
    return _started[kind](prompt)


def obey(prompt: str) -> str:
    """Return the reply of the reader that keeps to the norm it is told."""
    return _ask("obey", prompt)


def ignore(prompt: str) -> str:
    """Return the reply of the reader that takes no notice of norms."""
    return _ask("ignore", prompt)
