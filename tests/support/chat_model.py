"""The demo model with a chat template and a LoRA adapter, built on the spot: a fake for what hubs give."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.sandbox import ROOT

DEMO_MODEL = ROOT / "resources" / "demo" / "model"
# In the manner of Llama 3's: BOS first, contents trimmed, special tokens around the parts.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<pad>{{ message['role'] }}\n\n{{ message['content'] | trim }}</s>"
    "{% endfor %}{% if add_generation_prompt %}<pad>assistant\n\n{% if brief %}In short: {% endif %}{% endif %}"
)


def build_chat_model(folder: Path, template: str = CHAT_TEMPLATE) -> Path:
    """A copy of the demo model whose tokenizer has a chat template."""
    shutil.copytree(DEMO_MODEL, folder)
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return folder


def with_tokens(tokenizer: bytes, tokens: Mapping[str, bool]) -> bytes:
    """A tokenizer.json with more added ``tokens``; whether each is special."""
    described = json.loads(tokenizer)
    listed = described["added_tokens"]
    number = max(len(described["model"]["vocab"]), 1 + max(token["id"] for token in listed))
    for token, (text, special) in enumerate(tokens.items(), number):
        listed.append({**listed[0], "id": token, "content": text, "special": special})
    return json.dumps(described, ensure_ascii=False).encode()


def add_tokens(folder: Path, tokens: Mapping[str, bool]) -> Path:
    """Adds ``tokens`` to the tokenizer of a model's folder, whose model doesn't know them."""
    path = folder / "tokenizer.json"
    path.write_bytes(with_tokens(path.read_bytes(), tokens))
    return folder


def build_adapter(folder: Path, rank: int = 4, scale: float = 1.0) -> Path:
    """A LoRA adapter of random weights for the demo model's query and value projections."""
    import torch
    from safetensors.torch import save_file

    config = json.loads((DEMO_MODEL / "config.json").read_text())
    width = config["hidden_size"]
    chance = torch.Generator().manual_seed(0)
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        for name in ("q_proj", "v_proj"):
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights[f"{prefix}.lora_A.weight"] = torch.randn(rank, width, generator=chance)
            weights[f"{prefix}.lora_B.weight"] = scale * torch.randn(width, rank, generator=chance)
    folder.mkdir(parents=True)
    save_file(weights, folder / "adapter_model.safetensors")
    described = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "demo",
        "r": rank,
        "lora_alpha": rank,
        "target_modules": ["q_proj", "v_proj"],
        "bias": "none",
    }
    (folder / "adapter_config.json").write_text(json.dumps(described), encoding="utf-8")
    return folder
