"""Build the score tables for a generator's answers from a file of scores."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.generation.answer_files import read_answers
from ragrelay.scoring.retriever_table import SCHEMA
from ragrelay.scoring.score_files import (
    ANSWER,
    ScoreCells,
    ScoreScale,
    mean_scores,
    of_answers,
    placed_scores,
    read_score_rows,
)

WITHOUT_SCORE = "answers without a score in the file (left out)"
UNKNOWN = "scores of answers that the study does not have (left alone)"
CHANGED = "scores of answers whose text is another now (left out)"
FAILED = "nuggets without a label since nuggetizer's model failed (they count as not supported, as in its own scores)"
EMPTY = "records without a score yet, or with an empty list of nuggets (left out)"


def read_scores(
    file: str | Path,
    scorer: Mapping[str, Any],
    cells: Mapping[str, Any],
    answers: KeyedFiles,
    generator: str,
    retrievers: Iterable[str],
) -> tuple[dict[str, pl.DataFrame], list[dict[str, object]]]:
    """Read a file of scores, and return each retriever's score table and counts of left-out scores and answers.

    ``scorer``: the scorer's definition; ``cells``: the grid, as fields of ScoreCells; ``answers``: files by retriever,
    ordering, k and seed. Raises InputError if a score is invalid or ``generator`` has no scored answer.
    """
    low, high = scorer["scale"]
    rows = placed_scores(
        read_score_rows(Path(file), ScoreScale((low, high), scorer.get("measure"))), ScoreCells(**cells)
    )
    return filed_scores(file, rows, answers, generator, scorer["references"], retrievers)


def filed_scores(
    place: str | Path,
    rows: pl.DataFrame,
    answers: KeyedFiles,
    generator: str,
    references: str,
    retrievers: Iterable[str],
) -> tuple[dict[str, pl.DataFrame], list[dict[str, object]]]:
    """Return each retriever's score table (retriever_table.SCHEMA), and counts of left-out scores and answers.

    ``rows``: the scores from the file ``place``, with each answer's cell; ``answers``: files by retriever, ordering, k
    and seed. Raises InputError if ``generator`` has no scored answer.
    """
    own = rows.filter(generator=generator)
    scores, texts = mean_scores(own), generated(answers, generator, ["finish_reason"])
    known, counted = of_answers(scores, texts)
    if not known.height:
        first = "qid {qid!r}, {retriever}, {ordering}, k {k}, seed {seed}".format(**rows.row(0, named=True))
        found = f"no scores for {generator}'s answers (first score: {first})"
        raise InputError(place, found, "the qids, cells and texts of the study's answers")
    # If answers were drawn at random, only drawn answers can be missing.
    drawn = own["probability"].null_count() == 0
    empty, unscored = {"needed": own.height}, {"needed": counted["scored"] + counted["unscored"]}
    ends = texts.join(known, on=ANSWER, how="semi").select(
        pl.len().alias("n"),
        (pl.col("finish_reason") == "length").sum().alias("length"),
        (pl.col("answer").str.strip_chars() == "").sum().alias("blank"),
    )
    counts: list[dict[str, Any]] = [
        {"what": UNKNOWN, "count": counted["unknown"]},
        {"what": CHANGED, "count": counted["changed"]},
        {"what": EMPTY, "count": own["value"].null_count(), "of": {"file": str(place), **(empty if drawn else {})}},
        {"what": WITHOUT_SCORE, "count": counted["unscored"],
         "of": {"file": str(place), **({} if drawn else unscored), "scored": ends.row(0, named=True)}},
    ]  # fmt: skip
    if failed := own["failed"].sum():
        counts.insert(3, {"what": FAILED, "count": failed})
    # The counts are written to the first retriever's file.
    of_all = [{**row, "of": {"retriever": "all", **row.get("of", {})}} for row in counts]
    return {name: _table(known.filter(retriever=name), references) for name in retrievers}, of_all


def generated(answers: KeyedFiles, generator: str, optional: Sequence[str] = ()) -> pl.DataFrame:
    """Read all of a generator's answers, with the columns score_files.ANSWER, answer and ``optional``."""
    table = read_answers(answers, ["qid", "seed", "answer"], optional)
    return table.with_columns(pl.lit(generator).alias("generator"), pl.col("retriever", "ordering").cast(pl.String))


def _table(scores: pl.DataFrame, references: str) -> pl.DataFrame:
    columns: Mapping[str, Any] = {
        "references": pl.lit(references),
        "f1": pl.col("value"),
        "n_references": pl.col("n"),
    }
    known = scores.with_columns(**columns)
    named = [(pl.col(name) if name in known.columns else pl.lit(None).alias(name)).cast(dtype)
             for name, dtype in SCHEMA.items()]  # fmt: skip
    return known.select(named).sort("qid", "ordering", "k", "seed")
