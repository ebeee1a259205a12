"""Optional parts of a study: context use of answers, gold answers, and the plan and files of all parts.

By the demo's model with vLLM; probabilities are checked by the same model run by transformers.
"""

import json

import polars as pl
import pytest

from tests.e2e.test_result_files import files_with_declared_columns
from tests.support.annex_cases import entries_of_annexes
from tests.support.optional_study import TARGETS
from tests.support.sandbox import GOLD, MODEL, Sandbox

pytestmark = pytest.mark.gate


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
    assert "Was the context used?" in page


def test_every_file_is_declared_and_has_the_declared_columns(optional: Sandbox) -> None:
    assert files_with_declared_columns(optional) > 50


def test_the_plan_counts_the_jobs_that_score_texts_as_they_then_are(optional: Sandbox) -> None:
    """Requests and tokens are those of the receipts; a likelihood that jobs share is made by the first of them."""
    results = optional.results
    receipts = {path.parent.name: path for path in results.rglob("asked/*/demo-lm.json")}
    receipts |= {job: results / name for job, name in entries_of_annexes("GENERATED").items()}
    plan = pl.read_csv(results / "plan.csv")
    made = []
    for job, path in receipts.items():
        [row] = plan.filter(job=job).to_dicts()
        told = json.loads(path.read_text())
        of_parts = told.get("parts", [told])
        stores = [(one["prompts"], one["evidence"]) if "evidence" in one else (one,) for one in of_parts]
        parts = [part for of_part in stores for part in of_part]
        # A key that two parts share is asked by both, and found by the second.
        assert sum(part["asked"] for part in parts) >= row["asked"] > 0, job
        assert row["to_make"] >= sum(part["made"] for part in parts) and row["engine_starts"] == 1, job
        made += [{"requests": part["made"], **part} for part in parts if part["made"]]
    total = plan.filter(dataset="total").row(0, named=True)
    assert total["of_answers_to_come"] == 0
    assert total["to_make"] == sum(part["made"] for part in made)
    for name in ("requests", "prompt_tokens"):
        assert total[name] == sum(part[name] for part in made), name
    cached = sum(part["cached_tokens"] for part in made)
    assert total["prefix_shared_tokens_estimate"] == pytest.approx(cached, rel=0.1)


def test_a_second_run_does_nothing(optional: Sandbox) -> None:
    assert not set(optional.planned(*TARGETS)) - {*TARGETS}


def test_gold_answers_go_through_a_study_to_its_report(optional: Sandbox) -> None:
    folder, report = optional.results / "small", optional.results / "report"
    table = pl.read_parquet(folder / "scores/token_f1/demo-lm/rel.parquet")
    assert set(table["references"]) == {"gold"} and set(table["qid"]) == set(GOLD)
    assert (report / "tables/table1_small_demo-lm_token_f1.csv").stat().st_size > 0
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "gold references" in page and "gold-unseen" not in page
    left_out = pl.read_json(folder / "collection/left_out.json")
    assert left_out.filter(what="queries without a gold answer")["count"].to_list() == [6]
