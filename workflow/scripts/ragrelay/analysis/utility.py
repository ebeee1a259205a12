"""Compute utility: how much the context improves an answer (Tian et al., ECIR 2025, eq. 1 and 2)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, QID, boolean, integer, number, schema_of
from ragrelay.base.vocabulary.names import NO_ORDERING, UNSEEN, ZEROSHOT

MODES = ("relative", "absolute")
KEYS = ["ordering", "k", "references", "qid"]
COLUMNS = {
    **CELL_COLUMNS,
    "qid": QID,
    "p": number("P: the answer's score against the reference set, averaged over seeds", "the scorer's"),
    "p0": number("P₀: the zero-shot answer's score, averaged over seeds", "the scorer's"),
    "utility": number("(P − P₀) / P₀, or P − P₀ if the scorer's utility is absolute; empty if P or P₀ is missing, or "
        "if utility is relative and P₀ is not above 0"),
    "best_in_context": number("share of seeds for which the answer's best-matching reference is in the context",
                              "0 to 1"),
    "n_references": integer("number of the query's references in the reference set", "references"),
    "n_near_copies": integer("number of references that an unseen set excludes only because they are near copies of a "
    "passage in the context",
                             "references"),
    "n_seeds": integer("number of seeds for which the answer has a score", "seeds"),
    "without_results": boolean("whether the retriever found nothing for the query, in which case P is P₀"),
    "context_use": number("how much the context raises the answer's log-probability per token, averaged over seeds; "
    "empty unless the key `context_use` is set", "nats per token"),
    "text_change": number("1 − word F1 between the answer and the zero-shot answer, averaged over seeds; empty unless "
    "the key `context_use` is set", "0 to 1"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)


def compute_utility(
    scores: Mapping[str, str | Path],
    mode: str,
    uses: Mapping[str, str | Path] | None = None,
    counted: Collection[str] = (),
    ranked: Mapping[str, Collection[str]] | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield the zero-shot answers' utility table (``SCHEMA``), then each retriever's table in the order of ``scores``.

    ``scores`` maps each retriever, including ``zeroshot``, to a scores file (retriever_table.SCORE_COLUMNS). P is an
    answer's mean f1 over seeds (eq. 1), and P_0 is the zero-shot answer's mean f1 against the same references. P_0
    comes from the zero-shot file or, on unseen references, from the rows with ordering ``none`` in the retriever's
    file. Utility is (P - P_0) / P_0 in mode ``relative`` (eq. 2) and P - P_0 in mode ``absolute``. Utility is null if P
    or P_0 is missing; relative utility is also null if P_0 isn't above 0. If a query has only P_0, p is null.

    For retrievers in ``counted``, a query without any answer is assumed to have no retrieved passages. The zero-shot
    answer is used for such a query, so P = P_0 in each cell, and ``without_results`` is true. The queries in ``ranked``
    (by retriever) are exceptions: they have results, so an answer is missing for another reason. Context use is
    averaged over seeds from the tables in ``uses`` (by retriever), and is null for retrievers without a table. Raises
    InputError if the mode is unknown, the zero-shot file is missing, or an answer has two scores.
    """
    if mode not in MODES:
        raise InputError("utility mode", repr(mode), " or ".join(MODES))
    if ZEROSHOT not in scores:
        raise InputError("scores", f"only files of {', '.join(scores) or 'no retriever'}", f"a file of {ZEROSHOT} too")
    baseline = mean_scores(scores[ZEROSHOT])
    # The zero-shot answer is its own baseline and has no utility.
    yield _table(ZEROSHOT, baseline.with_columns(p0="p", utility=pl.lit(None, pl.Float64)))
    for retriever, path in scores.items():
        if retriever != ZEROSHOT:
            paired = _with_baseline(mean_scores(path), baseline)
            if retriever in counted:
                paired = _with_empty_rankings(paired, baseline, (ranked or {}).get(retriever, ()))
            valued = paired.with_columns(utility=_utility(mode))
            if uses and retriever in uses:
                of_answers = mean_use(pl.read_parquet(uses[retriever]))
                valued = valued.join(of_answers, on=["ordering", "k", "qid"], how="left")
            yield _table(retriever, valued)


def mean_scores(path: str | Path) -> pl.DataFrame:
    """Average a file's scores over seeds; return KEYS, p, best_in_context, n_references, n_near_copies and n_seeds."""
    columns = [*KEYS, "seed", "f1", "best_in_context", "n_references", "n_near_copies"]
    # Means of lists sorted by seed have the same last digit for any order of the file and any number of threads.
    means = (
        pl.scan_parquet(path)
        .select(columns)
        .sort([*KEYS, "seed"])
        .group_by(KEYS, maintain_order=True)
        .agg(
            pl.col("f1").cast(pl.Float64),
            pl.col("best_in_context").cast(pl.Float64),
            pl.col("n_references", "n_near_copies").first(),
            pl.col("seed").n_unique().alias("distinct"),
            pl.len().alias("rows"),
        )
        .with_columns(
            pl.col("f1").list.mean().alias("p"),
            pl.col("best_in_context").list.mean(),
            pl.col("f1").list.drop_nulls().list.len().alias("n_seeds"),
        )
        .collect()
    )
    twice = means.filter(pl.col("rows") > pl.col("distinct"))
    if twice.height:
        first = ", ".join(f"{key} {value}" for key, value in twice.select(KEYS).row(0, named=True).items())
        raise InputError(path, f"duplicate scores ({first})", "one row per query, cell, seed and references")
    return means.select(*KEYS, "p", "best_in_context", "n_references", "n_near_copies", "n_seeds")


