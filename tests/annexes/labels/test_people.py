"""Agreement with people's labels, warnings of judges below the threshold, and prediction-powered tables."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.labels.agreement import COLUMNS, CONFUSION_COLUMNS, tau_means
from ragrelay.annexes.labels.people import Labelled, Labellers, Trust, measure_agreement, people_of
from ragrelay.annexes.labels.powered import COLUMNS as POWERED
from ragrelay.annexes.labels.powered import powered_table
from ragrelay.annexes.labels.study import JudgeTrust
from ragrelay.annexes.labels.trust_page import (
    agreement_sentences,
    agreement_table,
    confusion_table,
    headline_warnings,
    powered_page_table,
    trust_sentences,
    trust_warnings,
)
from ragrelay.base.vocabulary.columns import schema_of
from scipy import stats

from benchmarks.judge_intervals import retrievers
from tests.annexes.labels.test_annotations_page import study, table
from tests.support.scripts import named as named_files
from tests.support.scripts import run_script

CATALOGUE: dict[str, Any] = {
    "people": {"kind": "file", "path": "p"},
    "grades": {"kind": "graded_llm"},
    "llm": {"kind": "llm"},
    "qrels": {"kind": "qrels"},
    "p0": {"kind": "zeroshot"},
}
NAMES = ["people", "grades", "llm", "qrels", "p0"]
RETRIEVERS = ["bm25", "dense", "rel"]
PATHS = {
    "labels": "labels.parquet", "values": "values.parquet", "utility": "utility.parquet", "qrels": "qrels.parquet",
    "file": "d/annotations/file/people.parquet",
}  # fmt: skip
UNREAD = {"judge": ["d/annotations/llm/grades/g.parquet", "d/annotations/llm/llm/g.parquet"],
          "zeroshot": ["d/scores/s/g/zeroshot.parquet"]}  # fmt: skip
PART = {"dataset": "d", "generator": "g", "scorer": "s"}


def trust(tmp_path: Path, random_sample: bool = True, noise: float = 0.7, queries: int = 80) -> Trust:
    """People label every fourth query and three of its four passages; the judges all, the better the less ``noise``."""
    random = np.random.default_rng(3)
    labels, values, ends, judged, by_file = [], [], [], [], []
    for number in range(queries):
        qid, sampled, hard = f"q{number:02}", number % 4 == 0, random.normal(0, 0.5)
        for place in range(4):
            grade = int(np.clip(round(1.5 + hard + random.normal(0, 1)), 0, 3))
            pair = {"references": "lenient", "qid": qid, "docno": f"d{place}"}
            by_judge = int(np.clip(round(grade + noise * random.normal()), 0, 3))
            judged.append({"qid": qid, "docno": f"d{place}", "label": by_judge})
            labels += [{"source": name, **pair, "label": float(label)} for name, label in (
                ("grades", by_judge), ("llm", by_judge / 3), ("qrels", random.integers(0, 4)), ("p0", 0.5)
            )]  # fmt: skip
            if sampled:
                known = place < 3
                labels.append({"source": "people", **pair, "label": float(grade if known else 0)})
                by_file += [{"qid": qid, "docno": f"d{place}", "label": grade}] if known else []
        for skill, retriever in enumerate(RETRIEVERS):
            p = float(np.clip(0.4 + 0.1 * skill + 0.2 * random.normal(), 0, 1))
            cell = {"retriever": retriever, "references": "lenient", "k": 2, "qid": qid}
            of_people = float(np.clip(p + 0.1 * random.normal(), 0, 1))
            made = {"people": of_people if sampled else None, "grades": of_people + 0.1 * random.normal(),
                    "llm": random.normal(), "qrels": of_people, "p0": 0.5}  # fmt: skip
            values += [cell | {"source": name, "measure": "P", "value": value, "n_ranked": 2}
                       for name, value in made.items() if value is not None]  # fmt: skip
            ends.append(cell | {"ordering": "descending", "p": p, "utility": p / 0.4 - 1})
    frames = {"labels": labels, "values": values, "utility": ends, "qrels": judged, "file": by_file}
    for name, rows in frames.items():
        (tmp_path / PATHS[name]).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / PATHS[name])
    outputs = {f"label_{name}": str(tmp_path / f"{name}.csv") for name in Trust._fields}
    run_script(
        "labels/measure_agreement.py",
        input=named_files(**{name: str(tmp_path / path) for name, path in PATHS.items()}, **UNREAD),
        output=named_files(**outputs),
        log=[str(tmp_path / "log")],
        wildcards=named_files(**PART),
        params=SimpleNamespace(
            patterns={
                "file": "<results>/{dataset}/annotations/file/{source}.parquet",
                "judge": "<results>/{dataset}/annotations/llm/{source}/{judge}.parquet",
                "zeroshot": "<results>/{dataset}/scores/{scorer}/{generator}/{retriever}.parquet",
            }, annotations=CATALOGUE,
            names=NAMES, agreement={"people": "people", "random_sample": random_sample}, lowest_grade=2,
        ),
    )  # fmt: skip
    columns = (COLUMNS, CONFUSION_COLUMNS, POWERED)
    return Trust(*(
        pl.read_csv(path, schema=schema_of(declared)) for path, declared in zip(outputs.values(), columns, strict=True)
    ))  # fmt: skip


def one(frame: pl.DataFrame, **where: object) -> dict[str, Any]:
    return frame.filter(**where).row(0, named=True)


def test_agreement_is_of_what_people_really_labelled(tmp_path: Path) -> None:
    found = trust(tmp_path)
    good, poor = (one(found.agreement, source=name, quantity="kappa") for name in ("grades", "qrels"))
    assert (good["n"], good["n_queries"]) == (60, 20), "the fourth passage stands for the lack of a label"
    assert good["low"] > 0.5 > poor["high"] and poor["low"] < 0 < poor["high"]
    graded = found.confusion.filter(source="grades")
    assert graded["pairs"].sum() == 60
    agree = graded.filter((pl.col("people_label") >= 2) == (pl.col("source_label") >= 2))["pairs"].sum() / 60
    assert good["value"] < agree, "chance is taken off"
    shares = one(found.agreement, source="llm", quantity="kappa")
    assert shares["value"] == pytest.approx(good["value"]), "from 0.5 of 0 to 1, 2 of 0 to 3"
    assert one(found.agreement, source="llm", quantity="kappa_weighted")["reason"] == "the labels aren’t grades"
    assert set(found.confusion.filter(source="llm")["source_label"]) == {0, 1}
    of_passages = one(found.agreement, source="grades", quantity="tau_passages")
    assert of_passages["value"] > 0.5 and of_passages["low"] > 0
    of_retrievers = one(found.agreement, source="qrels", quantity="tau_retrievers")
    assert (of_retrievers["value"], of_retrievers["n"], of_retrievers["n_queries"]) == (1.0, 3, 20)
    assert (of_retrievers["low"], of_retrievers["reason"]) == (None, "fewer than 16 retrievers")
    assert not found.agreement.filter(source="p0").height and not found.agreement.filter(source="people").height


def tables_of_means(size: int = 16, queries: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """A measure (queries, retrievers) by people and by a judge, who rank the retrievers alike but for noise."""
    random = np.random.default_rng(1)
    people = random.normal(0, 1, (queries, 1)) + np.linspace(0, 1, size) + random.normal(0, 0.5, (queries, size))
    return people, people + random.normal(0, 0.5, (queries, size))


def test_tau_of_retrievers_has_an_interval_over_retrievers() -> None:
    """By hand, on the arcsine; copies of all queries are the same means, which say nothing new of the retrievers."""
    people, judge = tables_of_means()
    row = tau_means(people, judge)
    x, y = people.mean(axis=0), judge.mean(axis=0)
    left_out = [stats.kendalltau(np.delete(x, at), np.delete(y, at)).statistic for at in range(16)]
    tau, reach = stats.kendalltau(x, y).statistic, stats.t.ppf(0.975, 15) * np.sqrt(15 * np.var(np.arcsin(left_out)))
    ends = [np.sin(min(np.arcsin(tau) + side * reach, np.pi / 2)) for side in (-1, 1)]
    assert [row["value"], row["low"], row["high"]] == pytest.approx([tau, *ends])
    assert row["method"] == "jackknife over retrievers on the arcsine, Student's t"
    assert tau_means(np.tile(people, (9, 1)), np.tile(judge, (9, 1))) == pytest.approx(row)
    few = tau_means(people[:, :15], judge[:, :15])
    assert few.keys() == {"value", "reason"} and few["reason"] == "fewer than 16 retrievers"


def test_tau_of_retrievers_without_an_interval_has_a_reason() -> None:
    people, _ = tables_of_means()
    flat = np.zeros_like(people)
    assert tau_means(people, flat) == {"reason": "the retrievers have equal means"}
    one = flat + np.eye(16)[3]
    without = "if some retrievers are left out, the others have equal means"
    assert tau_means(people, one)["reason"] == without
    for source, value in ((people, 1.0), (-people, -1.0)):
        assert tau_means(people, source) == {
            "value": value,
            "reason": "leaving out a retriever never changes the value",
        }


def test_means_that_differ_by_rounding_tie() -> None:
    """Retrievers with the same values at other queries have the same mean, in whatever order it is summed."""
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
    assert len(set(values.mean(axis=0))) > 1
    assert tau_means(values, np.arange(9.0).reshape(3, 3)) == {"reason": "the retrievers have equal means"}


@pytest.mark.simulation
@pytest.mark.parametrize("means", ["real", "0 or 1"])
def test_the_interval_over_retrievers_covers_and_one_over_queries_does_not(means: str) -> None:
    found = retrievers(1000, 16, 20, 0.9, means)
    assert 0.93 <= found["coverage"] <= 0.985 and found["share of studies"] > 0.99
    if means == "real":
        assert found["coverage of tau of these retrievers over all queries by a bootstrap over queries"] < 0.6


def test_a_query_with_two_values_in_a_cell_is_refused() -> None:
    """As units of their own, answers of one query make the interval far too narrow."""
    cell = {"retriever": "bm25", "measure": "P", "k": 1, "references": "lenient"}
    values = pl.DataFrame({"source": name, **cell, "qid": qid, "value": 0.5} for name, qid in
                          (("people", "q1"), ("llm", "q1"), ("llm", "q2")))  # fmt: skip
    ends = pl.DataFrame(
        {**cell, "ordering": "descending", "qid": qid, "p": 0.5, "utility": 0.1} for qid in ("q1", "q2")
    )
    labels = pl.DataFrame({"source": ["people"], "qid": ["q1"]})
    assert powered_table(labels, values, ends, "people", ["llm"]).height == 3
    for twice in ((pl.concat([values, values[1:2]]), ends), (pl.concat([values, values[:1]]), ends),
                  (values, pl.concat([ends, ends[:1]]))):  # fmt: skip
        with pytest.raises(pl.exceptions.ComputeError):
            powered_table(labels, *twice, "people", ["llm"])


def test_estimates_of_all_queries_need_the_statement(tmp_path: Path) -> None:
    assert trust(tmp_path, random_sample=False).powered.is_empty()
    found = trust(tmp_path).powered
    mean = one(found, source="grades", retriever="bm25", quantity="mean")
    assert (mean["n"], mean["n_others"], mean["reason"]) == (20, 60, None)
    assert mean["low"] < mean["value"] < mean["high"] and 0.5 < mean["weight"] < 1.5
    width = {name: one(found, source=name, retriever="bm25", quantity="mean") for name in ("grades", "llm")}
    for row in width.values():
        assert row["high"] - row["low"] <= row["alone_high"] - row["alone_low"]
    assert width["grades"]["high"] - width["grades"]["low"] < width["llm"]["high"] - width["llm"]["low"]
    r = one(found, source="grades", retriever="rel", quantity="p")
    assert r["n"] == 20 and 0.5 < r["low"] < r["value"] < r["high"] < 1


def test_the_page_warns_of_judges_below_the_threshold(tmp_path: Path) -> None:
    found = trust(tmp_path)
    tables = {f"annotation_{name}": frame for name, frame in found._asdict().items()}
    rows = table().with_columns(pl.col("references"))
    shown = replace(study(rows, **tables), trust=JudgeTrust(0.4, True, {"llm": ["g"]}))
    (low,) = trust_warnings(shown)
    assert low.startswith("d: results based on labels from qrels depend on a judge whose agreement with human labels (")
    assert low.endswith("below the threshold of 0.40 (agreement.least_kappa).")
    assert headline_warnings(shown) == [low], "the dataset's own judgements"
    assert headline_warnings(replace(shown, tables={**shown.tables, "annotations": rows.filter(kind="erag")})) == []
    assert trust_warnings(replace(shown, trust=JudgeTrust())) == []
    assert len(trust_warnings(replace(shown, trust=JudgeTrust(1.0)))) == 3
    (agreement,) = agreement_sentences(shown)
    assert agreement.startswith("d: agreement with human labels (people), measured by Cohen’s κ, is ")
    told = trust_sentences(shown)
    assert told[0].startswith("llm uses g to judge passages, and the same model generates answers")
    assert "(agreement.random_sample)" in told[1] and "random sample of all queries" in told[1]
    assert told[2].startswith(
        "Human labels exist for only 20 queries. With fewer than 50, prediction-powered intervals are too"
    )
    many = shown.tables["annotation_powered"].with_columns(n=pl.lit(50, pl.Int64))
    enough = replace(shown, tables={**shown.tables, "annotation_powered": many})
    assert trust_sentences(enough) == [*told[:2], *told[3:]]
    assert [len(made.rows) > 0 for made in (agreement_table(shown), confusion_table(shown),
                                            powered_page_table(shown))] == [True] * 3  # fmt: skip
    assert "random sample" not in " ".join(trust_sentences(study(rows)))


def test_who_people_are() -> None:
    assert people_of({"people": "people"}, CATALOGUE, NAMES) == "people"
    assert people_of({}, CATALOGUE, NAMES) == "qrels"
    assert people_of({}, CATALOGUE, ["llm"]) == ""


def test_without_people_there_is_nothing(tmp_path: Path) -> None:
    empty = pl.DataFrame(schema={"source": pl.String, "references": pl.String, "qid": pl.String, "docno": pl.String,
                                 "label": pl.Float64})  # fmt: skip
    values = pl.DataFrame(schema={"source": pl.String, "references": pl.String, "retriever": pl.String, "k": pl.Int64,
                                  "measure": pl.String, "qid": pl.String, "value": pl.Float64})  # fmt: skip
    qrels = pl.DataFrame(schema={"qid": pl.String, "docno": pl.String, "label": pl.Int64})
    utility = pl.DataFrame(schema={"ordering": pl.String, "retriever": pl.String, "k": pl.Int64,
                                   "references": pl.String, "qid": pl.String, "p": pl.Float64,
                                   "utility": pl.Float64})  # fmt: skip
    tables, sources = Labelled(empty, values, utility, qrels), Labellers(CATALOGUE, ["llm"], {})
    found = measure_agreement(tables, sources, {"random_sample": True}, 2)
    assert [frame.height for frame in found] == [0, 0, 0]


@pytest.mark.parametrize(("value", "few", "said"), [
    (1.0, 4, {"mean": None, "p": "all but 4", "utility": "all but 4"}),
    (1.0, 5, {"mean": None, "p": None, "utility": None}),
    (0.4, 4, {"mean": "all but 4", "p": "all but 4", "utility": "all but 4"}),
    (0.4, 5, {"mean": None, "p": None, "utility": None}),
])  # fmt: skip
def test_too_few_labels_of_one_kind_have_no_interval(value: float, few: int, said: dict[str, str | None]) -> None:
    """A mean of labels 0 and 1 has one all the same, which is right where 1 is rare."""
    random, n, labelled = np.random.default_rng(0), 200, 25
    cell = {"retriever": "bm25", "measure": "P", "k": 1, "references": "lenient"}
    qids = [f"q{place:03d}" for place in range(n)]
    judged = [{"source": "llm", **cell, "qid": qid, "value": random.choice([0.0, value])} for qid in qids]
    people = [{"source": "people", **cell, "qid": qid, "value": value * (place < few)}
              for place, qid in enumerate(qids[:labelled])]  # fmt: skip
    ends = [{**{name: cell[name] for name in ("retriever", "k", "references")}, "ordering": "descending", "qid": qid,
             "p": random.normal(), "utility": random.normal()} for qid in qids]  # fmt: skip
    labels = pl.DataFrame({"source": "people", "qid": qids[:labelled]})
    table = powered_table(labels, pl.DataFrame(judged + people), pl.DataFrame(ends), "people", ["llm"])
    for row in table.iter_rows(named=True):
        expected = said[row["quantity"]]
        assert (row["low"] is None) == (expected is not None)
        assert (expected or "") in (row["reason"] or "")
