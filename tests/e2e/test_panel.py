"""A panel of judges from their scores to the page, without an engine: answers and judges' scores come from files."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.verdicts import SAY_BETTER, UNDECIDED

from tests.support.sandbox import Sandbox, jobs_of

pytestmark = pytest.mark.study

QUERIES = 24
ANALYSIS = "small/analysis/{}/brought"
CELLS = {"zeroshot": ("none", 0), "one": ("descending", 2), "other": ("descending", 2)}
FAIR, BIASED = ("fair", "harsh"), "biased"


def write_answers(study: Sandbox) -> None:
    judged: dict[str, list[str]] = {}
    for line in (study.collection / "qrels.txt").read_text(encoding="utf-8").splitlines():
        qid, _, docno, _ = line.split()
        judged.setdefault(qid, []).append(docno)
    rows = [
        {"qid": qid, "retriever": name, "k": k, "seed": 1, "answer": f"{name} says this of {qid}."}
        | ({"docnos": docnos[place : place + 2]} if k else {})
        for qid, docnos in judged.items()
        for place, (name, (_, k)) in enumerate(CELLS.items())
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (study.folder / "answers.jsonl").write_text(text, encoding="utf-8")


def write_scores(study: Sandbox, judge: str, seed: int, favour: float = 0.0, lower: float = 0.0) -> None:
    """Scores by a judge: those of both retrievers have the same mean but for what it favours the other one by."""
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    noise = np.random.default_rng(seed).normal(scale=0.05, size=(len(CELLS), len(qids)))
    noise -= noise.mean(axis=1, keepdims=True)
    lines = ["qid,retriever,ordering,k,seed,value"]
    for row, (name, (ordering, k)) in enumerate(CELLS.items()):
        value = 0.4 - lower + favour * (name == "other")
        lines += [f"{qid},{name},{ordering},{k},1,{value + noise[row, n]:.4f}" for n, qid in enumerate(qids)]
    (study.folder / f"{judge}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A study with a panel of two fair judges and one that favours a retriever by .4, run to its page."""
    study = Sandbox(tmp_path_factory.mktemp("panel") / "study", queries=QUERIES)
    write_answers(study)
    for seed, judge in enumerate((*FAIR, BIASED)):
        write_scores(study, judge, seed, 0.4 * (judge == BIASED), 0.2 * (judge == "harsh"))
    brought = {"engine": "file", "path": "answers.jsonl"}
    judges = {name: {"kind": "file", "path": f"{name}.csv"} for name in (*FAIR, BIASED)}
    study.config |= {
        "grid": {"datasets": ["small"], "retrievers": ["one", "other"], "orderings": ["descending"], "k": [2],
                 "seeds": [1], "generators": ["brought"], "scorers": ["panel"]},
        "generators": {"brought": brought},
        "retrievers": {name: {"kind": "answers", "path": "answers.jsonl"} for name in ("one", "other")},
        "scorers": {**judges, "panel": {"kind": "panel", "of": [*judges], "references": "given"}},
        "analysis": {"resamples": 500, "primary": {"retriever": "other", "reference": "one"}},
    }  # fmt: skip
    study.write_config()
    study.snakemake()
    return study


def verdict(study: Sandbox, scorer: str) -> str:
    table = pl.read_csv(study.results / ANALYSIS.format(scorer) / "systems.csv")
    return str(table.filter(role="primary")["verdict"].item())


def test_one_judge_gives_a_panel_no_verdict(study: Sandbox) -> None:
    """The mean over all is .13 above zero, and so is it without either fair judge; without the biased one it is 0."""
    assert [verdict(study, f"panel@without-{judge}") in SAY_BETTER for judge in (*FAIR, BIASED)] == [True, True, False]
    assert verdict(study, "panel") == UNDECIDED
    systems = pl.read_csv(study.results / ANALYSIS.format("panel") / "systems.csv").row(0, named=True)
    assert systems["mean_difference"] == pytest.approx(0.4 / 3, abs=1e-4) and systems["low"] > 0
    assert systems["remark"] == "it depends on a judge: the result is “better” with all judges, but not without biased"
    assert not (study.results / ANALYSIS.format(BIASED)).exists(), "the judges of a panel have no section"
    rows = pl.read_csv(study.results / ANALYSIS.format("panel") / "panel.csv").filter(question="systems")
    alone = dict(rows.drop_nulls("without").select("without", "alone").iter_rows())
    assert alone == pytest.approx({"fair": 0.0, "harsh": 0.0, BIASED: 0.4}, abs=1e-4)
    facts = json.loads((study.results / "report/facts.json").read_text(encoding="utf-8"))
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "We do not know whether other or one gives better answers" in json.dumps(facts)
    assert "It depends on a judge: the result is “better” with all judges, but not without biased." in page
    assert "Leaving out one judge gives a difference in P of 0.000 to 0.200" in page
    assert "It does: the result is “better” with all judges, but not without biased" in page


def test_a_judge_more_reads_its_scores_alone_and_a_study_without_panels_has_none(
    study: Sandbox, tmp_path: Path
) -> None:
    own = study.copied_to(tmp_path / "study")
    kept = {path: content for path, content in own.tables().items() if "/scores/" in path and "panel" not in path}
    assert len(kept) == 9 and own.planned() == {}
    write_scores(own, "fourth", 9, favour=0.4)
    own.config["scorers"]["fourth"] = {"kind": "file", "path": "fourth.csv"}
    own.config["scorers"]["panel"]["of"].append("fourth")
    own.write_config()
    done = jobs_of(own.snakemake())
    assert done["read_scores"] == 1 and done["score_panel"] == 5 * 3 and "read_answers" not in done
    after = own.tables()
    assert {path: after[path] for path in kept} == kept
    assert verdict(own, "panel") in SAY_BETTER, "two of four judges find it, so none decides alone"

    own.config["grid"]["scorers"] = ["fair"]
    own.write_config()
    planned = own.planned()
    assert not {"score_panel", "compare_judges", "read_scores"} & set(planned) and planned["analyse_transmission"] == 1
