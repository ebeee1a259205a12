"""What a processor did, counted by hand: texts, passages and contexts by k, tokens of both prompts."""

import polars as pl
from ragrelay.annexes.processing.effects import EFFECTS, describe_processing
from ragrelay.base.vocabulary.columns import schema_of

SHOWN = pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))


def contexts() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Three queries with two, two and one passages; at k = 1 all as they were, at k = 2 changed and emptied."""
    rows = [("a", 1, "d1", "one two"), ("a", 2, "d2", "three"), ("b", 1, "d1", "one two"), ("b", 2, "d3", "four"),
            ("c", 1, "d4", "five")]  # fmt: skip
    whole = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
    at_2: list[str | None] = ["one", "three", None, None, "five"]
    made = [
        [{"k": k, "text": text} for k, text in ((1, row[3] if row[1] == 1 else None), (2, changed)) if text is not None]
        for row, changed in zip(rows, at_2, strict=True)
    ]
    return whole, whole.with_columns(pl.Series("shown", made, dtype=SHOWN))


def test_by_hand() -> None:
    tokens = pl.DataFrame(
        [("bm25", 2, "a", 30), ("bm25", 2, "b", 40), ("bm25", 2, "c", None), ("cut", 2, "a", 20), ("cut", 2, "b", 10),
         ("cut", 2, "c", 5)],
        schema={"retriever": pl.String, "k": pl.Int64, "qid": pl.String, "prompt_tokens": pl.Int64}, orient="row",
    )  # fmt: skip
    table = describe_processing({"cut": contexts()}, {"cut": "bm25"}, [1, 2], tokens, {"cut": False})
    assert dict(table.schema) == schema_of(EFFECTS)
    one, two = table.to_dicts()
    counts = ("n_contexts", "n_contexts_same", "n_contexts_emptied", "n_passages", "n_changed", "n_emptied")
    assert [one[name] for name in counts] == [3, 3, 0, 3, 0, 0]
    assert [two[name] for name in counts] == [3, 1, 1, 5, 1, 2]
    assert (two["n_tokens"], two["tokens_before"], two["tokens_after"]) == (2, 35.0, 15.0), "of the same queries"
    assert (one["n_tokens"], one["tokens_before"], one["same_again"]) == (0, None, False)


def test_contexts_in_another_order_are_not_the_same() -> None:
    whole, made = contexts()
    texts = [[{"k": 2, "text": row["text"]}] for row in whole.to_dicts()]
    turned = made.with_columns(pl.Series("shown", texts, dtype=SHOWN), places=pl.Series([[2], [1], [1], [2], [1]]))
    none = pl.DataFrame(schema={"retriever": pl.String, "k": pl.Int64, "qid": pl.String, "prompt_tokens": pl.Int64})
    row = describe_processing({"ends": (whole, turned)}, {"ends": "bm25"}, [2], none, {"ends": True}).row(0, named=True)
    assert (row["n_contexts"], row["n_contexts_same"], row["n_reordered"], row["n_changed"]) == (3, 2, 1, 0)


def test_without_the_other_retriever_s_answers_there_are_no_tokens() -> None:
    none = pl.DataFrame(schema={"retriever": pl.String, "k": pl.Int64, "qid": pl.String, "prompt_tokens": pl.Int64})
    row = describe_processing({"cut": contexts()}, {"cut": "bm25"}, [2], none, {"cut": None}).row(0, named=True)
    assert row["n_tokens"] == 0 and row["tokens_after"] is None and row["same_again"] is None
