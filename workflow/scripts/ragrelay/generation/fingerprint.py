"""The fingerprint: a hash of all that decides an answer besides its prompt and seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.config.models import model_identity
from ragrelay.hashing import value_hash

DECODING = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "stop")
DECISIVE = ("dtype", "quantization", "max_model_len", "over_window", *DECODING, "trust_remote_code")
# Keys that came later: left at what they were before, they keep the answers made then.
LATER: dict[str, Any] = {"chat": False, "chat_template_kwargs": {}}


def fingerprint(generator: Mapping[str, Any], folder: str | Path = ".", cache_dir: str | Path | None = None) -> str:
    """16 hex digits that change with whatever decides the text of an answer.

    Models, adapters and tokenizers count by a hash of their files (a local folder) or by id and revision (a hub), so
    that a folder that is moved keeps its answers. A model behind an endpoint counts by the name it is served under, its
    revision and ``base_url``; an address from the environment doesn't, as a server of one's own is somewhere else every
    time. The prompt template doesn't count: prompts are keys of their own. ``thinking`` doesn't: the store keeps the
    whole text.
    """
    kept, place = Path(cache_dir) if cache_dir else None, Path(folder)
    revision = generator.get("revision")
    keys: tuple[str, ...]
    decisive = {key: generator[key] for key, value in LATER.items() if generator.get(key, value) != value}
    if "adapter" in generator:
        decisive["adapter"] = model_identity(generator["adapter"], generator.get("adapter_revision"), place, kept)
    if generator["engine"] == "openai":
        decisive |= {"endpoint": generator.get("base_url", ""), "model": f"{generator['model']}@{revision or ''}"}
        if "tokenizer" in generator:
            keys = ("max_model_len", "over_window", "trust_remote_code", *DECODING)
            decisive["tokenizer"] = model_identity(generator["tokenizer"], revision, place, kept)
        else:
            keys = DECODING
    else:
        keys = DECISIVE
        decisive["model"] = model_identity(generator["model"], revision, place, kept)
    return value_hash({**decisive, **{key: generator[key] for key in keys if key in generator}})
