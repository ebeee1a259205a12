"""A made study of TREC RAG's shape, 30 topics and 12 systems, whose answers and scores are from files; no engine."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study
TOPICS, SYSTEMS, SCORED = 30, 12, 25
R = 0.8
"""The correlation of people's and the scorer's values, before they become scores."""
NAMES = [f"sys{number:02}" for number in range(1, SYSTEMS + 1)]
ESTIMATES = "results/small/small/people/people_estimates.csv"


def made_scores(seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """People's grades 0 to 3 of all answers, and the scorer's scores (topics, systems and zero-shot)."""
    random = np.random.default_rng(seed)
    quality = np.linspace(-1.0, 1.0, SYSTEMS + 1)
    values = random.normal(size=(TOPICS, 1)) * 0.6 + random.normal(size=(TOPICS, SYSTEMS + 1)) * 0.8 + quality
    noise = random.normal(size=values.shape) * values.std()
    scorer = R * values + np.sqrt(1 - R**2) * noise
    return np.digitize(values, (-1.0, 0.0, 1.0)), 1 / (1 + np.exp(-scorer))


def write_study(study: Sandbox) -> tuple[np.ndarray, np.ndarray]:
    """Runs, answers, AutoJudge's records of all answers, and a CSV of people's grades of some of each system."""
    people, scorer = made_scores()
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").read_text().splitlines()][:TOPICS]
    docnos = [json.loads(line)["doc_id"] for line in (study.collection / "passages.jsonl").read_text().splitlines()]
    columns = [*NAMES, "zeroshot"]
    (study.folder / "made").mkdir()
    random = np.random.default_rng(9)
    judged, answers = [], []
    with (study.folder / "made/people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["topic_id", "run", "assessor", "value"])
        writer.writeheader()
        for place, name in enumerate(columns):
            run = [f"{qid} Q0 {docnos[(place + n) % len(docnos)]} 1 1.0 {name}\n" for n, qid in enumerate(qids)]
            (study.folder / f"made/{name}.run").write_text("".join(run))
            scored = set(random.permutation(TOPICS)[:SCORED].tolist())
            for number, qid in enumerate(qids):
                k = 0 if name == "zeroshot" else 1
                answers.append({"qid": qid, "retriever": name, "k": k, "answer": f"{name} says {number}"})
                value = float(scorer[number, place])
                judged.append({"run_id": name, "topic_id": qid, "measure": "quality", "value": value})
                for assessor in ("ada", "bo") if number in scored else ():
                    writer.writerow({"topic_id": qid, "run": name, "assessor": assessor,
                                     "value": people[number, place]})  # fmt: skip
    for name, rows in (("answers", answers), ("judge", judged)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (study.folder / f"made/{name}.jsonl").write_text(lines, encoding="utf-8")
    return people, scorer


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    made = Sandbox(tmp_path_factory.mktemp("people") / "study", queries=TOPICS)
    made.people, made.scorer = write_study(made)  # type: ignore[attr-defined]
    made.config["grid"] = {
        **made.config["grid"], "retrievers": NAMES, "orderings": ["descending"], "k": [1], "seeds": [1],
        "scorers": ["judge", "people"], "generators": ["theirs"],
    }  # fmt: skip
    made.config["generators"] = {"theirs": {"engine": "file", "path": "made/answers.jsonl"}}
    made.config["retrievers"] = {name: {"kind": "run", "path": f"made/{name}.run"} for name in NAMES}
    made.config["scorers"] = {
        "judge": {"kind": "file", "path": "made/judge.jsonl"},
        "people": {"kind": "file", "path": "made/people.csv", "scale": [0, 3]},
    }
    made.config["people"] = {"scorer": "people"}
    made.write_config()
    made.snakemake(ESTIMATES)
    return made


def tables(study: Sandbox) -> dict[str, pl.DataFrame]:
    folder = Path(study.folder / ESTIMATES).parent
    return {path.stem: pl.read_csv(path, infer_schema_length=None) for path in folder.glob("*.csv")}


def test_gains_by_people_are_recovered_with_narrower_intervals(study: Sandbox) -> None:
    truth: Any = study.people / 3  # type: ignore[attr-defined]
    gains = tables(study)["people_estimates"].filter(quantity="gain").sort("retriever")
    assert gains["retriever"].to_list() == NAMES and set(gains["n_scores"]) == {2 * SCORED}
    true = truth.mean(axis=0)[:SYSTEMS] - truth.mean(axis=0)[SYSTEMS]
    inside = (gains["low"].to_numpy() <= true) & (true <= gains["high"].to_numpy())
    assert inside.all()  # of the 30 topics; the intervals are of topics like these
    assert (gains["width"] <= 1).all() and 0.6 < gains["r"].mean() < 0.9  # type: ignore[operator]


def test_the_agreement_that_was_drawn_is_found(study: Sandbox) -> None:
    found = tables(study)
    [r] = found["people_agreement"].filter(quantity="r").to_dicts()
    people, scorer = (getattr(study, name).ravel() for name in ("people", "scorer"))
    assert r["n"] == SCORED * (SYSTEMS + 1) and r["low"] < np.corrcoef(people, scorer)[0, 1] < r["high"]
    [tau] = found["people_agreement"].filter(quantity="tau").to_dicts()
    assert tau["n"] == SYSTEMS + 1 and tau["value"] > 0.6 and tau["reason"] == "fewer than 16 systems"
    # Two assessors who give the same scores.
    assert found["assessors"].filter(quantity="alpha")["value"].to_list() == [1.0]


def test_the_study_is_scored_by_people_as_by_any_scorer(study: Sandbox) -> None:
    study.snakemake("results/small/small/utility/people/theirs.parquet")
    utility = pl.read_parquet(study.results / "small/utility/people/theirs.parquet").filter(retriever=NAMES[0])
    truth: Any = study.people[:, 0] / 3  # type: ignore[attr-defined]
    scored = utility.drop_nulls("p").sort("qid")
    assert scored.height == SCORED and set(scored["references"]) == {"given"}
    assert np.isin(scored["p"].to_numpy().round(6), truth.round(6)).all()
    # A query that nobody scored with this retriever has no gain of 0.
    assert utility.height > SCORED and not utility["without_results"].fill_null(False).any()


def test_answers_to_score_come_back_as_scores(study: Sandbox) -> None:
    done = study.snakemake("to_score")
    table = pl.read_csv(study.results / "to_score/small.csv")
    assert "60 answers of small to score" not in done.stdout + done.stderr or table["value"].null_count() == 60
    new = table.filter(pl.col("value").is_null())
    assert new.height == 15  # all that are left of the three cells: two retrievers, and without context
    assert set(new["retriever"]) == {"sys01", "sys02", "zeroshot"}
    assert new.filter(retriever="sys01")["probability"].to_list() == [1.0] * 5
    filled = table.with_columns(pl.col("value").fill_null(1.0))
    filled.write_csv(study.folder / "made/people.csv")
    study.snakemake(ESTIMATES)
    gains = tables(study)["people_estimates"].filter(quantity="gain", retriever="sys01")
    assert gains["n_scores"].to_list() == [2 * TOPICS]
    left_out = json.loads((study.results / "small/scores/people/theirs/zeroshot.left_out.json").read_text())
    assert left_out[-1]["count"] == (TOPICS - SCORED) * (SYSTEMS - 2)
    # Another text: its score is no longer one of this answer.
    lines = (study.folder / "made/answers.jsonl").read_text().splitlines()
    changed = [json.dumps(json.loads(lines[0]) | {"answer": "another"}), *lines[1:]]
    (study.folder / "made/answers.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")
    study.snakemake(ESTIMATES)
    gains = tables(study)["people_estimates"].filter(quantity="gain", retriever="sys01")
    assert gains["n_scores"].to_list() == [2 * TOPICS - 1]
