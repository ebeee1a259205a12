"""Build vLLM's arguments for LoRA adapters (Hu et al., LoRA, ICLR 2022)."""

from pathlib import Path
from typing import get_args

from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import json_object
from ragrelay.base.models.hubs import check_cached, fetch
from ragrelay.base.models.locations import ADAPTER_CONFIG, is_local, model_path
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry


def adapter_path(generator: GeneratorEntry) -> Path:
    """Return the folder of the generator's adapter. An adapter on a hub is downloaded first."""
    if is_local(generator["adapter"]):
        return Path(model_path(generator["adapter"]))
    adapter, revision = generator["adapter"], generator.get("adapter_revision")
    place = f"generator's adapter {adapter!r}"
    check_cached(adapter, revision, place)
    return fetch(adapter, revision, place)


def adapter_arguments(generator: GeneratorEntry) -> dict[str, object]:
    """Return vLLM's engine arguments for the generator's adapter, or an empty mapping if there is no adapter."""
    if "adapter" not in generator:
        return {}
    from vllm.config.lora import MaxLoRARanks

    path = adapter_path(generator) / ADAPTER_CONFIG
    rank = json_object(path, str(path), "an adapter's configuration").get("r")
    fitting = [known for known in get_args(MaxLoRARanks) if isinstance(rank, int) and rank <= known]
    if not fitting:
        raise InputError(path, f"r = {rank!r}", f"an integer up to {max(get_args(MaxLoRARanks))}, vLLM's maximum")
    return {"enable_lora": True, "max_lora_rank": min(fitting), "max_loras": 1}


def adapter_request(generator: GeneratorEntry) -> object:
    """Return the LoRA argument to pass to vLLM with each request, or None if the generator has no adapter."""
    if "adapter" not in generator:
        return None
    from vllm.lora.request import LoRARequest

    return LoRARequest("adapter", 1, str(adapter_path(generator)))
