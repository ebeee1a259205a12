"""Claims of the study with everything optional."""

import json
import math
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.acu.prompts import load_claim_template

from tests.support.sandbox import MODEL, ROOT, Sandbox

pytestmark = [pytest.mark.study, pytest.mark.gate]


def test_probabilities_are_those_of_transformers(optional: Sandbox) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    loaded = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    template = load_claim_template(ROOT / "config/claim_prompts/claims_zeroshot_claimant.yaml")
    claims = pl.read_parquet(optional.results / "acu/few/claims.parquet")
    pairs = pl.read_parquet(optional.results / "acu/few/pairs/demo-lm/claims_zeroshot_claimant.parquet")
    [receipt] = json.loads((optional.results / "acu/few/asked/score_claims/demo-lm.json").read_text())["parts"]
    tokens = {word: [token["id"] for token in found] for word, found in receipt["words"].items()}
    assert pairs["id"].to_list() == claims["id"].to_list()
    for claim, pair in zip(claims.to_dicts()[::4], pairs.to_dicts()[::4], strict=True):
        for ending, evidence in (("", None), ("_evidence", claim["evidence"])):
            prompt = template.render(claim["claim"], claim["claimant"], evidence)
            with torch.no_grad():
                p = loaded(torch.tensor([tokenizer(prompt)["input_ids"]])).logits[0, -1].softmax(-1)
            for word, ids in tokens.items():
                expected = float(p[ids].sum())
                assert pair[f"p_{word.lower()}{ending}"] == pytest.approx(expected, abs=1e-4)
                assert math.log(pair[f"p_{word.lower()}{ending}"]) == pytest.approx(math.log(expected), abs=1e-3)
    ids = tokenizer(claims["evidence"][0])["input_ids"]
    with torch.no_grad():
        loss = float(loaded(torch.tensor([ids]), labels=torch.tensor([ids])).loss)
    assert pairs["evidence_perplexity"][0] == pytest.approx(math.exp(loss), rel=1e-3)


def test_a_claim_is_asked_once_without_evidence(optional: Sandbox) -> None:
    [receipt] = json.loads((optional.results / "acu/few/asked/score_claims/demo-lm.json").read_text())["parts"]
    tokens = sum(map(len, receipt["words"].values()))
    assert receipt["prompts"]["asked"] == (5 + 15) * tokens and receipt["evidence"]["asked"] == 15


def test_nothing_is_scored_twice(optional: Sandbox, tmp_path: Path) -> None:
    study = optional.copied_to(tmp_path / "study")
    study.snakemake("acu", "--forcerun", "score_claims", "--until", "score_claims")
    receipt = json.loads((study.results / "acu/few/asked/score_claims/demo-lm.json").read_text())
    assert receipt["made"] == 0 and receipt["cached"] == receipt["asked"] > 0


def test_page_and_tables(optional: Sandbox) -> None:
    assert 'data-chart="acu-acu_usage"' in (optional.results / "report/index.html").read_text(encoding="utf-8")
    assert 'data-chart="acu-acu_usage"' in (optional.results / "report/acu.html").read_text(encoding="utf-8")
    for ending in ("svg", "png", "pdf"):
        assert (optional.results / f"report/figures/acu_correlations.{ending}").stat().st_size > 1000
    table = pl.read_csv(optional.results / "acu/tables/pairs.csv")
    assert table.height == 15 and table["acu"].is_between(-1, 1).all()
