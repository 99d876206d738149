"""Weights on this machine: found, and put together with processors and adapters.

Nothing is fetched, and no library is imported before something is loaded.
"""

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

from normgym_envs.errors import ConfigError, MissingExtraError


def load_processor(folder: Path | str) -> Any:
    """Return the processor of a model that sees.

    Without torchvision the processor of Qwen3-VL cannot be loaded whole, as it would read videos
    with it; then it is put together without that part.

    Args:
        folder: of the model.

    Raises:
        ConfigError: the processor needs torchvision and is not one of Qwen3-VL.
    """
    transformers = load_package("transformers")
    try:
        return transformers.AutoProcessor.from_pretrained(folder, local_files_only=True)
    except (ImportError, AttributeError, ValueError) as error:
        if importlib.util.find_spec("torchvision") is not None:
            raise
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        if not str(config.get("model_type", "")).startswith("qwen3_vl"):
            raise ConfigError(
                f"the processor in {str(folder)!r} needs torchvision ({error}); "
                "expected: pip install torchvision"
            ) from error
    return compose_processor(
        transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True),
        transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, padding_side="left"
        ),
    )


def compose_processor(image_processor: Any, tokenizer: Any) -> Any:
    """Return a processor of Qwen3-VL that reads pictures and no videos.

    Args:
        image_processor: of transformers.
        tokenizer: with a chat template.
    """
    base: Any = load_package("transformers").Qwen3VLProcessor

    class ImageOnlyProcessor(base):  # type: ignore[misc]
        def __init__(
            self,
            image_processor: Any = None,
            tokenizer: Any = None,
            chat_template: Any = None,
            **options: Any,
        ) -> None:
            super().__init__(image_processor, tokenizer, None, chat_template=chat_template)

    return ImageOnlyProcessor(image_processor, tokenizer, chat_template=tokenizer.chat_template)


def find_weights(name: str, gguf_file: str | None) -> tuple[Path, str | None]:
    """Return folder and GGUF file of a model.

    Args:
        name: folder, .gguf file, or installed package that holds one.
        gguf_file: name of the file in the folder, None for weights of transformers' own kind.

    Raises:
        ConfigError: there is nothing of the kind.
    """
    path = Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        return path.parent, path.name
    if path.is_dir():
        return path, gguf_file
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        files = sorted(folder.glob(gguf_file or "*.gguf"))
        if files:
            return folder, files[0].name
    raise ConfigError(
        f"model {name!r} is not on this machine; expected a folder of weights, a .gguf file, or "
        "an installed package that holds one"
    )


def takes_pictures(folder: Path) -> bool:
    """Return whether a model takes pictures.

    Args:
        folder: of the model.

    Raises:
        ConfigError: the folder has no configuration of a model.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder} holds no model of transformers: {error}") from None
    return "vision_config" in config


def put_adapter(model: Any, adapter: str) -> Any:
    """Return the model with an adapter on it.

    Args:
        model: of transformers.
        adapter: folder of a PEFT adapter.

    Raises:
        ConfigError: there is no adapter.
        MissingExtraError: peft is missing.
    """
    if not (Path(adapter) / "adapter_config.json").is_file():
        raise ConfigError(
            f"{adapter!r} holds no adapter; expected a folder with adapter_config.json"
        )
    return load_package("peft").PeftModel.from_pretrained(model, adapter)


def load_package(package: str) -> Any:
    """Return a package of the extra that runs models.

    Args:
        package: name to import.

    Raises:
        MissingExtraError: it is missing.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(
            f"models on this machine need {package}, which is missing ({error}); "
            'install it with: pip install "normgym[finetune]"'
        ) from None
