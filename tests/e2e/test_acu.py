"""Claims with evidence and the context use of answers, in a study with the demo's claims and model by vLLM.

Probabilities are checked by the same model run by transformers.
"""

import json
import math
from pathlib import Path

import polars as pl
import pytest
from ragrelay.claims.prompts import load_claim_template

from tests.support.sandbox import ROOT, Sandbox

MODEL = str(ROOT / "resources/demo/model")


def by_transformers(prompt: str, continuation: str) -> float:
    """The log-probability of ``continuation`` after ``prompt``, the mean over its tokens, in one float32 pass."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    before, after = tokenizer(prompt)["input_ids"], tokenizer(continuation, add_special_tokens=False)["input_ids"]
    ids = torch.tensor([before + after])
    with torch.no_grad():
        found = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)(ids).logits[0].log_softmax(-1)
    places = range(len(before) - 1, len(before) + len(after) - 1)
    return sum(float(found[place, token]) for place, token in zip(places, after, strict=True)) / len(after)


def test_context_use_of_answers(optional: Sandbox) -> None:
    folder = optional.results / "small"
    use = pl.read_parquet(folder / "context_use/demo-lm/rel.parquet")
    assert use.height == 8 * 2 * 2 * 2 and use["context_use"].is_not_null().all()
    assert use["text_change"].is_between(0, 1).all()
    row = use.row(0, named=True)
    path = f"rel/{row['ordering']}/k{row['k']}"
    answer = pl.read_parquet(folder / f"answers/demo-lm/{path}/seed{row['seed']}.parquet").filter(qid=row["qid"])
    prompts = [
        pl.read_parquet(folder / f"prompts/tian2025/{name}.parquet").filter(qid=row["qid"])["prompt"].item()
        for name in (path, "zeroshot/none/k0")
    ]
    with_it, without = (by_transformers(prompt, answer["answer"].item()) for prompt in prompts)
    assert row["context_use"] == pytest.approx(with_it - without, abs=1e-3)
    assert row["context_use"] > 1, "the demo's model copies from its context"
    utility = pl.read_parquet(folder / "utility/minilm/demo-lm.parquet")
    cell = {name: row[name] for name in ("qid", "ordering", "k")}
    both_seeds, found = use.filter(**cell)["context_use"], utility.filter(retriever="rel", **cell)["context_use"]
    assert len(both_seeds) == 2 and len(found) > 1
    assert found.to_list() == pytest.approx([both_seeds.mean()] * len(found))
    assert utility.filter(retriever="zeroshot")["context_use"].is_null().all()
    table = pl.read_csv(folder / "analysis/minilm/demo-lm/context_use.csv").filter(retriever="all retrievers")
    groups = [f"n_{group}" for group in ("good_used", "good_unused", "poor_used", "poor_unused")]
    assert table.select(pl.sum_horizontal(groups)).to_series().to_list() == table["n"].to_list()
    page = (optional.results / "report/index.html").read_text(encoding="utf-8")
    assert "Was the context used?" in page and 'data-chart="acu_usage"' in page


def test_probabilities_are_those_of_transformers(optional: Sandbox) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    loaded = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    template = load_claim_template(ROOT / "config/claim_prompts/claims_zeroshot_claimant.yaml")
    claims = pl.read_parquet(optional.results / "acu/few/claims.parquet")
    pairs = pl.read_parquet(optional.results / "acu/few/pairs/demo-lm/claims_zeroshot_claimant.parquet")
    receipt = json.loads((optional.results / "acu/few/scored/demo-lm.json").read_text())
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
    receipt = json.loads((optional.results / "acu/few/scored/demo-lm.json").read_text())
    tokens = sum(map(len, receipt["words"].values()))
    assert receipt["prompts"]["asked"] == (5 + 15) * tokens and receipt["evidence"]["asked"] == 15


def test_page_and_tables(optional: Sandbox) -> None:
    assert 'data-chart="acu_usage"' in (optional.results / "report/acu.html").read_text(encoding="utf-8")
    for ending in ("svg", "png", "pdf"):
        assert (optional.results / f"report/figures/acu_correlations.{ending}").stat().st_size > 1000
    table = pl.read_csv(optional.results / "acu/tables/pairs.csv")
    assert table.height == 15 and table["acu"].is_between(-1, 1).all()


def test_nothing_is_scored_twice(optional: Sandbox, tmp_path: Path) -> None:
    study = optional.copied_to(tmp_path / "study")
    study.snakemake("acu", "--forcerun", "score_claims", "--until", "score_claims")
    receipt = json.loads((study.results / "acu/few/scored/demo-lm.json").read_text())
    assert receipt["prompts"]["made"] == receipt["evidence"]["made"] == 0
