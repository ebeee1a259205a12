"""Labels of the study with everything optional, and of processed contexts."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.report.display.numbers import count

from tests.annexes.labels.cases import SOURCES
from tests.support.changes import changed
from tests.support.processed_study import table
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.gate]


def test_a_passage_that_is_a_k_1_context_is_generated_once_and_labelled_with_its_p(optional: Sandbox) -> None:
    folder = optional.results / "small"
    receipt = json.loads((folder / "annotations/generated/demo-lm/shard0.json").read_text())
    prompts = pl.read_parquet(sorted((folder / "annotations/prompts/tian2025").glob("*.parquet")))
    cells = pl.read_parquet(sorted(folder.glob("prompts/tian2025/*/*/k1.parquet")), columns=["prompt_id"])
    assert receipt["asked"] == prompts["prompt_id"].n_unique() * 2
    known = prompts.join(cells, on="prompt_id", how="semi")["prompt_id"].n_unique()
    assert receipt["cached"] >= known * 2 > 0
    assert receipt["made"] + receipt["cached"] == receipt["asked"]
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
    assert "Whose labels choose better contexts?" in page
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
    assert by_k["attention_ratio"] > by_k["answer_tokens"] / by_k["label_tokens"] > 0


def test_checks_of_a_source_run_themselves_and_the_page_alone(optional: Sandbox, tmp_path: Path) -> None:
    """No label is made again, and nothing that reads labels. Other workers read ``optional`` meanwhile."""
    study = optional.copied_to(tmp_path / "study")
    with changed(study, lambda study: study.entry("annotations", "llm", bias_checks=5)):
        planned = study.planned("erag")
    checks = {"build_check_prompts", "check_passages", "score_passage_checks", "analyse_passage_checks"}
    assert planned == dict.fromkeys([*checks, "gather_provenance", "write_tables", "write_page", "erag"], 1)


def test_without_sources_the_target_says_what_it_needs(copied: Callable[[], Sandbox]) -> None:
    done = copied().snakemake("--dry-run", "erag", check=False)
    assert done.returncode != 0
    assert "config key 'grid.annotations': found no value; expected one of" in done.stdout + done.stderr


@pytest.mark.full
def test_labels_are_of_whole_passages(processed: Sandbox) -> None:
    """erag asks nothing that it does not ask about the ranking itself, and its measures are the same."""
    alone = {
        name: table(processed, f"annotations/prompts/tian2025/{name}.parquet") for name in ("bm25", "halved", "short")
    }
    assert alone["halved"].equals(alone["bm25"]) and alone["short"].equals(alone["bm25"])
    measures = table(processed, "annotations/labels/minilm/demo-lm/values.parquet")
    values = [measures.filter(retriever=name).drop("retriever") for name in ("bm25", "halved")]
    assert values[0].height and values[0].equals(values[1])
