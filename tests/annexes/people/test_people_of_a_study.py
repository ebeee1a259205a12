"""A made study of TREC RAG's shape, 30 topics and 12 systems, is recovered from files of answers and scores."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.people.compare import answers_of, compare_people, measures_of, scores_of
from ragrelay.annexes.people.to_score import to_score
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.filed_scores import filed_scores
from ragrelay.scoring.score_files import ScoreCells, ScoreScale, placed_scores, read_score_rows
from scipy.stats import spearmanr

TOPICS, SYSTEMS, SCORED = 30, 12, 25
R = 0.8
"""The correlation of people's and the scorer's values, before they become scores."""
NAMES = [f"sys{number:02}" for number in range(1, SYSTEMS + 1)]
QIDS = [f"2024-{number}" for number in range(1, TOPICS + 1)]
CELLS = ScoreCells(["theirs"], NAMES, ["descending"], [1], [1])
ANSWERS = "{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet"
SCORES = "{dataset}/scores/{scorer}/{generator}/{retriever}.parquet"
PAIRS = [("sys02", "sys01")]


def made_scores(seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """People's grades 0 to 3 of all answers, and the scorer's scores (topics, systems and zero-shot)."""
    random = np.random.default_rng(seed)
    quality = np.linspace(-1.0, 1.0, SYSTEMS + 1)
    values = random.normal(size=(TOPICS, 1)) * 0.6 + random.normal(size=(TOPICS, SYSTEMS + 1)) * 0.8 + quality
    noise = random.normal(size=values.shape) * values.std()
    scorer = R * values + np.sqrt(1 - R**2) * noise
    return np.digitize(values, (-1.0, 0.0, 1.0)), 1 / (1 + np.exp(-scorer))


class Made:
    """The files of the study in ``folder``, and what it was made of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.people, self.scorer = made_scores()
        random, judged = np.random.default_rng(9), []
        with (folder / "people.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, ["topic_id", "run", "assessor", "value"])
            writer.writeheader()
            for place, name in enumerate([*NAMES, "zeroshot"]):
                self.write_answers(name, [f"{name} says {number}" for number in range(TOPICS)])
                scored = set(random.permutation(TOPICS)[:SCORED].tolist())
                for number, qid in enumerate(QIDS):
                    value = float(self.scorer[number, place])
                    judged.append({"run_id": name, "topic_id": qid, "measure": "quality", "value": value})
                    for assessor in ("ada", "bo") if number in scored else ():
                        grade = self.people[number, place]
                        writer.writerow({"topic_id": qid, "run": name, "assessor": assessor, "value": grade})
        (folder / "judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged), encoding="utf-8")

    def write_answers(self, name: str, texts: list[str]) -> None:
        zeroshot = name == "zeroshot"
        key = {"ordering": "none" if zeroshot else "descending", "k": 0 if zeroshot else 1, "seed": 1}
        path = self.folder / ANSWERS.format(dataset="rag24", generator="theirs", retriever=name, **key)
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"qid": QIDS, "seed": 1, "answer": texts}, schema_overrides={"seed": pl.Int64}).write_parquet(path)

    @property
    def answers(self) -> KeyedFiles:
        return KeyedFiles(ANSWERS, tuple(sorted((self.folder / "rag24/answers").rglob("*.parquet"))))

    def rows(self, file: str, scored: ScoreScale) -> pl.DataFrame:
        return placed_scores(read_score_rows(self.folder / file, scored), CELLS)

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """What the jobs of the scorers and of the comparison make, one after the other."""
        judge, _ = filed_scores("judge.jsonl", self.rows("judge.jsonl", ScoreScale()), self.answers, "theirs", "given",
                                [*NAMES, "zeroshot"])  # fmt: skip
        for name, table in judge.items():
            path = self.folder / SCORES.format(dataset="rag24", scorer="judge", generator="theirs", retriever=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            table.write_parquet(path)
        files = KeyedFiles(SCORES, tuple(sorted((self.folder / "rag24/scores").rglob("*.parquet"))))
        scores, people = scores_of(files, {"judge": "given"}), self.rows("people.csv", ScoreScale((0, 3)))
        assert scores["judge"].height == TOPICS * (SYSTEMS + 1)
        measures = {(name, 1): {qid: float((place + n) % 7) for n, qid in enumerate(QIDS)}
                    for place, name in enumerate(NAMES)}  # fmt: skip
        return compare_people(people, answers_of(self.answers), scores, "people", PAIRS, measures, None)


@pytest.fixture
def study(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_gains_by_people_are_recovered_with_narrower_intervals(study: Made) -> None:
    truth: Any = study.people / 3
    table = study.tables()["people_estimates"]
    gains = table.filter(quantity="gain").sort("retriever")
    assert gains["retriever"].to_list() == NAMES and set(gains["n_scores"]) == {2 * SCORED}
    true = truth.mean(axis=0)[:SYSTEMS] - truth.mean(axis=0)[SYSTEMS]
    inside = (gains["low"].to_numpy() <= true) & (true <= gains["high"].to_numpy())
    assert inside.all()  # of the 30 topics; the intervals are of topics like these
    assert (gains["width"] <= 1).all() and 0.5 < gains["r"].mean() < 0.95  # type: ignore[operator]
    [difference] = table.filter(quantity="difference").to_dicts()
    assert (difference["retriever"], difference["against_retriever"]) == ("sys02", "sys01")
    [slope] = table.filter(quantity="slope").to_dicts()
    assert slope["reason"] == "fewer than 80 human scores"


def test_the_agreement_that_was_drawn_is_found(study: Made) -> None:
    found = study.tables()
    [rho] = found["people_agreement"].filter(quantity="rho").to_dicts()
    true = spearmanr(study.people.ravel(), study.scorer.ravel()).statistic
    assert rho["n"] == SCORED * (SYSTEMS + 1) and rho["low"] < true < rho["high"]
    [tau] = found["people_agreement"].filter(quantity="tau").to_dicts()
    assert tau["n"] == SYSTEMS + 1 and tau["value"] > 0.6 and tau["reason"].startswith("fewer than 16 pairs")
    # Two assessors who give the same scores.
    assert found["assessors"].filter(quantity="alpha")["value"].to_list() == [1.0]


def test_answers_to_score_come_back_as_scores(study: Made) -> None:
    queries = study.folder / "rag24/collection/queries.parquet"
    queries.parent.mkdir()
    pl.DataFrame({"qid": QIDS, "query": ["=1+1 is what?"] * TOPICS}).write_parquet(queries)
    files = {"queries": KeyedFiles("{dataset}/collection/queries.parquet", (queries,)), "answers": study.answers}
    target = study.folder / "to_score/rag24.csv"
    cell = {"generator": "theirs", "ordering": "descending", "k": 1, "seed": 1}
    drawn_from = [{**cell, "retriever": name} for name in ("sys01", "sys02")]
    drawn_from.append({**cell, "retriever": "zeroshot", "ordering": "none", "k": 0})
    given = ({"rag24": str(study.folder / "people.csv")}, {"rag24": str(target)}, {"scale": [0, 3]}, CELLS._asdict())
    lines = to_score(files, *given, drawn_from, 60, 1)
    assert lines[0].startswith("15 answers of rag24 to score") and "the interval of a gain" in lines[1]
    few = {"rag24": str(study.folder / "to_score/few.csv")}
    lines = to_score(files, {"rag24": None}, few, *given[2:], drawn_from, 6, 1)
    assert lines[1].startswith("rag24: after these, one cell will have only 2 scored answers, ")
    table = pl.read_csv(target)
    new = table.filter(pl.col("value").is_null())
    assert new.height == 15  # all that are left of the three cells
    assert set(new["retriever"]) == {"sys01", "sys02", "zeroshot"} and set(table["query"]) == {"'=1+1 is what?"}
    assert new.filter(retriever="sys01")["probability"].to_list() == [1.0] * 5
    table.with_columns(pl.col("value").fill_null(1.0)).write_csv(study.folder / "people.csv")
    gains = study.tables()["people_estimates"].filter(quantity="gain", retriever="sys01")
    assert gains["n_scores"].to_list() == [2 * TOPICS]
    # Another text: the score of the one that was there is no longer one of this answer.
    study.write_answers("sys01", ["another", *(f"sys01 says {number}" for number in range(1, TOPICS))])
    gains = study.tables()["people_estimates"].filter(quantity="gain", retriever="sys01")
    assert gains["n_scores"].to_list() == [2 * TOPICS - 1]


def test_measures_are_those_of_a_retriever_and_k(tmp_path: Path) -> None:
    path = tmp_path / "rag24/retrieval/bm25.parquet"
    path.parent.mkdir(parents=True)
    rows = [("q1", "nDCG", 1, 0.5), ("q1", "P", 1, 1.0), ("q2", "nDCG", 1, None), ("q1", "nDCG", 3, 0.7)]
    pl.DataFrame(rows, schema=["qid", "measure", "k", "value"], orient="row").write_parquet(path)
    files = KeyedFiles("{dataset}/retrieval/{retriever}.parquet", (path,))
    assert measures_of(files, "nDCG") == {("bm25", 1): {"q1": 0.5}, ("bm25", 3): {"q1": 0.7}}
