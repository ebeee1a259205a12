"""The score table: rows by hand, sets of references, what is refused."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import torch
from ragrelay.base.errors import InputError
from ragrelay.scoring import query_scores, retriever_table
from ragrelay.scoring.aggregation import Aggregation
from ragrelay.scoring.matching import match
from ragrelay.scoring.query_scores import QueryScores
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.retriever_table import SCHEMA, query_rows
from ragrelay.scoring.store import VALUES

from tests.support.hand_embeddings import embeddings
from tests.support.score_study import OVERLAP, Overlap, score_table, write_answers, write_study

GRADES = {"lenient": 2, "strict": 3}
REFERENCES = [
    ("q2", "d9", 2, "yellow"),
    ("q1", "d1", 3, "red green"),
    ("q1", "d3", 3, "blue"),
    ("q1", "d2", 2, "red blue"),
]
CONTEXTS = {
    ("descending", 1): {"q1": ["d1"], "q2": ["d9"]},
    ("descending", 2): {"q1": ["d1", "d3"]},
    ("ascending", 2): {"q1": ["d3", "d1"]},
}
ANSWERS = {
    ("descending", 1, 7): {"q1": "red green blue", "q2": "yellow", "q3": "no reference"},
    ("descending", 2, 7): {"q1": "green"},
    ("ascending", 2, 7): {"q1": "blue"},
}
ZEROSHOT = {7: {"q1": "blue", "q2": "", "q3": "x"}}


@pytest.fixture
def overlap(monkeypatch: pytest.MonkeyPatch) -> Overlap:
    scorer = Overlap()
    monkeypatch.setattr(query_scores, "make_scorer", lambda *_: scorer)
    return scorer


def table(files: dict[str, Any], folder: Path, **change: Any) -> pl.DataFrame:
    places = {"cache_dir": folder / "cache", "output": folder / "out.parquet"}
    score_table(**{**files, "grades": GRADES, "scorer": OVERLAP, **places, **change})
    return pl.read_parquet(folder / "out.parquet")


def test_rows_by_hand(tmp_path: Path, overlap: Overlap) -> None:
    """F1 is computed by hand for each answer with d1, d2 and d3, and for q2 with d9.

    "red green blue": 4/5, 4/5, 1/2; "green": 2/3, 0, 0; "blue": 0, 2/3, 1; q2's d9: 1 and 0.
    """
    given = {**CONTEXTS, ("none", 0): {"q1": [], "q2": []}}
    prompts = {key: docnos for key, docnos in given.items() if key[1]}
    prompts["descending", 1] = {**CONTEXTS["descending", 1], "q3": ["d5"]}
    found = table(write_study(tmp_path, REFERENCES, prompts, ANSWERS, ZEROSHOT), tmp_path)
    third = 2 / 3
    expected = [
        # q2 stands first in the references file; it has no strict reference, and its only one was in the context.
        ("q2", "descending", 1, 7, "lenient", 1.0, 1.0, 1.0, "d9", True, 1),
        ("q1", "ascending", 2, 7, "lenient", 1.0, 1.0, 1.0, "d3", True, 3),
        ("q1", "ascending", 2, 7, "lenient-unseen", 1.0, 0.5, third, "d2", False, 1),
        ("q1", "ascending", 2, 7, "strict", 1.0, 1.0, 1.0, "d3", True, 2),
        ("q1", "descending", 1, 7, "lenient", third, 1.0, 0.8, "d1", True, 3),  # d1 and d2 alike: the first docno.
        ("q1", "descending", 1, 7, "lenient-unseen", third, 1.0, 0.8, "d2", False, 2),
        ("q1", "descending", 1, 7, "strict", third, 1.0, 0.8, "d1", True, 2),
        ("q1", "descending", 1, 7, "strict-unseen", 1 / 3, 1.0, 0.5, "d3", False, 1),
        ("q1", "descending", 2, 7, "lenient", 1.0, 0.5, third, "d1", True, 3),
        ("q1", "descending", 2, 7, "lenient-unseen", 0.0, 0.0, 0.0, None, None, 1),
        ("q1", "descending", 2, 7, "strict", 1.0, 0.5, third, "d1", True, 2),
        # The zero-shot answer "blue" on what each k left unseen; with k 2 no strict reference is left.
        ("q1", "none", 1, 7, "lenient-unseen", 1.0, 1.0, 1.0, "d3", False, 2),
        ("q1", "none", 1, 7, "strict-unseen", 1.0, 1.0, 1.0, "d3", False, 1),
        ("q1", "none", 2, 7, "lenient-unseen", 1.0, 0.5, third, "d2", False, 1),
    ]
    assert found.schema == SCHEMA
    keys, numbers = [0, 1, 2, 3, 4, 8, 9, 10], [5, 6, 7]
    assert [[row[i] for i in keys] for row in found.iter_rows()] == [[row[i] for i in keys] for row in expected]
    for got, wanted in zip(found.iter_rows(), expected, strict=True):
        assert [got[i] for i in numbers] == pytest.approx([wanted[i] for i in numbers], abs=1e-6)


@pytest.mark.parametrize(
    ("shown", "lenient", "strict"),
    [("d2", ("d2", True), ("d1", False)), ("d3", ("d3", True), ("d3", True)), ("d9", ("d1", False), ("d1", False))],
)
def test_of_references_with_one_text_the_copied_one_is_best(
    tmp_path: Path, overlap: Overlap, shown: str, lenient: tuple[str, bool], strict: tuple[str, bool]
) -> None:
    """It is if the context shows it and the set has it; d0 is shorter, and none of them."""
    references = [
        ("q1", "d0", 3, "red"),
        *(("q1", f"d{n}", label, "red green") for n, label in ((1, 3), (2, 2), (3, 3))),
    ]
    files = write_study(
        tmp_path, references, {("descending", 1): {"q1": [shown]}}, {("descending", 1, 7): {"q1": "red green"}}, {}
    )
    found = table(files, tmp_path).filter(pl.col("references").is_in(list(GRADES)))
    assert found.select("references", "best_docno", "best_in_context").rows() == [
        ("lenient", *lenient), ("strict", *strict),
    ]  # fmt: skip


def test_the_zeroshot_retriever_has_plain_rows_alone(tmp_path: Path, overlap: Overlap) -> None:
    prompts = {("none", 0): {"q1": [], "q2": []}}
    answers = {("none", 0, 7): {"q1": "blue", "q2": ""}}
    found = table(write_study(tmp_path, REFERENCES, prompts, answers, {}), tmp_path)
    columns = ["qid", "ordering", "k", "references", "f1", "best_docno", "best_in_context", "n_references"]
    assert found.select(columns).rows() == [
        ("q2", "none", 0, "lenient", 0.0, None, None, 1),
        ("q1", "none", 0, "lenient", 1.0, "d3", False, 3),
        ("q1", "none", 0, "strict", 1.0, "d3", False, 2),
    ]


def test_orderings_that_show_different_passages_share_the_unseen_set(
    tmp_path: Path, overlap: Overlap, caplog: pytest.LogCaptureFixture
) -> None:
    prompts = {("ascending", 2): {"q1": ["d3"]}, ("descending", 2): {"q1": ["d1", "d3"]}}
    answers = {("ascending", 2, 7): {"q1": "red green"}, ("descending", 2, 7): {"q1": "red green"}}
    found = table(write_study(tmp_path, REFERENCES, prompts, answers, {7: {"q1": "red green"}}), tmp_path)
    unseen = found.filter(pl.col("references") == "lenient-unseen")
    assert unseen["ordering"].to_list() == ["ascending", "descending", "none"]
    assert unseen["best_docno"].to_list() == ["d2"] * 3
    best = dict(found.filter(pl.col("references") == "lenient").select("ordering", "best_in_context").iter_rows())
    assert best == {"ascending": False, "descending": True}
    assert "show different passages" in caplog.text


def random_study(folder: Path, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(seed)
    words = list("abcdefgh")
    text = lambda: " ".join(draw.choices(words, k=draw.randint(0, 5)))  # noqa: E731
    references, contexts, answers = [], {}, {}
    for q in range(6):
        references += [(f"q{q}", f"d{q}-{d}", draw.randint(2, 3), text()) for d in range(draw.randint(1, 6))]
    for k in (1, 3):
        shown = {f"q{q}": [f"d{q}-{d}" for d in draw.sample(range(8), k)] for q in range(6)}
        contexts["descending", k], contexts["ascending", k] = shown, {q: docs[::-1] for q, docs in shown.items()}
    for (ordering, k), seed_ in itertools.product(contexts, (1, 2)):
        answers[ordering, k, seed_] = {f"q{q}": text() for q in range(6)}
    zeroshot = {seed_: {f"q{q}": text() for q in range(6)} for seed_ in (1, 2)}
    draw.shuffle(references)
    plain = {"references": references, "contexts": contexts, "answers": answers, "zeroshot": zeroshot}
    return plain, write_study(folder, **plain)


def plainly(study: dict[str, Any]) -> set[tuple]:
    """The table again, one pair at a time."""

    def best(qid: str, answer: str, label: int, without: set[str], context: set[str]) -> tuple | None:
        found = []
        for q, docno, grade, text in study["references"]:
            if q == qid and grade >= label and docno not in without:
                ours, theirs = set(answer.split()), set(text.split())
                f1 = 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours & theirs else 0.0
                found.append((-round(f1, 6), docno, text))
        if not found:
            return None
        f1, first, chosen = min(found)
        if f1 == 0:
            return (f1, None, None, len(found))
        copied = sorted(docno for _, docno, text in found if text == chosen and docno in context)
        return (f1, copied[0] if copied else first, bool(copied), len(found))

    rows = []
    for (ordering, k, seed), texts in study["answers"].items():
        for qid, answer in texts.items():
            shown = set(study["contexts"][ordering, k][qid])
            for grade, label in GRADES.items():
                rows.append((qid, ordering, k, seed, grade, best(qid, answer, label, set(), shown)))
                rows.append((qid, ordering, k, seed, grade + "-unseen", best(qid, answer, label, shown, shown)))
    for (seed, texts), k in itertools.product(study["zeroshot"].items(), (1, 3)):
        for qid, answer in texts.items():
            shown = set(study["contexts"]["descending", k][qid])
            for grade, label in GRADES.items():
                rows.append((qid, "none", k, seed, grade + "-unseen", best(qid, answer, label, shown, set())))
    return {(*row[:5], *row[5]) for row in rows if row[5]}


def test_pairs_with_a_negative_part_are_counted_where_the_formula_makes_them_positive() -> None:
    """One word points the opposite way, with special tokens at an angle: P = .05, R = -.98, F1 = 0 here."""
    answer, opposite = [((0.98, -0.2), False), ((1, 0), True)], [((0.05, 1), False), ((-1, 0), True)]
    alike, reverse = [((1, 0), True)], [((-0.6, -0.8), True)]
    found = match(
        embeddings(answer, []),
        np.array([0, 1]),
        embeddings(opposite, alike, reverse),
        np.arange(3),
        torch.device("cpu"),
    )
    precision, recall = found.precision[0, 0], found.recall[0, 0]
    assert (precision, recall, found.f1[0, 0]) == pytest.approx((0.05, -0.98, 0.0), abs=1e-6)
    assert 2 * precision * recall / (precision + recall) > 0.1, "bert-score's formula"
    values = {name: getattr(found, name).astype(float) for name in VALUES}
    query = QueryReferences(0, ["d1", "d2", "d3"], ["one", "two", "three"], np.array([3, 3, 2]), "hash")
    cells = pl.DataFrame({"ordering": ["descending"] * 2, "k": [1] * 2, "seed": [1, 2]})
    given = {"contexts": {("descending", 1): ["d1"]}, "shown": {"d1": np.array([True, False, False])}}

    def counted(values: dict[str, np.ndarray]) -> dict[tuple[int, str], int | None]:
        scored = QueryScores("q", query, cells, values)
        rows = query_rows(scored, **given, grades=GRADES, baseline=set(), aggregate=Aggregation("max"), unseen=True)
        return {(row["seed"], row["references"]): row["n_zero"] for row in rows.to_dicts()}

    # With the third both parts are negative, and so is their harmonic mean; a blank answer has parts of 0.
    assert counted(values) == {
        (1, "lenient"): 1, (1, "strict"): 1, (1, "lenient-unseen"): 0, (1, "strict-unseen"): 0,
        **{(2, name + unseen): 0 for name in GRADES for unseen in ("", "-unseen")},
    }  # fmt: skip
    alone = {"precision": np.full((2, 3), np.nan), "recall": np.full((2, 3), np.nan), "f1": np.full((2, 3), 0.5)}
    assert set(counted(alone).values()) == {None}


@pytest.mark.parametrize("seed", range(5))
def test_equals_a_plain_search_over_all_pairs(tmp_path: Path, overlap: Overlap, seed: int) -> None:
    study, files = random_study(tmp_path, seed)
    found = table(files, tmp_path)
    minus = -pl.col("f1").round(6)
    columns = found.select(
        "qid", "ordering", "k", "seed", "references", minus, "best_docno", "best_in_context", "n_references"
    )
    assert set(columns.rows()) == plainly(study)
    assert len(found) == len(plainly(study))
    places = list(dict.fromkeys(qid for qid, *_ in study["references"]))
    order = [(places.index(row[0]), *row[1:5]) for row in found.iter_rows()]
    assert order == sorted(order)


def test_bytes_are_the_same_again_whatever_the_pieces(
    tmp_path: Path, overlap: Overlap, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, files = random_study(tmp_path / "a", 1)
    whole = table(files, tmp_path / "a")
    first = (tmp_path / "a" / "out.parquet").read_bytes()
    table(files, tmp_path / "a")
    assert (tmp_path / "a" / "out.parquet").read_bytes() == first
    table(files, tmp_path / "a", cache_dir=tmp_path / "other", answers=dict(reversed(files["answers"].items())))
    assert (tmp_path / "a" / "out.parquet").read_bytes() == first
    assert pq.ParquetFile(tmp_path / "a" / "out.parquet").num_row_groups == 1
    monkeypatch.setattr(retriever_table, "ANSWERS_AT_ONCE", 25)  # 10 files: two queries at a time.
    assert table(files, tmp_path / "a").equals(whole)
    assert pq.ParquetFile(tmp_path / "a" / "out.parquet").num_row_groups == 3
    metadata = pq.read_schema(tmp_path / "a" / "out.parquet").metadata
    assert metadata[b"fingerprint"] == b"overlap"


def refused(files: dict[str, Any], folder: Path) -> str:
    with pytest.raises(InputError) as raised:
        table(files, folder)
    assert not (folder / "out.parquet").exists()
    return str(raised.value)


def test_answers_of_another_cell_are_refused(tmp_path: Path, overlap: Overlap) -> None:
    _, files = random_study(tmp_path, 1)
    swapped = dict(files["answers"])
    one, other = ("descending", 1, 1), ("descending", 3, 1)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    assert "for another prompt" in refused({**files, "answers": swapped}, tmp_path)
    swapped = dict(files["answers"])
    one, other = ("descending", 1, 1), ("descending", 1, 2)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    message = refused({**files, "answers": swapped}, tmp_path)
    assert "with seed 2; expected answers of seed 1" in message
    assert "answers-descending-1-2.parquet" in message
    prompts = {context: path for context, path in files["prompts"].items() if context != ("descending", 3)}
    assert "without their prompts" in refused({**files, "prompts": prompts}, tmp_path)


def test_answers_that_the_scorer_does_not_see_are_refused(tmp_path: Path) -> None:
    """They are refused before a store is opened, so stored scores do not matter."""
    files = write_study(tmp_path, REFERENCES, CONTEXTS, {cell: {"q1": "чай"} for cell in ANSWERS}, ZEROSHOT)
    rouge = {"kind": "rouge", "variant": "rouge1", "stemmer": False}
    with pytest.raises(InputError, match=r"scorer of kind rouge: found answers with .* without any letter"):
        table(files, tmp_path, scorer=rouge)
    assert not (tmp_path / "cache").exists()


def test_a_missing_answer_has_no_rows_and_changes_no_others(tmp_path: Path, overlap: Overlap) -> None:
    """A refusal is no answer with the score of the empty one."""
    _, files = random_study(tmp_path, 1)
    whole, path = table(files, tmp_path), files["answers"]["descending", 1, 1]
    refused_one = (pl.col("qid") == "q1").cast(pl.Boolean)
    read = pl.read_parquet(path)
    assert whole.filter(refused_one, ordering="descending", k=1, seed=1).height
    for there in files["answers"].values():
        answers = pl.read_parquet(there).with_columns(finish_reason=pl.lit("stop"))
        missing = refused_one & (there == path)
        answers = answers.with_columns(
            answer=pl.when(~missing).then("answer"),
            finish_reason=pl.when(missing).then(pl.lit("refusal")).otherwise("finish_reason"),
        )
        answers.write_parquet(there)
    for there in files["zeroshot"].values():
        pl.read_parquet(there).with_columns(finish_reason=pl.lit("stop")).write_parquet(there)
    assert pl.read_parquet(path)["answer"].null_count() == 1 and read["answer"].null_count() == 0
    left = ~(refused_one & (pl.col("ordering") == "descending") & (pl.col("k") == 1) & (pl.col("seed") == 1))
    assert table(files, tmp_path).equals(whole.filter(left))


def test_missing_and_double_answers_are_refused(tmp_path: Path, overlap: Overlap) -> None:
    _, files = random_study(tmp_path, 1)
    path = files["answers"]["descending", 1, 1]
    whole = pl.read_parquet(path)
    write_answers(path, "descending", 1, 1, {"q1": None})
    assert "no answer for query q1" in refused(files, tmp_path)
    pl.concat([whole, whole.head(1)]).write_parquet(path)
    assert "query q0 twice" in refused(files, tmp_path)


def test_references_that_are_none_or_double_are_refused(tmp_path: Path, overlap: Overlap) -> None:
    _, files = random_study(tmp_path, 1)
    rows = pl.read_parquet(files["references"])
    rows.head(0).write_parquet(files["references"])
    assert "no passage" in refused(files, tmp_path)
    pl.concat([rows, rows.head(1)]).write_parquet(files["references"])
    assert "duplicate" in refused(files, tmp_path)
