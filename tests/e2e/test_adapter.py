"""LoRA adapters in the real vLLM, against the merged weights in transformers."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from ragrelay.generation.generator import Request
from ragrelay.generation.tokens import load_tokenizer

from tests.support.chat_model import DEMO_MODEL, build_adapter
from tests.support.served import rows_of_engine

TEXT = 'Question: "what is tea"\nNow start your answer. \nAnswer: '
DEFINITION = {
    "model": str(DEMO_MODEL), "dtype": "float32", "max_num_seqs": 2, "prefix_caching": True, "trust_remote_code": False,
    "tensor_parallel_size": 1, "gpu_memory_utilization": 0.5, "cpu_kvcache_gib": 1, "temperature": 0.0, "top_k": 0,
    "top_p": 1.0, "min_p": 0.0, "max_tokens": 12, "stop": [], "load_format": "auto",
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "min_tokens": 0,
    "batch_invariant": False,
}  # fmt: skip


def merged_answer(adapter: Path | None, ids: list[int]) -> str:
    """Greedy tokens of transformers with the adapter's products added to the weights (Hu et al., 2022, eq. 3)."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(DEMO_MODEL, dtype=torch.float32)
    if adapter is not None:
        described = json.loads((adapter / "adapter_config.json").read_text())
        weights = load_file(adapter / "adapter_model.safetensors")
        for name in [name for name in weights if name.endswith("lora_A.weight")]:
            product = weights[name.replace("lora_A", "lora_B")] @ weights[name]
            target = name.removeprefix("base_model.model.").replace(".lora_A", "")
            model.get_parameter(target).data += product * described["lora_alpha"] / described["r"]
    made = model.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0, len(ids) :]
    return load_tokenizer(DEFINITION).decode(made, skip_special_tokens=True).strip()


@pytest.mark.full
def test_adapter_answers_as_merged_weights_do(tmp_path: Path) -> None:
    adapter = build_adapter(tmp_path / "adapter", scale=0.05)
    ids = load_tokenizer(DEFINITION)(TEXT)["input_ids"]
    request = Request("p", 1, tuple(ids))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = pool.submit(rows_of_engine, {**DEFINITION, "adapter": str(adapter)}, [request]).result()
    assert rows["p", 1]["answer"] == merged_answer(adapter, ids)
    assert rows["p", 1]["answer"] != merged_answer(None, ids), "an adapter that does something"
