"""Say how many answers are missing where they are many, for the head of a page and the end of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.lengths import COLUMNS, MISSING
from ragrelay.analysis.multiplicity import distinct
from ragrelay.base.io.coverage import data_warnings
from ragrelay.base.io.json_values import read_json
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.answer_files import MISSING as MISSING_ANSWERS
from ragrelay.generation.imported.imported_answers import EMPTY
from ragrelay.generation.imported.imported_answers import MISSING as IMPORTED_MISSING
from ragrelay.generation.thought_marks import THINKING
from ragrelay.report.display.numbers import count, share

WHY = {
    THINKING: "the thought before it did not end",
    IMPORTED_MISSING: "missing in the file",
    "content_filter": "prompt or answer stopped by the endpoint's filter",
    "too long": "prompt too long for the endpoint",
    "refused": "prompt refused by the endpoint",
}
"""What finish_reasons of missing answers mean, besides those that engines give."""
MANY = 0.1
"""Missing answers are many if they are more than this share of a generator's answers, or of those with a retriever."""


def missing_answers(lengths: Iterable[pl.DataFrame], left_out: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence per dataset and generator with many missing answers.

    ``lengths``: the rows of a file each; ``left_out``: records of left_out.json.
    """
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
                    f"results leave them out{reasons(left_out, dataset, generator)}."
                )
    return sentences


def reasons(left_out: Sequence[Mapping[str, Any]], dataset: str, generator: str) -> str:
    """Return why answers of a generator to a dataset are missing, with counts in brackets; empty if nothing says."""
    counts: Counter[str] = Counter()
    for record in left_out:
        of_answers = record["what"] in (MISSING_ANSWERS, EMPTY) and record["dataset"] == dataset
        if of_answers and record["detail"]["generator"] == generator:
            counts[record["detail"].get("finish_reason", IMPORTED_MISSING)] += record["count"]
    listed = [f"{WHY.get(reason, reason)}: {count(number)}" for reason, number in counts.most_common()]
    return f" ({', '.join(listed)})" if listed else ""


def last_remarks(lengths: Iterable[str | Path], counts: Path | None, warnings: Iterable[str] = ()) -> list[str]:
    """Return what a run says at its end: sentences of ``missing_answers``, ``warnings``, and warnings about data.

    ``lengths``: files of lengths; ``counts``: left_out.json, or None. A file that can't be read is a warning.
    """
    try:
        left_out = read_json(counts) if counts else []
        missing = missing_answers((read_table(Path(path), COLUMNS) for path in lengths), left_out)
        warnings = [*warnings, *data_warnings(left_out)]
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        return [f"ragrelay: warning: a result that can't be read ({str(error).splitlines()[0]})"]
    return [*(f"ragrelay: {sentence}" for sentence in missing), *(f"ragrelay: warning: {text}" for text in warnings)]
