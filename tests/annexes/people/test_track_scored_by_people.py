"""From answers that others made to the three answers by people: 30 topics and 12 systems, as at TREC RAG, no model.

Answers are TREC RAG's records, a judge's scores AutoJudge's; people score what `to_score` draws.
"""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.collection.answer_formats.trec_rag import written_record
from ragrelay.scoring.score_files import run_name
from scipy.stats import spearmanr

from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.full]

TOPICS, SYSTEMS, LEVELS = 30, 12, 3
NAMES = [f"sys{number:02}" for number in range(1, SYSTEMS + 1)]
PLACES = {"zeroshot": SYSTEMS, **{name: place for place, name in enumerate(NAMES)}}


class Track:
    """The study, with people's grades from 0 to 3 and a judge's scores (topics, systems and zero-shot)."""

    def __init__(self, folder: Path) -> None:
        self.study = Sandbox(folder, queries=TOPICS)
        lines = (self.study.collection / "queries.tsv").read_text(encoding="utf-8").splitlines()
        self.queries = dict(line.split("\t") for line in lines)
        self.qids = list(self.queries)
        random = np.random.default_rng(5)
        quality = np.append(np.linspace(-0.8, 0.8, SYSTEMS), -1.2)
        values = 0.6 * random.normal(size=(TOPICS, 1)) + 0.8 * random.normal(size=(TOPICS, SYSTEMS + 1)) + quality
        judge = 0.8 * values + 0.6 * values.std() * random.normal(size=values.shape)
        self.people, self.judge = np.digitize(values, (-1.0, 0.0, 1.0)), 1 / (1 + np.exp(-judge))
        self._write_answers()
        self._write_judge()
        grid = {"datasets": ["small"], "retrievers": NAMES, "orderings": ["descending"], "k": [2], "seeds": [1],
                "generators": ["theirs"], "scorers": ["judge"]}  # fmt: skip
        theirs = {"engine": "file", "path": "runs/{retriever}.jsonl", "k": 2}
        self.study.config |= {
            "grid": grid,
            "generators": {"theirs": theirs},
            "retrievers": {name: {"kind": "answers", "path": f"runs/{name}.jsonl"} for name in NAMES},
            "scorers": {"judge": {"kind": "file", "path": "judge.jsonl", "measure": "quality"}},
        }
        self.study.write_config()

    def _write_answers(self) -> None:
        judged: dict[str, list[str]] = {qid: [] for qid in self.qids}
        for line in (self.study.collection / "qrels.txt").read_text(encoding="utf-8").splitlines():
            qid, _, docno, _ = line.split()
            judged[qid].append(docno)
        (self.study.folder / "runs").mkdir()
        for name, place in PLACES.items():
            records = []
            for qid, query in self.queries.items():
                shift = place % (len(judged[qid]) - 1)
                docnos = [] if name == "zeroshot" else judged[qid][shift : shift + 2]
                cited = [{"text": f"{name} says this.", "citations": docnos}] if docnos else None
                about = {"team_id": "they", "run_desc": "made"}
                records.append(written_record(qid, query, f"{name} says this.", docnos, name, about, cited))
            text = "".join(json.dumps(record) + "\n" for record in records)
            (self.study.folder / f"runs/{name}.jsonl").write_text(text, encoding="utf-8")

    def _write_judge(self) -> None:
        rows = [
            {"run_id": name, "topic_id": qid, "measure": "quality", "value": float(self.judge[topic, place])}
            for name, place in PLACES.items()
            for topic, qid in enumerate(self.qids)
        ]
        means = [{"run_id": name, "topic_id": "all", "measure": "quality", "value": 0.5} for name in NAMES]
        text = "".join(json.dumps(row) + "\n" for row in [*rows, *means])
        (self.study.folder / "judge.jsonl").write_text(text, encoding="utf-8")

    def score(self) -> int:
        """Fill in what `to_score` drew, as people, and name the file in the configuration."""
        self.study.snakemake("to_score")
        with (self.study.results / "to_score/small.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["value"] = str(self.people[self.qids.index(row["qid"]), PLACES[row["retriever"]]])
        with (self.study.folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        config = self.study.config
        config["scorers"]["people"] = {"kind": "file", "path": "people.csv", "scale": [0, LEVELS]}
        config["grid"]["scorers"] = ["judge", "people"]
        config["people"] = {"scorer": "people"}
        self.study.write_config()
        return len(rows)

    def true(self, retriever: str, against: str) -> float:
        """The difference of people's mean scores of all answers."""
        means = self.people.mean(axis=0) / LEVELS
        return float(means[PLACES[retriever]] - means[PLACES[against]])


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Track:
    """The study, from the answers to the page and its export."""
    track = Track(tmp_path_factory.mktemp("people") / "study")
    assert track.score() == 60
    track.study.snakemake("report", "export")
    return track


def table(track: Track, name: str) -> pl.DataFrame:
    return pl.read_csv(track.study.results / f"small/people/{name}.csv", infer_schema_length=None)


def test_the_answers_by_people_have_intervals_that_hold_what_was_drawn(track: Track) -> None:
    known = table(track, "people_estimates").drop_nulls("low").to_dicts()
    assert {row["quantity"] for row in known} == {"gain", "difference"} and len(known) == 3
    for row in known:
        assert row["n_scores"] == 40 and row["n_queries"] == 20 and row["width"] <= 1
        assert row["low"] <= track.true(row["retriever"], row["against_retriever"]) <= row["high"]
    # By people's scores alone too: the three answers are over the 20 queries whose answers they scored.
    tests = track.study.results / "small/analysis/people/theirs"
    gains = pl.read_csv(tests / "gain.csv", infer_schema_length=None).drop_nulls("verdict")
    assert gains.height == 2 and set(gains["n"]) == {20}


def test_the_agreement_that_was_drawn_is_found(track: Track) -> None:
    [rho] = table(track, "people_agreement").filter(quantity="rho").to_dicts()
    true = spearmanr(track.people.ravel(), track.judge.ravel()).statistic
    assert rho["n"] == 60 and rho["low"] < true < rho["high"]


def test_the_page_says_so_and_has_a_signature(track: Track) -> None:
    page = (track.study.results / "report/index.html").read_text(encoding="utf-8")
    assert "Would a person say so?" in page and "judge correlates with human scores at ρ = " in page
    provenance = json.loads((track.study.results / "report/provenance.json").read_text(encoding="utf-8"))
    assert "scores people, theirs" in provenance["data"]["small"]
    crate = json.loads((track.study.results / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    [root] = [entity for entity in crate["@graph"] if entity["@id"] == "./"]
    own = [line for line in root["identifier"] if "|scorer:people:" in line]
    assert len(own) == 1 and own[0].startswith("data:small:")


def test_exported_scores_are_those_that_were_read(track: Track) -> None:
    path = track.study.results / "export/small/theirs/scores.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = {(row["run_id"], row["topic_id"]): row["value"] for row in records if row["measure"] == "judge.given"}
    expected = {}
    for name, place in PLACES.items():
        context = ("none", 0) if name == "zeroshot" else ("descending", 2)
        cell = {"generator": "theirs", "retriever": name, "ordering": context[0], "k": context[1], "seed": 1}
        for topic, qid in enumerate(track.qids):
            expected[run_name(cell), qid] = track.judge[topic, place]
    assert found == pytest.approx(expected)
    assert sum(row["measure"] == "people.given" for row in records) == 60
