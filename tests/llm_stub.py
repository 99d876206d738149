"""A server that speaks as OpenAI-compatible ones do, on this machine only, and fails on purpose."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = ("429", "500", "timeout", "drop", "refusal", "length", "babble", "empty")
"""What can go wrong with a request; the first four are of transport."""
TRANSPORT = FAULTS[:4]

Answer = Callable[[str], str]
"""Returns the reply to a prompt, its messages joined by empty lines."""
Fault = Callable[[int], str]
"""Returns what goes wrong with the n-th request, counted from 0; "" for nothing."""


class StubServer:
    """Serves chat completions until it is closed.

    Attributes:
        served: how many requests have met which fault; "" for none.
        images: pictures received.
        context: tokens that the model is said to have room for.
        keys: what clients sent as authorisation.
    """

    def __init__(
        self, answer: Answer, fault: Fault = lambda number: "", slow: float = 30.0
    ) -> None:
        """Start to listen on a free port.

        Args:
            answer: what the model says.
            fault: what goes wrong.
            slow: seconds that a "timeout" keeps the client waiting.
        """
        self.answer, self.fault, self.slow = answer, fault, slow
        self.served: Counter[str] = Counter()
        self.images = 0
        self.context = 65_536
        self.keys: set[str] = set()
        self.on_request: Callable[[int], None] = lambda number: None
        self.closing = threading.Event()
        self._number = 0
        self._lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                stub.send(
                    self, 200, {"object": "list", "data": [{"id": "stub", "max_model_len": 65536}]}
                )

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                stub.handle(self, json.loads(self.rfile.read(length)))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "StubServer":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop to listen."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Address as clients take it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def total(self) -> int:
        """Requests so far."""
        return sum(self.served.values())

    def handle(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """Answer a request, or fail."""
        with self._lock:
            number = self._number
            self._number += 1
            kind = self.fault(number)
            self.served[kind] += 1
            self.keys.add(handler.headers.get("Authorization", ""))
        self.on_request(number)
        prompt, images = read_prompt(body["messages"])
        self.images += images
        if kind == "429":
            self.send(handler, 429, {"error": {"message": "slow down"}}, {"Retry-After": "0.05"})
        elif kind == "500":
            self.send(handler, 500, {"error": {"message": "out of order"}}, {"Retry-After": "0.05"})
        elif kind == "timeout":
            self.closing.wait(self.slow)
            handler.close_connection = True
        elif kind == "drop":
            handler.close_connection = True
            handler.connection.close()
        else:
            self.send(handler, 200, make_reply(kind, self.answer, prompt))

    def send(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        value: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send JSON; a client that has gone away is no fault of ours."""
        content = json.dumps(value).encode()
        try:
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(content)))
            for name, text in (headers or {}).items():
                handler.send_header(name, text)
            handler.end_headers()
            handler.wfile.write(content)
        except OSError:
            handler.close_connection = True


def read_prompt(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """Return the texts of a prompt, joined, and how many pictures it has."""
    texts, images = [], 0
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            texts.append(content)
            continue
        for part in content:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                assert part["image_url"]["url"].startswith("data:image/png;base64,")
                images += 1
    return "\n\n".join(texts), images


def make_reply(kind: str, answer: Answer, prompt: str) -> dict[str, Any]:
    """Return a chat completion, with what is wrong about it."""
    text, reason = "", "stop"
    if kind == "refusal":
        text, reason = "I cannot help with that.", "content_filter"
    elif kind == "length":
        text, reason = '{"reasoning": "First I look at everything that ', "length"
    elif kind == "babble":
        text = "Well, one could go left, or perhaps right. Who knows?"
    elif kind != "empty":
        text = answer(prompt)
    tokens = len(prompt) // 4
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": reason,
            }
        ],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": len(text) // 4,
            "total_tokens": tokens + len(text) // 4,
            "prompt_tokens_details": {"cached_tokens": tokens // 2},
        },
    }
