"""Processed contexts from the overlay to the page, with every target that reads a context, by the demo's model.

Each works on the texts shown; labels, measures and predictors of the ranking are the other retriever's.
"""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.full

HALVED = """
import re

def every_second(query, passages, first=0):
    sentences = ((docno, re.split(r"(?<=[.!?])\\s+", text)) for docno, text in passages)
    return [(docno, " ".join(some[first::2])) for docno, some in sentences]

def backwards(query, passages):
    return passages[::-1]

def fails(query, passages):
    return passages[0].title
"""
RETRIEVERS = {
    "halved": {"kind": "processed", "of": "bm25", "processor": {"kind": "python", "function": "halves:every_second"}},
    "turned": {"kind": "processed", "of": "bm25", "processor": {"kind": "python", "function": "halves:backwards"}},
    "short": {"kind": "processed", "of": "bm25", "processor": {"kind": "nearest_sentences", "tokens": 60}},
}
OPTIONAL = {"annotation_depth": 2}


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study with two processed retrievers, run to its page and to the targets that read contexts."""
    study = finished.copied_to(tmp_path_factory.mktemp("processed") / "study")
    (study.folder / "halves.py").write_text(HALVED, encoding="utf-8")
    chosen = {"retrievers": ["bm25", "rel", *RETRIEVERS], "orderings": ["descending"], "annotations": ["qrels", "erag"]}
    study.config |= {**OPTIONAL, "retrievers": RETRIEVERS, "grid": {**study.config["grid"], **chosen}}
    study.write_config()
    study.snakemake("erag", "predict", "export", "report")
    return study


def table(study: Sandbox, path: str) -> pl.DataFrame:
    return pl.read_parquet(study.results / "small" / path)


def every_second(text: str) -> str:
    return " ".join(re.split(r"(?<=[.!?])\s+", text)[::2])


def test_prompts_show_the_processed_texts_and_measures_are_the_ranking_s(study: Sandbox) -> None:
    texts = dict(table(study, "contexts/bm25.parquet").select("docno", "text").iter_rows())
    for docnos, prompt in (
        table(study, "prompts/tian2025/halved/descending/k2.parquet").select("docnos", "prompt").rows()
    ):
        assert [every_second(texts[docno]) in prompt for docno in docnos] == [True, True]
    assert table(study, "retrieval/halved.parquet").equals(table(study, "retrieval/bm25.parquet"))
    receipt = json.loads((study.results / "small/contexts/short.processed.json").read_text())
    assert receipt["made"] == receipt["asked"] == 16 and receipt["same_again"] is True
    passages = table(study, "contexts/halved.parquet").drop("shown")
    assert passages.equals(table(study, "contexts/bm25.parquet"))


def test_the_returned_order_is_shown_and_measured_nowhere(study: Sandbox) -> None:
    for k in (1, 2):
        path = f"descending/k{k}.parquet"
        before, after = (
            table(study, f"prompts/tian2025/{name}/{path}")["docnos"].to_list() for name in ("bm25", "turned")
        )
        assert after == [docnos[::-1] for docnos in before] and (k == 1 or after != before)
    assert table(study, "retrieval/turned.parquet").equals(table(study, "retrieval/bm25.parquet"))
    contexts = table(study, "contexts/turned.parquet").drop("shown", "places")
    assert contexts.sort("qid", "rank").equals(table(study, "contexts/bm25.parquet").sort("qid", "rank"))
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "turned, k = 2: of 16 passages of bm25, 0 are shown with another text" in page
    assert "8 show their passages in another order" in page
    exported = study.results / "export/small/demo-lm/pyterrier/turned.descending.k2.seed1.parquet"
    whole = pl.read_parquet(exported.with_name("bm25.descending.k2.seed1.parquet"))
    turned = pl.read_parquet(exported)
    assert turned["qcontext"].to_list() == ["\n".join(text.split("\n")[::-1]) for text in whole["qcontext"]]


def test_a_function_that_raises_is_to_be_corrected(study: Sandbox, tmp_path: Path) -> None:
    failing = study.copied_to(tmp_path / "study")
    processor = {"kind": "python", "function": "halves:fails"}
    failing.config["retrievers"] = {**RETRIEVERS, "turned": {"kind": "processed", "of": "bm25", "processor": processor}}
    failing.write_config()
    run = failing.snakemake(check=False)
    line = HALVED.splitlines().index("    return passages[0].title") + 1
    end = (run.stdout + run.stderr).rpartition("To be corrected:")[2]
    assert run.returncode == 1 and f"halves.py, line {line}, for query " in end
    assert "processor halves:fails: found AttributeError: 'Passage' object has no attribute 'title' in " in end


def test_the_page_says_what_the_processors_did(study: Sandbox) -> None:
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "What did the processor do?" in page and "halved, k = 2: of 16 passages of bm25" in page
    rows = pl.read_csv(study.results / "small/described/processing/demo-lm.csv").to_dicts()
    assert [(row["retriever"], row["of"], row["k"]) for row in rows] == [
        (name, "bm25", k) for name in RETRIEVERS for k in (1, 2)
    ]
    assert all(row["tokens_after"] < row["tokens_before"] for row in rows if row["n_changed"])
    explored = next((study.results / "report/explorer/small_demo-lm_minilm").glob("*.js")).read_text(encoding="utf-8")
    value = json.loads(explored[explored.index("(") + 1 : explored.rindex(")")])
    cells = {(cell["retriever"], cell["k"]): cell for cell in value["cells"]}
    cell, whole = cells["halved", 2], cells["bm25", 2]
    assert "shown" not in whole and sorted([*cell["context"], *cell["emptied"]]) == sorted(whole["context"])
    for at, shown in zip(cell["context"], cell["shown"], strict=True):
        assert value["shown"][shown] == every_second(value["passages"][at][2])


def test_labels_are_of_whole_passages(study: Sandbox) -> None:
    """erag asks nothing that it does not ask about the ranking itself, and its measures are the same."""
    alone = {name: table(study, f"annotations/prompts/tian2025/{name}.parquet") for name in ("bm25", "halved", "short")}
    assert alone["halved"].equals(alone["bm25"]) and alone["short"].equals(alone["bm25"])
    measures = table(study, "annotations/labels/minilm/demo-lm/values.parquet")
    values = [measures.filter(retriever=name).drop("retriever") for name in ("bm25", "halved")]
    assert values[0].height and values[0].equals(values[1])


def test_predictors_of_a_context_read_the_texts_shown(study: Sandbox) -> None:
    found = {
        name: table(study, f"predictions/demo-lm/{name}.parquet").filter(k=2) for name in ("bm25", "halved")
    }  # fmt: skip
    of = {
        (name, predictor): dict(frame.filter(predictor=predictor).select("qid", "value").iter_rows())
        for name, frame in found.items()
        for predictor in ("nqc", "context_length", "wig")
    }
    assert of["halved", "nqc"] == of["bm25", "nqc"] and of["halved", "wig"] == of["bm25", "wig"], "of the ranking"
    texts = table(study, "contexts/halved.parquet").filter(pl.col("rank") <= 2)
    for qid, words in of["halved", "context_length"].items():
        shown = " ".join(every_second(text) for text in texts.filter(qid=qid)["text"])
        assert words == len(re.findall(r"\w+", shown))


def test_exports_have_the_texts_shown(study: Sandbox) -> None:
    path = study.results / "export/small/demo-lm/pyterrier"
    whole, halved = (pl.read_parquet(path / f"{name}.descending.k2.seed1.parquet") for name in ("bm25", "halved"))
    assert halved["docnos"].to_list() == whole["docnos"].to_list()
    for context, before in zip(halved["qcontext"], whole["qcontext"], strict=True):
        assert context.split("\n") == [every_second(text) for text in before.split("\n")]


def test_the_plan_says_what_processors_took(study: Sandbox) -> None:
    plan = study.snakemake("plan").stdout
    assert "small, short: of 16 calls of its processor, 0 were cached and 16 were made before this plan" in plan


def test_a_changed_key_makes_its_own_cells_again_and_nothing_else(study: Sandbox, tmp_path: Path) -> None:
    changed = study.copied_to(tmp_path / "study")
    processor = {**RETRIEVERS["halved"]["processor"], "options": {"first": 1}}  # type: ignore[dict-item]
    changed.config["retrievers"] = {**RETRIEVERS, "halved": {**RETRIEVERS["halved"], "processor": processor}}
    changed.write_config()
    planned = changed.planned()
    alone = ("build_run", "process_contexts", "measure_retrieval", "build_prompts", "view_answers", "score_answers")
    assert {rule: planned.get(rule) for rule in alone} == dict.fromkeys(alone, 1)
    assert not planned.keys() & {"build_contexts", "index_corpus", "build_zeroshot_prompts", "view_zeroshot_answers"}
    shutil.copytree(changed.results, changed.folder / "results/before", symlinks=True)
    changed.snakemake()
    prompts = [table(study, f"prompts/tian2025/halved/descending/k{k}.parquet") for k in (1, 2)]
    again = [table(changed, f"prompts/tian2025/halved/descending/k{k}.parquet") for k in (1, 2)]
    new = pl.concat(again)["prompt_id"].unique()
    assert 0 < changed.answers_made() <= 2 * len(new), "two seeds"
    assert pl.concat(prompts)["prompt_id"].is_in(new.implode()).mean() < 0.5
    changed.config["compare"] = {"before": "before", "after": "small"}
    changed.write_config()
    changed.snakemake("compare")
    tables = (changed.folder / "results/small/compare").glob("**/*.csv")
    assert any("halved" in path.read_text(encoding="utf-8") for path in tables)
