"""Labels by what an answer loses without a passage: below 0 where it loses nothing, and no measure of their own k."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.measures import How, measure_labels
from ragrelay.annexes.labels.people import Labelled, Labellers, measure_agreement
from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.annexes.labels.study_labels import LABELS, LabelledFiles, LabelMeasures
from ragrelay.annexes.labels.study_labels import measure_labels as measure_study
from ragrelay.base.annex import annexes
from ragrelay.base.errors import InputError

from tests.unit.conftest import study_of

EFFECTS = [
    ("out", "bm25", 3, "lenient", "01", "a", 0.2), ("out", "bm25", 3, "lenient", "01", "b", -0.1),
    ("out", "bm25", 3, "lenient", "01", "c", 0.0), ("out", "dense", 3, "lenient", "01", "a", 0.4),
    ("out", "bm25", 2, "lenient", "01", "a", 9.0), ("other", "bm25", 3, "lenient", "01", "a", 9.0),
]  # fmt: skip
SOURCE = {"kind": "leave_out", "intervention": "out"}
there_are_interventions = pytest.mark.skipif(
    "interventions" not in {annex.name for annex in annexes()}, reason="of an annex that was taken away"
)


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    """Effects of passages of query 01, as the annex writes them."""
    names = ["intervention", "retriever", "k", "references", "qid", "docno", "effect"]
    table = pl.DataFrame(EFFECTS, schema=names, orient="row").with_columns(place=pl.lit(1), label=pl.lit(None))
    table.write_csv(tmp_path / "effects.csv")
    return tmp_path / "effects.csv"


@pytest.fixture
def files(tmp_path: Path, effects: Path) -> LabelledFiles:
    rows = [("01", rank, docno, docno) for rank, docno in enumerate("abc", 1)]
    pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row").write_parquet(tmp_path / "contexts")
    pl.DataFrame({"qid": ["01"], "query": ["q"]}).write_parquet(tmp_path / "queries")
    qrels = pl.DataFrame({"qid": ["01", "01", "01"], "docno": ["a", "b", "c"], "label": [2, 0, 0]})
    qrels.write_parquet(tmp_path / "qrels")
    made = {"helps": effects}
    return LabelledFiles({"bm25": tmp_path / "contexts"}, tmp_path / "queries", tmp_path / "qrels", made)


def measured(files: LabelledFiles, **keys: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    wanted = LabelMeasures(["P", "Success", "nDCG"], [2, 3], 10, 2)
    sources = {"helps": {**SOURCE, **keys}, "qrels": {"kind": "qrels"}}
    return measure_study(files, sources, list(sources), ["lenient", "lenient-unseen"], wanted)


def test_a_label_is_the_mean_effect_at_the_largest_k(files: LabelledFiles) -> None:
    labels, _ = measured(files)
    own = labels.filter(source="helps")
    assert own.select("references", "qid", "docno").rows() == [("lenient", "01", docno) for docno in "abc"]
    assert own["label"].to_list() == pytest.approx([0.3, -0.1, 0.0])
    assert measured(files, k=3)[0].equals(labels) and measured(files, k=4)[0].filter(source="helps").is_empty()


def test_measures_know_labels_below_0_and_have_none_at_the_k_of_the_labels(files: LabelledFiles) -> None:
    _, values = measured(files)
    own = values.filter(source="helps", references="lenient")
    found = {(row["measure"], row["k"]): row["value"] for row in own.to_dicts()}
    assert [found[name, 3] for name in ("P", "Success", "nDCG")] == [None] * 3, "P of that context is in its labels"
    assert found["P", 2] == pytest.approx(0.1) and found["Success", 2] == pytest.approx(0.3)
    assert found["nDCG", 2] == pytest.approx(1.0), "harm counts as 0"
    of_people = values.filter(source="qrels", references="lenient", k=3, measure="P")["value"].item()
    assert of_people == pytest.approx(1 / 3), "other sources have every k"


def test_a_threshold_makes_every_measure_defined(files: LabelledFiles) -> None:
    labels, values = measured(files, threshold=0.0)
    assert labels.filter(source="helps")["label"].to_list() == [1.0, 0.0, 1.0]
    assert values.filter(source="helps", measure="nDCG", k=2)["value"].is_not_null().all()


def test_harm_is_the_least_of_a_ranking_where_nothing_helps() -> None:
    ranking = pl.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "rank": [1, 2]})
    labels = ranking.select("qid", "docno", label=pl.Series([-0.2, -0.1]))
    how = How(whole=False, signed=True)
    values = measure_labels(ranking, labels, ["P", "Success", "nDCG"], [2], how)
    assert dict(values.select("measure", "value").iter_rows()) == pytest.approx(
        {"P": -0.15, "Success": -0.1, "nDCG": 0.0}
    )
    short = measure_labels(ranking, labels, ["Success"], [3], how)
    assert short["value"].to_list() == [0.0], "a short ranking counts as if label 0 followed"
    with pytest.raises(InputError, match=r"found -0\.2; expected labels of at least 0"):
        measure_labels(ranking, labels, ["P"], [2], How(whole=False))


def test_a_passage_that_helps_counts_as_relevant_beside_peoples_labels(files: LabelledFiles) -> None:
    labels, values = measured(files)
    utility = pl.DataFrame(
        schema={"retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String,
                "qid": pl.String, "p": pl.Float64, "p0": pl.Float64, "utility": pl.Float64}
    )  # fmt: skip
    trust = measure_agreement(
        Labelled(labels.select(*LABELS), values, utility, pl.read_parquet(files.qrels)),
        Labellers({"helps": SOURCE, "qrels": {"kind": "qrels"}}, ["helps", "qrels"], files.made),
        {"random_sample": False},
        lowest_grade=2,
    )
    cells = trust.confusion.filter(source="helps").select("people_label", "source_label", "pairs").rows()
    assert cells == [(0, 0, 2), (2, 1, 1)]


@there_are_interventions
@pytest.mark.parametrize(
    ("keys", "grid", "message"),
    [
        ({"intervention": "swap"}, {}, "intervention': found 'swap'; expected an intervention of kind leave_out: out"),
        ({"k": 4}, {}, "annotations.helps.k': found 4; expected a k of intervention out: one of 1, 2, 5"),
        ({}, {"k": [1, 2]}, "grid.k': found 1, 2; expected a k of at least 2 and less than 2, the k of interv"),
        ({"k": 2}, {}, "annotations.helps.k': found 2; expected"),
    ],
)
def test_what_cannot_work_is_refused(
    config: dict[str, Any], tmp_path: Path, keys: dict[str, Any], grid: dict[str, Any], message: str
) -> None:
    config["interventions"] = {
        "out": {"kind": "leave_out", "retrievers": ["bm25"]}, "swap": {"kind": "swap", "retrievers": ["bm25"]}
    }  # fmt: skip
    config["annotations"] = {"helps": {**SOURCE, **keys}}
    config["grid"] |= {"annotations": ["helps"], "k": [1, 2, 5], **grid}
    with pytest.raises(InputError, match=message):
        study_of(config, tmp_path)


def test_a_study_without_interventions_has_no_such_labels(config: dict[str, Any], tmp_path: Path) -> None:
    config["annotations"] = {"helps": SOURCE}
    config["grid"]["annotations"] = ["helps"]
    with pytest.raises(InputError, match="found 'out'; expected an intervention of kind leave_out, but there is none"):
        study_of(config, tmp_path)


def test_combinations_do_not_mix_effects_with_relevance() -> None:
    assert not ANNOTATION_KINDS["leave_out"].single
