"""Functions from prompt to reply, as models that cost nothing."""

import hashlib
import json
import os
import signal

from agents.llm import Message

MOVES = ("move up", "move down", "move left", "move right", "wait")


def wander(prompt: str) -> str:
    """Choose by a hash of the prompt: the same prompt gets the same reply, others any."""
    number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big")
    reply = {
        "reasoning": f"I try number {number % 97}.",
        "action": MOVES[number % 5],
        "belief": f"Perhaps it is about the number {number % 7}.",
        "confidence": number % 11 / 10,
    }
    return json.dumps(reply)


async def wander_at_once(prompt: str) -> str:
    """Do the same without a thread."""
    return wander(prompt)


async def tell_key(prompt: str) -> str:
    """Fail, and give away a secret of the environment in the message."""
    raise ConnectionError(f"401 for key {os.environ['CANARY_API_KEY']}")


async def break_often(prompt: str) -> str:
    """Fail on one prompt in twenty, as a service that is down."""
    if hashlib.sha256(b"x" + prompt.encode()).digest()[0] < 13 and not os.environ.get("MENDED"):
        raise ConnectionError("the line is dead")
    return wander(prompt)


async def see(messages: list[Message]) -> str:
    """Insist on a picture, then choose by the words."""
    assert all(message.images for message in messages if message.role == "user")
    assert messages[-1].images[0].startswith(b"\x89PNG")
    return wander("\n\n".join(message.text for message in messages))


def wander_until_killed(prompt: str) -> str:
    """Choose, note the call in the file CALLS, and die on the call KILL_AT of all of them."""
    with open(os.environ["CALLS"], "ab") as file:
        file.write(b".")
        number = file.tell()
    if number == int(os.environ.get("KILL_AT", "0")):
        os.kill(os.getpid(), signal.SIGKILL)
    return wander(prompt)
