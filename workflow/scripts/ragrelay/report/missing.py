"""Warn about large numbers of missing answers, on the page and at the end of a run."""

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
from ragrelay.generation.imported.imported_answers import EMPTY, UNANSWERED
from ragrelay.generation.imported.imported_answers import MISSING as IMPORTED_MISSING
from ragrelay.generation.thought_marks import THINKING
from ragrelay.report.display.numbers import count, share
from ragrelay.retrieval.contexts import NO_RESULTS

ABSENT = "absent"
"""The column that with_absent adds, and the reason given for these answers."""
WHY = {
    ABSENT: "no line in the file", THINKING: "unfinished thought", IMPORTED_MISSING: "missing from the file",
    "content_filter": "prompt or answer stopped by the endpoint's filter",
    "too long": "prompt too long for the endpoint", "refused": "prompt refused by the endpoint",
}  # fmt: skip
"""What missing answers' finish_reasons mean, except for those that engines return."""
MANY = 0.1
"""Missing answers are many if they exceed this share of a generator's answers, or of its answers with a retriever."""


def missing_answers(lengths: Iterable[pl.DataFrame], left_out: Sequence[Mapping[str, object]]) -> list[str]:
    """Return a warning for each dataset and generator with many missing answers.

    ``lengths``: the tables of answer lengths; ``left_out``: the records in left_out.json.
    """
    sentences = []
    for cells in (with_absent(each, left_out) for each in lengths):
        # All orderings of one passage have one answer.
        once = distinct(cells, ("retriever", "ordering"))
        sums = once.group_by("dataset", "generator", "retriever", maintain_order=True).agg(
            pl.col("n", "stop", "length", "other", ABSENT).sum()
        )
        parts = sums.filter(pl.col("n") > 0).select("dataset", "generator", "retriever", "n", ABSENT, MISSING)
        worst = parts.sort(pl.col("missing") / pl.col("n"), descending=True, maintain_order=True).head(1)
        for dataset, generator, retriever, n, _, missing in worst.iter_rows():
            if missing > MANY * n:
                worst_part = "without passages" if retriever == ZEROSHOT else f"with {retriever}"
                total, lost, absent = parts.select(pl.col("n", "missing", ABSENT).sum()).row(0)
                why = reasons(left_out, dataset, generator, absent)
                sentences.append(
                    f"{count(lost)} of {count(total)} answers by {generator} for {dataset} are missing{why}, which is "
                    f"{share(lost / total)} ({share(missing / n)} {worst_part}); they have no score and are left out "
                    "of all results."
                )
    return sentences


def with_absent(lengths: pl.DataFrame, left_out: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Add a column ``absent`` (answers missing from an imported file) to ``lengths``, and count these answers in ``n``.

    Answers to queries without results (P = P₀) aren't counted; zero-shot answers are counted only if the study has any.
    """
    keys = ["dataset", "generator", "retriever", "ordering", "k"]
    kinds = (UNANSWERED, NO_RESULTS)
    counted = [(row["what"], row["count"], row, row.get("detail") or {}) for row in left_out if row["what"] in kinds]
    detailed = [(what, number, {**row, **detail}) for what, number, row, detail in counted]
    nothing = {(of["dataset"], of.get("retriever")): number for what, number, of in detailed if what == NO_RESULTS}
    rows = [
        {**{"retriever": ZEROSHOT} | of, ABSENT: max(0, number - nothing.get((of["dataset"], of.get("retriever")), 0))}
        for what, number, of in detailed
        if what == UNANSWERED
    ]
    schema = {name: lengths.schema[name] for name in keys} | {ABSENT: pl.Int64}
    absent = pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)
    of_cells = absent.group_by(keys, maintain_order=True).sum().filter(pl.col(ABSENT) > 0)
    own = of_cells.join(lengths, on=["dataset", "generator"], how="semi", maintain_order="left")
    brought = own.filter((pl.col("retriever") != ZEROSHOT) | bool(lengths.filter(retriever=ZEROSHOT).height))
    joined = lengths.join(brought, on=keys, how="full", coalesce=True, maintain_order="left_right")
    return joined.with_columns(pl.col(ABSENT).fill_null(0)).with_columns(pl.col("n").fill_null(0) + pl.col(ABSENT))


def reasons(left_out: Sequence[Mapping[str, Any]], dataset: str, generator: str, absent: int = 0) -> str:
    """Return the reasons for a generator's missing answers, as text such as ` (unfinished thought: 3)`.

    ``absent``: the number of answers missing from an imported file.
    """
    counts = Counter({ABSENT: absent} if absent else {})
    for record in left_out:
        of_answers = record["what"] in (MISSING_ANSWERS, EMPTY) and record["dataset"] == dataset
        if of_answers and record["detail"]["generator"] == generator:
            counts[record["detail"].get("finish_reason", IMPORTED_MISSING)] += record["count"]
    listed = [f"{WHY.get(reason, reason)}: {count(number)}" for reason, number in counts.most_common()]
    return f" ({', '.join(listed)})" if listed else ""


def last_remarks(lengths: Iterable[str | Path], counts: Path | None, warnings: Iterable[str] = ()) -> list[str]:
    """Return the warnings to print at the end of a run: on missing answers, on left-out data, and ``warnings``.

    ``lengths``: the tables of answer lengths; ``counts``: left_out.json. An unreadable file only produces a warning.
    """
    try:
        left_out = read_json(counts) if counts else []
        missing = missing_answers((read_table(Path(path), COLUMNS) for path in lengths), left_out)
        warnings = [*warnings, *data_warnings(left_out)]
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        return [f"ragrelay: warning: can't read a result ({str(error).splitlines()[0]})"]
    return [*(f"ragrelay: {sentence}" for sentence in missing), *(f"ragrelay: warning: {text}" for text in warnings)]