def scores_by_seed(scores: Mapping[str, str | Path]) -> pl.DataFrame:
    """Read each answer's f1; on unseen references, subtract the f1 of the zero-shot answer with the same seed.

    ``scores`` maps retrievers to scores files. Columns: retriever, ordering, k, references, qid, seed, answer.
    """
    tables = []
    for retriever, path in scores.items():
        single = pl.read_parquet(path, columns=[*KEYS, "seed", "f1"]).with_columns(pl.col("f1").cast(pl.Float64))
        zeroshot = single.filter(ordering=NO_ORDERING).drop("ordering").rename({"f1": "zeroshot"})
        answers = single.filter(pl.col("ordering") != NO_ORDERING).join(
            zeroshot, on=["k", "references", "qid", "seed"], how="left"
        )
        less = pl.when(pl.col("references").str.ends_with(UNSEEN)).then(pl.col("zeroshot")).otherwise(0.0)
        tables.append(answers.select(pl.lit(retriever).alias("retriever"), *KEYS, "seed", answer=pl.col("f1") - less))
    return pl.concat(tables)


def mean_use(table: pl.DataFrame) -> pl.DataFrame:
    """Average context_use and text_change over seeds, per ordering, k and qid, with null where no seed has a value."""
    return (
        table.sort("ordering", "k", "qid", "seed")
        .group_by("ordering", "k", "qid", maintain_order=True)
        .agg(pl.col("context_use", "text_change").drop_nulls())
        .with_columns(pl.col("context_use", "text_change").list.mean())
    )


def write_utility(tables: Iterable[pl.DataFrame], path: str | Path) -> None:
    """Write ``tables`` to one Parquet file (zstd), atomically and with one table in memory at a time."""
    schema = pl.DataFrame(schema=SCHEMA).to_arrow().schema
    with atomic(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.to_arrow())


def _with_baseline(means: pl.DataFrame, baseline: pl.DataFrame) -> pl.DataFrame:
    """Add p0 to a retriever's ``means``, from the zero-shot file's ``baseline`` or from the rows with ordering none."""
    answers = means.filter(pl.col("ordering") != NO_ORDERING)
    cells = answers.select("ordering", "k", "references").unique()
    p0 = [pl.col(name).alias(f"{name}0") for name in ("p", "n_references", "n_near_copies")]
    unseen = means.filter(pl.col("ordering") == NO_ORDERING).select("k", "references", "qid", *p0)
    plain = baseline.select("references", "qid", *p0).join(
        unseen.select("references").unique(), on="references", how="anti"
    )
    baselines = [
        cells.join(unseen, on=["k", "references"], how="inner"),
        cells.join(plain, on="references", how="inner"),
    ]
    expected = pl.concat([frame.select(*KEYS, "p0", "n_references0", "n_near_copies0") for frame in baselines])
    return answers.join(expected, on=KEYS, how="full", coalesce=True).with_columns(
        *(pl.col(name).fill_null(pl.col(f"{name}0")) for name in ("n_references", "n_near_copies")),
        pl.col("n_seeds").fill_null(0),
    )


def _with_empty_rankings(paired: pl.DataFrame, baseline: pl.DataFrame, ranked: Collection[str]) -> pl.DataFrame:
    """Set P = P_0 in all cells for queries without any answer, except those in ``ranked``.

    On unseen references, P_0 comes from the complete reference set.
    """
    answered = paired.filter(pl.col("n_seeds") > 0)
    cells = answered.select("ordering", "k", "references").unique()
    empty = cells.with_columns(whole=pl.col("references").str.strip_suffix(UNSEEN)).join(
        baseline.join(answered.select("qid").unique(), on="qid", how="anti")
        .filter(~pl.col("qid").is_in(list(ranked)))
        .select("qid", "n_references", "n_near_copies", pl.col("references").alias("whole"), p0="p", p="p"),
        on="whole",
    )
    counted = empty.drop("whole").with_columns(n_seeds=pl.lit(0, pl.UInt32), best_in_context=0.0, without_results=True)
    others = paired.join(counted.select("qid").unique(), on="qid", how="anti")
    return pl.concat([others, counted], how="diagonal_relaxed")


def _utility(mode: str) -> pl.Expr:
    gain = pl.col("p") - pl.col("p0")
    return pl.when(pl.col("p0") > 0).then(gain / pl.col("p0")) if mode == "relative" else gain


def _table(retriever: str, frame: pl.DataFrame) -> pl.DataFrame:
    named = frame.with_columns(pl.lit(retriever).alias("retriever"))
    columns = [(pl.col(name) if name in named.columns else pl.lit(None).alias(name)).cast(dtype)
               for name, dtype in SCHEMA.items()]  # fmt: skip
    return named.select(columns).sort(KEYS)
