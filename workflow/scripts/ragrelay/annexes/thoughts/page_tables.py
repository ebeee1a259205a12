"""Build the page's tables about thoughts."""

import polars as pl

from ragrelay.annexes.thoughts.study import CENSORED_SHARE, ThoughtStudy
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.thought_marks import CUT, ENDED, NO_END, UNFINISHED
from ragrelay.report.display.numbers import count, number, p_value, share
from ragrelay.report.display.tables import REMARK, Row, Table, between, depth, name, numeric, table_of

PLACE = (name("retriever"), name("ordering"), depth())
ENDS = {ENDED: "ended by a mark", CUT: "cut at the budget", UNFINISHED: "unfinished", NO_END: "no thought"}


def thought_table(study: ThoughtStudy, most_rows: int | None = None) -> Table:
    """Show each cell's tokens per thought, the share of thoughts that were cut or didn't end, and how thoughts end."""
    shares = [(pl.col(end) / pl.col("n")).alias(f"share_{end}") for end in ENDS]
    frame = study["thoughts"].with_columns(*shares, CENSORED_SHARE.alias("censored"))
    return table_of(
        frame, *PLACE, between("mean tokens", "mean_tokens", 1), numeric("cut or unfinished", "censored", share),
        numeric("queries", "n_queries", count), numeric("answers", "n", count),
        numeric("tokens unknown", "n_unknown", count),
        *(numeric(title, f"share_{end}", share) for end, title in ENDS.items()),
        REMARK, most=most_rows,
    )  # fmt: skip


def difference_table(study: ThoughtStudy, most_rows: int | None = None) -> Table:
    """Show each comparison's difference and verdict, and the shares of cut thoughts on both sides."""
    cells = study["thoughts"]
    ends = cells.select("retriever", "ordering", "k", CENSORED_SHARE.alias("censored"))
    same = ["ordering", "k"]
    other = ends.filter(pl.col("retriever") != ZEROSHOT).rename({"retriever": "against_retriever", "censored": "its"})
    without = ends.filter(retriever=ZEROSHOT)["censored"]
    frame = (
        study["thought_differences"]
        .join(ends, on=["retriever", *same], how="left", maintain_order="left")
        .join(other, on=["against_retriever", *same], how="left", maintain_order="left")
        .with_columns(
            its=pl.when(pl.col("against_retriever") == ZEROSHOT)
            .then(pl.lit(without[0] if len(without) else None, pl.Float64))
            .otherwise("its")
        )
    )
    return table_of(
        frame, *PLACE, name("against", "against_retriever"), name("verdict"),
        between("difference", "mean_difference", 1), numeric("cut or unfinished", _both, str),
        numeric("mean tokens", "mean_tokens", number, 1), numeric("mean tokens, other", "against_tokens", number, 1),
        numeric("p, verdict", "p_verdict", p_value), numeric("p, Holm", "p_holm", p_value),
        numeric("p, BH", "p_bh", p_value), numeric("queries", "n", count), numeric("unpaired", "n_unpaired", count),
        REMARK, most=most_rows,
    )  # fmt: skip


def _both(row: Row) -> str:
    return f"{share(row['censored'])} / {share(row['its'])}"
