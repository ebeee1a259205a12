"""Optional parts of a study: claims with evidence, context use of answers, annotation sources, gold answers.

By the demo's claims and model with vLLM; probabilities are checked by the same model run by transformers.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.acu.prompts import load_claim_template
from ragrelay.report.display.numbers import count

from tests.e2e.test_result_files import files_with_declared_columns
from tests.support.changes import changed
from tests.support.optional_study import SOURCES
from tests.support.predicted_study import check_predictions
from tests.support.sandbox import GOLD, ROOT, Sandbox

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
    assert "Was the context used?" in page and 'data-chart="acu-acu_usage"' in page


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


def test_page_and_tables(optional: Sandbox) -> None:
    assert 'data-chart="acu-acu_usage"' in (optional.results / "report/acu.html").read_text(encoding="utf-8")
    for ending in ("svg", "png", "pdf"):
        assert (optional.results / f"report/figures/acu_correlations.{ending}").stat().st_size > 1000
    table = pl.read_csv(optional.results / "acu/tables/pairs.csv")
    assert table.height == 15 and table["acu"].is_between(-1, 1).all()


def test_the_study_is_compared_with_published_tables(optional: Sandbox) -> None:
    folder = optional.results / "reproduction"
    cells = pl.read_csv(folder / "cells.csv").filter(quantity="utility", scorer="minilm")
    means = pl.read_csv(optional.results / "small/analysis/minilm/demo-lm/utility.csv")
    published = [("bm25", "descending", 0.1), ("bm25", "ascending", 0.2), ("rel", "descending", 0.3)]
    assert cells.select("retriever", "ordering", "published").rows() == published, "k = 15 is none of this study's"
    for row in cells.iter_rows(named=True):
        mine = means.filter(retriever=row["retriever"], ordering=row["ordering"], k=2, references="lenient")
        assert row["value"] == mine["mean_utility"].item()
        assert row["difference"] == pytest.approx(row["value"] - row["published"])
        assert row["inside"] == (mine["low"].item() <= row["published"] <= mine["high"].item())
    tests = pl.read_csv(optional.results / "small/analysis/minilm/demo-lm/significance.csv").filter(
        retriever="bm25", k=2, references="lenient", quantity="utility"
    )
    daggers = dict(tests.filter(mark="†").select("ordering", "significant").iter_rows())
    found = dict(cells.filter(retriever="bm25").select("ordering", "differs_from_rel").iter_rows())
    assert found == daggers
    assert cells.filter(ordering="ascending")["differs_from_reversed"].item() == (
        tests.filter(mark="‡")["significant"].item()
    )
    summary = pl.read_csv(folder / "summary.csv").filter(scorer="minilm").row(0, named=True)
    assert (summary["n"], summary["n_published"]) == (3, 4)
    labels = pl.read_csv(folder / "labels.csv").filter(scorer="minilm", references="lenient")
    assert labels.select("source", "coefficient", "published").rows() == [
        ("erag", "kendall", 0.5), ("erag", "spearman", 0.6),
    ]  # fmt: skip
    cost = pl.read_csv(folder / "label_cost.csv")
    assert cost["published"].to_list() == [100.0, 50.0, 2.0] and cost["value"].is_not_null().all()
    rows = pl.read_csv(folder / "rows.csv")
    assert rows.is_empty(), "its published tables are of none of the papers"
    (claims,) = pl.read_csv(folder / "claims.csv").to_dicts()
    usage = pl.read_csv(optional.results / "acu/tables/usage.csv").filter(stance="all stances")
    assert (claims["generator"], claims["published"]) == ("demo-lm", 0.25)
    assert claims["value"] == usage["mean_acu"].item()
    assert r"\begin{longtable}" in (optional.results / "report/tables/reproduction.tex").read_text(encoding="utf-8")
    pages = [(optional.results / f"report/{name}.html").read_text(encoding="utf-8") for name in ("index", "acu")]
    assert all(
        "Comparison with published tables" in page and "Mean ACU compared with the published means" in page
        for page in pages
    )
    assert "The paper’s findings, tested on this study" in pages[0] and "The paper’s findings" not in pages[1]


def test_every_file_is_declared_and_has_the_declared_columns(optional: Sandbox) -> None:
    assert files_with_declared_columns(optional) > 60


def test_nothing_is_scored_twice(optional: Sandbox, tmp_path: Path) -> None:
    study = optional.copied_to(tmp_path / "study")
    study.snakemake("acu", "--forcerun", "score_claims", "--until", "score_claims")
    receipt = json.loads((study.results / "acu/few/asked/score_claims/demo-lm.json").read_text())
    assert receipt["made"] == 0 and receipt["held"] == receipt["asked"] > 0


def test_the_plan_counts_the_jobs_that_score_texts_as_they_then_are(optional: Sandbox) -> None:
    """Asked for, requests and tokens, by the receipts; a likelihood that jobs share is made by the first of them."""
    results = optional.results
    receipts = {
        "score_context_use": "small/asked/score_context_use/demo-lm.json",
        "score_contexts": "small/asked/score_contexts/demo-lm.json",
        "judge_passages": "small/asked/judge_passages/demo-lm.json",
        "generate_single_answers": "small/annotations/generated/demo-lm/shard0.json",
        "score_claims": "acu/few/asked/score_claims/demo-lm.json",
    }
    plan = pl.read_csv(results / "plan.csv")
    made = []
    for job, name in receipts.items():
        [row] = plan.filter(job=job).to_dicts()
        told = json.loads((results / name).read_text())
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


def test_a_passage_that_is_a_k_1_context_is_generated_once_and_labelled_with_its_p(optional: Sandbox) -> None:
    folder = optional.results / "small"
    receipt = json.loads((folder / "annotations/generated/demo-lm/shard0.json").read_text())
    prompts = pl.read_parquet(sorted((folder / "annotations/prompts/tian2025").glob("*.parquet")))
    cells = pl.read_parquet(sorted(folder.glob("prompts/tian2025/*/*/k1.parquet")), columns=["prompt_id"])
    assert receipt["asked"] == prompts["prompt_id"].n_unique() * 2
    known = prompts.join(cells, on="prompt_id", how="semi")["prompt_id"].n_unique()
    assert receipt["held"] >= known * 2 > 0
    assert receipt["made"] + receipt["held"] == receipt["asked"]
    labels = pl.read_parquet(folder / "annotations/erag/minilm/demo-lm.parquet")
    for retriever in ("bm25", "rel"):
        own = pl.read_parquet(folder / f"annotations/prompts/tian2025/{retriever}.parquet").filter(rank=1)
        first = own.select("qid", pl.col("docnos").list.first().alias("docno"))
        p = pl.read_parquet(folder / "utility/minilm/demo-lm.parquet").filter(retriever=retriever, k=1).drop_nulls("p")
        both = p.filter(ordering="descending").join(first, on="qid").join(labels, on=["qid", "docno", "references"])
        assert both.height > 10 and set(both["references"]) == {"lenient", "strict", "lenient-unseen", "strict-unseen"}
        assert (both["p"] - both["label"]).abs().max() < 1e-9


def test_every_source_labels_the_first_passages_of_every_ranking(optional: Sandbox) -> None:
    folder = optional.results / "small/annotations"
    labels = pl.read_parquet(folder / "labels/minilm/demo-lm/labels.parquet")
    assert labels["source"].unique(maintain_order=True).to_list() == SOURCES
    assert labels.select("source", "references", "qid", "docno").is_unique().all()
    judged = labels.filter(source="llm")["label"]
    assert judged.is_between(0, 1).all() and judged.n_unique() > len(judged) // 10
    zeroshot = pl.read_parquet(optional.results / "small/scores/minilm/demo-lm/zeroshot.parquet")
    p0 = zeroshot.group_by("references", "qid").agg(pl.col("f1").clip(0).mean())
    null = labels.filter(pl.col("references").is_in(p0["references"].unique().implode()), source="p0")
    both = null.join(p0, on=["references", "qid"], how="left")
    assert both.height > 8 and (both["label"] - both["f1"]).abs().max() < 1e-6, "P_0, whatever the passage"
    values = pl.read_parquet(folder / "labels/minilm/demo-lm/values.parquet")
    assert values.filter(source="p0", measure="nDCG")["value"].is_null().all()
    assert set(values["k"]) == {2}
    assert values.filter(references="lenient", source="erag")["value"].null_count() == 0
    [receipt] = json.loads((optional.results / "small/asked/judge_passages/demo-lm.json").read_text())["parts"]
    assert receipt["words"] == ["yes", "no"] and receipt["made"] == receipt["asked"] > 0


def test_the_report_has_the_table_the_figure_and_the_cost(optional: Sandbox) -> None:
    report = optional.results / "report"
    table = pl.read_csv(report / "tables/annotations_minilm.csv")
    of_p = table.filter(quantity="p", coefficient="kendall", references="lenient", k=2)
    assert set(of_p["retriever"]) == {"bm25", "rel"} and set(of_p["source"]) == set(SOURCES)
    assert of_p.filter(pl.col("best")).height >= 2
    chosen = pl.read_csv(report / "tables/annotation_choices_minilm.csv").filter(quantity="p", measure="P", k=2)
    assert set(chosen["source"]) == set(SOURCES)
    null = chosen.filter(source="p0")
    assert (null["n"] == null["n_tied"]).all() and (null["mean_chosen"] - null["mean_any"]).abs().max() < 1e-12
    for suffix in ("svg", "png", "pdf"):
        assert (report / f"figures/annotations_minilm.{suffix}").stat().st_size > 1000
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "Whose relevance does the generator use?" in page
    cost = pl.read_csv(optional.results / "small/annotations/cost/demo-lm.csv")
    alone, whole = (cost.filter(what=what).row(0, named=True) for what in ("each passage alone", "end to end"))
    assert (
        alone["calls"]
        == pl.read_parquet(
            optional.results / "small/annotations/answers/demo-lm.parquet", columns=["prompt_id", "seed"]
        )
        .unique()
        .height
    )
    assert count(alone["prompt_tokens"]) in page and whole["k"] == 2 and whole["device_seconds"] > 0
    (by_k,) = pl.read_csv(optional.results / "small/annotations/cost_by_k/demo-lm.csv").to_dicts()
    assert (by_k["k"], by_k["answer_calls"]) == (2, whole["calls"]) and by_k["label_calls"] <= alone["calls"]
    assert by_k["attention_ratio"] > by_k["tokens_ratio"] > 0 and by_k["seconds_ratio"] > 0


def test_predictors_of_the_answers_are_of_the_study(optional: Sandbox) -> None:
    check_predictions(optional)


def test_a_second_run_does_nothing(optional: Sandbox) -> None:
    assert not set(optional.planned("erag", "acu", "report", "predict")) - {"erag", "acu", "predict"}


def test_checks_of_a_source_run_themselves_and_the_page_alone(optional: Sandbox) -> None:
    """No label is made again, and nothing that reads labels."""
    with changed(optional, lambda study: study.entry("annotations", "llm", bias_checks=5)):
        planned = optional.planned("erag")
    checks = {"build_check_prompts", "check_passages", "score_passage_checks", "analyse_passage_checks"}
    assert planned == dict.fromkeys([*checks, "gather_provenance", "write_tables", "write_page", "erag"], 1)


def test_without_sources_the_target_says_what_it_needs(copied: Callable[[], Sandbox]) -> None:
    done = copied().snakemake("--dry-run", "erag", check=False)
    assert done.returncode != 0
    assert "config key 'grid.annotations': found none; expected one of" in done.stdout + done.stderr


def test_gold_answers_go_through_a_study_to_its_report(optional: Sandbox) -> None:
    folder, report = optional.results / "small", optional.results / "report"
    table = pl.read_parquet(folder / "scores/token_f1/demo-lm/rel.parquet")
    assert set(table["references"]) == {"gold"} and set(table["qid"]) == set(GOLD)
    assert (report / "tables/table1_small_demo-lm_token_f1.csv").stat().st_size > 0
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "gold references" in page and "gold-unseen" not in page
    left_out = pl.read_json(folder / "collection/left_out.json")
    assert left_out.filter(what="queries without a gold answer")["count"].to_list() == [6]
