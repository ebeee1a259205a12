"""Near copies: shares of 5-grams by hand, a twin in a context, and what the score table makes of them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.scoring import query_scores
from ragrelay.scoring.near_copies import PassageTexts, grams, shown_references
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.retriever_table import shown_by_context

from tests.support.score_study import OVERLAP, Overlap, score_table, write_study

LONG = "the quick brown fox jumps over the lazy dog today"
"""Ten words, six grams."""
HALF = "the quick brown fox jumps over the cat"
"""Eight words, four grams, of which three are LONG's."""
FEW = "the quick brown fox jumps and runs off to hide far away from here"
"""Fourteen words, ten grams, of which one is LONG's."""


def references(*texts: str) -> QueryReferences:
    docnos: list[str | None] = [f"r{place}" for place in range(len(texts))]
    return QueryReferences(0, docnos, list(texts), np.full(len(texts), 2), "hash")


def test_grams_by_hand() -> None:
    assert len(grams(LONG)) == 6
    assert grams("One TWO, three-four five six") == {
        ("one", "two", "three", "four", "five"),
        ("two", "three", "four", "five", "six"),
    }
    assert grams("Lead poisoning!") == {("lead", "poisoning")}, "a short text is one gram"
    assert grams("1703年に茶を") == {("1703", "年", "に", "茶", "を")}, "a letter is a word where no blanks are written"
    assert grams(" … ") == frozenset()
    assert len(grams("a b c d e a b c d e")) == 5, "a set: a gram twice counts once"


@pytest.mark.parametrize(
    ("share", "text", "expected"),
    [
        (0.5, LONG.upper(), [True, False]),
        (0.5, HALF, [True, False]),  # 3 of the 4 grams of the shorter
        (0.75, HALF, [True, False]),
        (0.76, HALF, [False, False]),
        (0.5, FEW, [False, False]),  # 1 of 6
        (1 / 6, FEW, [True, False]),
        (None, LONG, [False, False]),
        (0.5, "Lead poisoning", [False, True]),
        (0.5, "", [False, False]),
    ],
)
def test_share_of_the_grams_of_whichever_has_fewer(share: float | None, text: str, expected: list[bool]) -> None:
    found = shown_references(references(LONG, "lead poisoning"), {"d": text}, share)
    assert found["d"].tolist() == expected


@pytest.mark.parametrize("share", [None, 0.5])
def test_a_passage_shows_the_reference_of_its_docno(share: float | None) -> None:
    found = shown_references(references(LONG, "other words entirely of some length"), {"r1": "no text of it"}, share)
    assert found["r1"].tolist() == [False, True]


