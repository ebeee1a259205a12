"""Say how many answers are missing where they are many, for the head of a page and the end of a run."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from ragrelay.analysis.lengths import COLUMNS, MISSING
from ragrelay.analysis.multiplicity import distinct
from ragrelay.base.io.coverage import data_warnings
from ragrelay.base.io.json_values import read_json
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.numbers import count, share

MANY = 0.1
"""Missing answers are many if they are more than this share of a generator's answers, or of those with a retriever."""


def missing_answers(lengths: Iterable[pl.DataFrame]) -> list[str]:
    """Return a sentence per dataset and generator with many missing answers. ``lengths``: the rows of a file each."""
    sentences = []
    for cells in lengths:
        # All orderings of one passage have one answer.
        once = distinct(cells, ("retriever", "ordering"))
        sums = once.group_by("dataset", "generator", "retriever", maintain_order=True).agg(
            pl.col("n", "stop", "length", "other").sum()
        )
        parts = sums.filter(pl.col("n") > 0).select("dataset", "generator", "retriever", "n", MISSING)
        worst = parts.sort(pl.col("missing") / pl.col("n"), descending=True, maintain_order=True).head(1)
        for dataset, generator, retriever, n, missing in worst.iter_rows():
            if missing > MANY * n:
                worst_part = "without passages" if retriever == ZEROSHOT else f"with {retriever}"
                total, lost = parts.select(pl.col("n", "missing").sum()).row(0)
                sentences.append(
                    f"{count(lost)} of {count(total)} answers of {generator} to {dataset} are missing "
                    f"({share(lost / total)}; {worst_part} {share(missing / n)}): they have no score, and all "
                    "results leave them out. The reasons are on the page, under Left out."
                )
    return sentences


def last_remarks(lengths: Iterable[str | Path], counts: Path | None) -> list[str]:
    """Return what a run says at its end: sentences of ``missing_answers``, and warnings about data.

    ``lengths``: files of lengths; ``counts``: left_out.json, or None. A file that can't be read is a warning.
    """
    try:
        missing = missing_answers(read_table(Path(path), COLUMNS) for path in lengths)
        warnings = data_warnings(read_json(counts)) if counts else []
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        return [f"ragrelay: warning: a result that can't be read ({str(error).splitlines()[0]})"]
    return [*(f"ragrelay: {sentence}" for sentence in missing), *(f"ragrelay: warning: {text}" for text in warnings)]
