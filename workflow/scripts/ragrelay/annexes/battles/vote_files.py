"""Read votes from people or another program, and match the votes with pairs of answers in a battle.

The files can be CSV, TSV, Parquet or JSON, and have one record per vote.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.battles.votes import KEY, VOTES, WORDS
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.characters import check_id
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.collection.answer_formats.records import name_of, whole_number
from ragrelay.scoring.nugget_lists import folded
from ragrelay.scoring.score_records import score_records

KEYS = ("qid", "first", "second", "vote", "generator", "ordering", "k", "seed", "assessor", "first_answer",
        "second_answer")  # fmt: skip
FORMAT = '{"qid": ..., "first": ..., "second": ..., "vote": "first", "second" or "tie"}'
SPELLED = {
    **{word: word for word in WORDS},
    "1": "first",
    "2": "second",
    "a": "first",
    "b": "second",
    "model_a": "first",
    "model_b": "second",
    "both": "tie",
    "neither": "tie",
    "tie (bothbad)": "tie",
    "equal": "tie",
    "0": "tie",
}
"""Spellings of votes in lower case, including those used by Chatbot Arena."""
ROWS: dict[str, Any] = {
    "place": pl.String, "qid": pl.String, "first": pl.String, "second": pl.String, "vote": pl.String,
    "generator": pl.String, "ordering": pl.String, "k": pl.Int64, "seed": pl.Int64, "assessor": pl.String,
    "first_answer": pl.String, "second_answer": pl.String,
}  # fmt: skip
NO_VOTE, ELSEWHERE, UNKNOWN, CHANGED = (
    "rows without a vote (left out)",
    "votes on pairs that do not meet in the battle (left alone)",
    "votes on answers that the study does not have (left alone)",
    "votes on answers whose text is another now (left out)",
)


def read_vote_rows(path: Path) -> pl.DataFrame:
    """Read a file of votes.

    Args:
        path: The file.

    Returns:
        A row per record, with columns ROWS; the vote is null if the record doesn't contain a vote.

    Raises:
        InputError: A record is malformed, or the file has no records.
    """
    rows, people = [], dict[str, str]()
    for place, record in score_records(path, KEYS, FORMAT):
        for key in ("qid", "first", "second"):
            if record.get(key) in (None, ""):
                raise InputError(place, f"no key {key}, only {', '.join(map(str, record))}", FORMAT)
        qid = str(record["qid"])
        check_id(place, "qid", qid)
        names = {key: name_of(place, key, record.get(key)) for key in ("first", "second", "generator", "ordering")}
        if names["first"] == names["second"]:
            raise InputError(place, f"{names['first']!r} as both first and second", "two different retrievers")
        numbers = [whole_number(place, key, record.get(key)) for key in ("k", "seed")]
        assessor = " ".join(str(record.get("assessor") or "").split())
        texts = [None if record.get(key) in (None, "") else str(record[key]) for key in KEYS[-2:]]
        rows.append((
            place, qid, names["first"], names["second"], _vote(place, record, names), names["generator"],
            names["ordering"], *numbers, people.setdefault(folded(assessor), assessor), *texts,
        ))  # fmt: skip
    if not rows:
        raise InputError(path, "no votes", FORMAT)
    return pl.DataFrame(rows, schema=ROWS, orient="row")


def _vote(place: str, record: Mapping[str, object], names: Mapping[str, str | None]) -> str | None:
    if "vote" not in record:
        raise InputError(place, f"no vote, only {', '.join(map(str, record))}", FORMAT)
    said = str(record["vote"] if record["vote"] is not None else "").strip()
    if not said:
        return None
    by_name = {names["first"]: "first", names["second"]: "second"}
    if said not in by_name and said.casefold() not in SPELLED:
        known = [*WORDS, *(name for name in by_name if name)]
        raise InputError(place, f"vote {said!r}", one_of(known, said))
    return by_name.get(said) or SPELLED[said.casefold()]


def read_vote_file(
    path: Path, grid: Mapping[str, Sequence[object]], pairs: Sequence[tuple[str, str]],
    answers: pl.DataFrame, generator: str,
) -> tuple[pl.DataFrame, list[dict[str, object]]]:  # fmt: skip
    """Read the votes on a battle's pairs of answers, and average the votes over assessors.

    Args:
        path: The file.
        grid: The grid's generators, orderings, values of k and seeds, used to fill in a record's missing keys.
        pairs: The pairs of systems that the battle compares.
        answers: The generator's answers (columns retriever, ordering, k, qid, seed and answer).
        generator: The generator that wrote the answers.

    Returns:
        The votes (columns VOTES), and a count of ignored votes for each reason (columns what and count).

    Raises:
        InputError: A record is malformed, ambiguous or a duplicate, or no vote concerns an answer in the study.
    """
    placed = _filled(read_vote_rows(path), grid).filter(generator=generator)
    empty = placed["vote"].null_count()
    voted = placed.drop_nulls("vote")
    sides = pl.DataFrame(
        [(first, second, *pair, first == pair[0]) for pair in pairs for first, second in (pair, pair[::-1])],
        schema={"first": pl.String, "second": pl.String, "retriever": pl.String, "against": pl.String,
                "is_first": pl.Boolean}, orient="row",
    )  # fmt: skip
    met = voted.join(sides, on=["first", "second"], maintain_order="left")
    key = ["ordering", "k", "qid", "seed"]
    own = answers.drop_nulls("answer")
    zeroshot = own.filter(retriever=ZEROSHOT)
    every = pl.concat([
        own.filter(pl.col("retriever") != ZEROSHOT).select("retriever", *key, "answer"),
        zeroshot.drop("ordering", "k").join(met.select("ordering", "k").unique(), how="cross").select(
            "retriever", *key, "answer"),
    ])  # fmt: skip
    known = met
    for side in ("first", "second"):
        texts = every.rename({"retriever": side, "answer": f"{side}_own"})
        known = known.join(texts, on=[side, *key], maintain_order="left")
    same = [
        pl.col(f"{side}_answer").is_null() | (_plain(f"{side}_answer") == _plain(f"{side}_own"))
        for side in ("first", "second")
    ]
    kept = known.filter(pl.all_horizontal(same))
    counts = [
        {"what": NO_VOTE, "count": empty},
        {"what": ELSEWHERE, "count": voted.height - met.height},
        {"what": UNKNOWN, "count": met.height - known.height},
        {"what": CHANGED, "count": known.height - kept.height},
    ]
    if kept.is_empty():
        found = f"no vote on a pair of {generator}'s answers that this battle compares"
        raise InputError(path, found, one_of(sorted({*sum(pairs, ())}), what="votes on the study's answers"))
    by = [*KEY, "is_first", "assessor"]
    for row in kept.filter(kept.select(by).is_duplicated()).head(1).iter_rows(named=True):
        found = f"a second vote on qid {row['qid']}, {row['first']} first, {row['second']} second"
        raise InputError(row["place"], found, "one vote per assessor and order")
    return _votes(kept), counts


def _plain(column: str) -> pl.Expr:
    """Normalise a text to composed Unicode, and strip whitespace."""
    return pl.col(column).str.normalize("NFC").str.strip_chars()


def _votes(kept: pl.DataFrame) -> pl.DataFrame:
    is_own = (pl.col("vote") == "first") == pl.col("is_first")
    score = pl.when(pl.col("vote") == "tie").then(0.5).otherwise(is_own.cast(pl.Float64))
    of_order = [pl.col("points").filter(pl.col("is_first") == side).mean() for side in (True, False)]
    table = kept.with_columns(points=score).group_by(KEY).agg(score_first=of_order[0], score_second=of_order[1])
    mean = pl.mean_horizontal("score_first", "score_second")
    votes = table.with_columns(score=mean, asked=pl.lit(1)).sort(KEY)
    return votes.select(pl.col(name).cast(dtype) for name, dtype in schema_of(VOTES).items())


def _filled(rows: pl.DataFrame, grid: Mapping[str, Sequence[object]]) -> pl.DataFrame:
    orderings = grid["orderings"]
    filled = rows.with_columns(
        pl.col("ordering").replace(NO_ORDERING, None).fill_null(
            DESCENDING if DESCENDING in orderings else orderings[0]),
        pl.col("seed").fill_null(grid["seeds"][0]),
        *(pl.col(key).fill_null(pl.lit(grid[name][0] if len(grid[name]) == 1 else None, ROWS[key]))
          for key, name in (("generator", "generators"), ("k", "ks"))),
    )  # fmt: skip
    for key, name in (("generator", "generators"), ("k", "ks")):
        for place in filled.filter(pl.col(key).is_null())["place"].head(1):
            raise InputError(place, f"no {key}", one_of(grid[name], what=f"key {key}"))
    return filled