def test_texts_are_read_by_query(tmp_path: Path) -> None:
    for name, rows in (("a", [("q1", "d1", "one"), ("q2", "d2", "two")]), ("b", [("q1", "d3", "three")])):
        pl.DataFrame(rows, schema=["qid", "docno", "text"], orient="row").write_parquet(tmp_path / f"{name}.parquet")
    texts = PassageTexts([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert texts.of(["q1", "q3"]) == {"q1": {"d1": "one", "d3": "three"}, "q3": {}}
    assert PassageTexts([]).of(["q1"]) == {"q1": {}}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """The context holds a twin of reference r1 under another docno; the answer copies it word for word."""
    monkeypatch.setattr(query_scores, "make_scorer", lambda *_: Overlap())
    given = write_study(
        tmp_path,
        [("q", "r1", 2, LONG), ("q", "r2", 2, "quite another matter about the sea and its many fish")],
        {("descending", 1): {"q": ["twin"]}},
        {("descending", 1, 1): {"q": LONG}},
        {1: {"q": "the sea"}},
    )
    texts = pl.DataFrame({"qid": ["q"], "docno": ["twin"], "text": [LONG + " as they say"]})
    texts.write_parquet(tmp_path / "contexts.parquet")
    return {
        **given, "grades": {"lenient": 2}, "scorer": OVERLAP, "cache_dir": tmp_path / "cache",
        "output": tmp_path / "scores.parquet", "contexts": [tmp_path / "contexts.parquet"],
    }  # fmt: skip


def test_a_twin_in_the_context_is_seen(files: dict) -> None:
    score_table(**files, near_copy=0.5)
    rows = {(row["ordering"], row["references"]): row for row in pl.read_parquet(files["output"]).to_dicts()}
    seen, unseen = rows["descending", "lenient"], rows["descending", "lenient-unseen"]
    assert (seen["best_docno"], seen["best_in_context"], seen["f1"]) == ("r1", True, 1.0)
    assert (unseen["best_docno"], unseen["best_in_context"]) == ("r2", False)
    assert unseen["f1"] < 0.3, "a copier earns nothing on what it has not seen"
    assert (unseen["n_references"], unseen["n_near_copies"]) == (1, 1)
    zero = rows["none", "lenient-unseen"]
    assert (zero["n_references"], zero["n_near_copies"]) == (1, 1), "P_0 on the same set"
    assert seen["n_near_copies"] is None


def test_by_docno_alone_where_the_key_is_null(files: dict) -> None:
    score_table(**files, near_copy=None)
    rows = {(row["ordering"], row["references"]): row for row in pl.read_parquet(files["output"]).to_dicts()}
    assert not rows["descending", "lenient"]["best_in_context"]
    unseen = rows["descending", "lenient-unseen"]
    assert (unseen["best_docno"], unseen["n_references"], unseen["n_near_copies"]) == ("r1", 2, 0)


def test_of_references_of_one_text_the_copied_one_is_best(files: dict) -> None:
    """r0 and r1 have one text and so one F1; the context holds r1, which is best, although r0 comes first."""
    rows = [("q", docno, 2, LONG) for docno in ("r0", "r1")] + [("q", "r2", 2, "the sea")]
    pl.DataFrame(rows, schema=["qid", "docno", "label", "text"], orient="row").write_parquet(files["references"])
    prompts = files["prompts"]["descending", 1]
    shown = pl.Series("docnos", [["r1"]], dtype=pl.List(pl.String))
    pl.read_parquet(prompts).with_columns(shown).write_parquet(prompts)
    score_table(**files, near_copy=None)
    found = pl.read_parquet(files["output"]).row(by_predicate=pl.col("references") == "lenient", named=True)
    assert (found["best_docno"], found["best_in_context"], found["f1"]) == ("r1", True, 1.0)


def test_no_reference_is_best_where_every_score_is_zero(files: dict) -> None:
    score_table(**{**files, "near_copy": 0.5})
    answers = files["answers"]["descending", 1, 1]
    pl.read_parquet(answers).with_columns(answer=pl.lit("")).write_parquet(answers)
    score_table(**{**files, "near_copy": 0.5})
    found = pl.read_parquet(files["output"]).filter(ordering="descending")
    assert found["f1"].to_list() == [0.0, 0.0]
    assert found["best_docno"].null_count() == found["best_in_context"].null_count() == 2


def test_a_processed_passage_shows_what_is_left_of_it(tmp_path: Path) -> None:
    """By k: the copy is gone at k = 1 and there at k = 2; the reference's own docno counts whatever is left of it."""
    dtype = pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))
    made = [[{"k": 1, "text": FEW}, {"k": 2, "text": HALF}], [{"k": 2, "text": "tea"}], []]
    table = {"qid": ["q"] * 3, "docno": ["d", "r1", "e"], "text": [LONG] * 3, "shown": pl.Series(made, dtype=dtype)}
    pl.DataFrame(table).write_parquet(tmp_path / "contexts.parquet")
    texts = PassageTexts([tmp_path / "contexts.parquet"]).of(["q"])["q"]
    assert texts == {("d", 1): FEW, ("d", 2): HALF, ("r1", 2): "tea"}
    query = references(LONG, "other words entirely of some length")
    shown = shown_references(query, texts, 0.5)
    contexts = {("descending", 1): ["d"], ("descending", 2): ["d", "r1"]}
    found = {k: flags.tolist() for (_, k), flags in shown_by_context(query, contexts, shown).items()}
    assert found == {1: [False, False], 2: [True, True]}
    whole = PassageTexts([tmp_path / "contexts.parquet"], original=True).of(["q"])["q"]
    assert whole == {"d": LONG, "r1": LONG, "e": LONG}
