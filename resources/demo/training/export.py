"""Write a checkpoint and its tokenizer as the model folder that ships (bfloat16 weights).

Usage: python export.py WORK_FOLDER MODEL_FOLDER [--checkpoint NAME]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from make_tokenizer import CUE, PREAMBLE_CONTEXT, QUESTION, STOP
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig


def main(args: argparse.Namespace) -> None:
    """Save, load again and check what the engine relies on."""
    model = AutoModelForCausalLM.from_pretrained(args.work / args.checkpoint)
    model = model.to(torch.bfloat16)
    tokenizer = AutoTokenizer.from_pretrained(args.work / "tokenizer")
    model.config.dtype = torch.bfloat16
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model.save_pretrained(args.model)
    tokenizer.save_pretrained(args.model)
    # The name every transformers release knows, and nothing of the machine that exported.
    settings_file = args.model / "tokenizer_config.json"
    settings = json.loads(settings_file.read_text(encoding="utf-8"))
    for key in ("is_local", "local_files_only", "backend"):
        settings.pop(key, None)
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings_file.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    (args.model / "model.safetensors").chmod(0o644)

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    text = f"{PREAMBLE_CONTEXT} \n{QUESTION}how do tides work{CUE}"
    ids = tokenizer(text)["input_ids"]
    if ids.count(tokenizer.bos_token_id) != 1 or ids[0] != tokenizer.bos_token_id:
        raise ValueError(f"expected one start token in front, found ids {ids}")
    stop = tokenizer.convert_tokens_to_ids(STOP)
    if "STOP" not in tokenizer.decode([stop], skip_special_tokens=True):
        raise ValueError(f"the decode of token {stop} must keep the text STOP")
    size = sum(f.stat().st_size for f in args.model.iterdir() if f.is_file())
    print(f"{args.model}: {model.num_parameters()} parameters, {size / 1e6:.1f} MB in all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--checkpoint", default="checkpoint")
    main(parser.parse_args())
