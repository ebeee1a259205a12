"""Draw random answers for people to score next: equal numbers per cell and, if possible, for the same queries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from ragrelay.annexes.people.powered import LABELS_AT_LEAST, LABELS_OF_SLOPE, OF_CELL_AT_LEAST, QUERIES_AT_LEAST
from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, QID, SEED, STUDY_PART, number, schema_of, text
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.scoring.score_files import ANSWER, row_key

SYSTEM = [name for name in ANSWER if name not in ("qid", "seed")]
COLUMNS = {
    "query": text("the query's text"),
    "answer": text("text of the answer"),
    "value": number("to fill in: the answer's score; rows without a score are ignored", "the scorer's scale"),
    "assessor": text("to fill in if several people score answers: name of the person who scored this answer"),
    "qid": QID,
    "generator": STUDY_PART["generator"],
    **CONTEXT_COLUMNS,
    "seed": SEED,
    "probability": number("probability with which the answer was drawn from its cell, in this draw or an earlier one"),
    "key": text("identifier of the answer: the values of the columns from `qid` on, and a hash of the answer's text. "
                "ragrelay matches scores with answers by this column alone, because spreadsheet programs change some "
                "values. A score is ignored if the answer has changed in the study"),
}  # fmt: skip
"""Columns of the file with answers to score. Hide the columns from ``qid`` onwards from the people who score."""


def drawn(
    answers: pl.DataFrame,
    scored: pl.DataFrame,
    queries: pl.DataFrame,
    of: pl.DataFrame,
    scale: Sequence[float],
    most: int,
    seed: int,
) -> pl.DataFrame:
    """Return the answers with human scores, followed by up to ``most`` answers to score next (columns COLUMNS).

    ``answers`` has columns score_files.ANSWER and answer; ``scored`` contains the scores so far (columns
    score_files.ROWS). ``of``: the cells to draw from (columns SYSTEM). Answers are drawn so that the cells end up with
    equal numbers of scores. Within a cell, the draw prefers queries with the fewest scores in the cell, then queries
    with the most scores in the generator's other cells (so that answers to the same query can be compared), then
    queries with the fewest scores overall. Ties are broken by a hash that depends on ``seed``, so all answers in a cell
    are equally likely to be drawn if the answers that already have scores were also drawn at random. Raises InputError
    if a cell's existing scores were drawn with different probabilities.
    """
    texts = answers.drop_nulls("answer")
    rows = scored.join(texts, on=ANSWER, how="inner", maintain_order="left")
    _check_probabilities(rows)
    done = rows.select(ANSWER).unique()
    cells = [cell for _, cell in texts.sort(ANSWER).group_by(SYSTEM, maintain_order=True)]
    counts = [cell.join(done, on=ANSWER, how="semi").height for cell in cells]
    open_cells = [cell.join(of, on=SYSTEM, how="semi").join(done, on=ANSWER, how="anti") for cell in cells]
    queues = [_queue(cell, seed) for cell in open_cells]
    scores = Counter[tuple[Any, ...]]()
    chosen: list[dict[str, object]] = []

    def count(row: Mapping[str, object]) -> None:
        cell, qid = tuple(row[name] for name in SYSTEM), row["qid"]
        scores.update([(*cell, qid), (row["generator"], qid), (qid,)])

    def order(row: Mapping[str, object]) -> tuple[int, int, int]:
        own = scores[*(row[name] for name in SYSTEM), row["qid"]]
        return own, own - scores[row["generator"], row["qid"]], scores[row["qid"],]

    for row in done.iter_rows(named=True):
        count(row)
    while len(chosen) < most and any(queues):
        place = min((p for p in range(len(cells)) if queues[p]), key=lambda p: counts[p])
        row = min(queues[place], key=order)  # the first of equal ones
        queues[place].remove(row)
        counts[place] += 1
        count(row)
        chosen.append(row)
    keyed = pl.DataFrame(chosen, schema=texts.schema).sample(fraction=1.0, shuffle=True, seed=seed)
    sizes = pl.concat([cell.select(SYSTEM).head(1) for cell in cells]).with_columns(
        probability=pl.Series([count / cell.height for count, cell in zip(counts, cells, strict=True)])
    )
    low, high = scale
    old = rows.with_columns(value=low + pl.col("value") * (high - low)).select(*texts.columns, "value", "assessor")
    whole = pl.concat([old, keyed], how="diagonal").join(
        queries.select("qid", "query"), on="qid", maintain_order="left"
    )
    whole = whole.join(sizes, on=SYSTEM, maintain_order="left")
    # Spreadsheets save numbers as they show them.
    whole = whole.with_columns(pl.col("probability").round_sig_figs(6), pl.col("value").round_sig_figs(9))
    whole = whole.with_columns(pl.Series("key", map(row_key, whole.to_dicts()), pl.String))
    return whole.select(pl.col(name).cast(dtype) for name, dtype in schema_of(COLUMNS).items())


def _queue(cell: pl.DataFrame, seed: int) -> list[dict[str, object]]:
    return sorted(cell.to_dicts(), key=lambda row: text_hash(f"to_score {seed} {[row[name] for name in ANSWER]}"))


def _check_probabilities(rows: pl.DataFrame) -> None:
    several = rows.group_by(SYSTEM).agg(pl.col("probability").drop_nulls().n_unique(), pl.col("place").first())
    for place in several.filter(pl.col("probability") > 1)["place"].head(1):
        expected = "one probability per cell, as in files from to_score"
        raise InputError(place, "different probabilities within a cell", expected)


def few_lines(dataset: str, table: pl.DataFrame, of: pl.DataFrame, of_cell: int) -> list[str]:
    """Return warnings if ``table`` has too few answers to compare the cells ``of`` (columns SYSTEM) or to test relay.

    ``of_cell``: the number of answers in each cell.
    """
    chosen = table.join(of, on=SYSTEM, how="semi")
    sizes = of.join(chosen.group_by(SYSTEM).len(), on=SYSTEM, how="left").fill_null(0).sort("len")
    counts, pair = sizes["len"].to_list(), sizes.filter(pl.col("retriever") != ZEROSHOT)["len"].head(2)
    queries, lines = chosen["qid"].n_unique(), []
    enough = queries >= QUERIES_AT_LEAST and counts[0] >= OF_CELL_AT_LEAST and sum(counts[:2]) >= LABELS_AT_LEAST
    if len(counts) > 1 and not enough:
        lines.append(
            f"{dataset}: after these, one cell will have only {counts[0]} scored answers, and people will have scored "
            f"answers to {queries} queries. Comparisons that use a scorer will have no interval: they need "
            f"{OF_CELL_AT_LEAST} scored answers in each cell, {LABELS_AT_LEAST} in all, to {QUERIES_AT_LEAST} queries."
        )
    if len(pair) > 1 and (scored := pair.sum()) < LABELS_OF_SLOPE:
        more = f"people: {{to_score: {LABELS_OF_SLOPE // 2 * of.height - chosen['value'].count()}}}"
        lines.append(
            f"{dataset}: after these, people will have scored {scored} answers for two retrievers. To test relay with "
            f"their scores (a slope), you need {LABELS_OF_SLOPE} "
            f"({more if 2 * of_cell >= LABELS_OF_SLOPE else f'there are only {2 * of_cell}'})."
        )
    return lines


WIDTHS = (0.2, 0.15, 0.1, 0.05)
"""Half widths of intervals; for each of these, the plan states how many human scores are needed."""
ASSUMED_SD = 0.35
"""Standard deviation of human scores (0 to 1) assumed while there are few scores; 0.3 to 0.5 for grades."""
KNOWN_FROM = 10


def scores_for(half_width: float, sd: float, r: float, answers: int) -> int | None:
    """Return how many human scores would be needed to estimate a difference between two cells to ± ``half_width``.

    Each cell gets half of the human scores; all ``answers`` in each cell are scored by a scorer whose correlation with
    people is ``r``. If m of a cell's N answers have human scores, the squared standard error of PPI++ is about 2 sd²
    ((1 - r²) / m + r² / N). The result is None if scoring all answers wouldn't be enough.
    """
    m = np.arange(2, answers + 1)
    reach = special.stdtrit(m - 1, 0.975) * sd * np.sqrt(2 * ((1 - r**2) / m + r**2 / answers))
    enough = m[reach <= half_width]
    return max(LABELS_AT_LEAST, 2 * int(enough[0])) if len(enough) else None


def width_lines(dataset: str, cells: Sequence[np.ndarray], answers: int) -> list[str]:
    """Return a line that says how many human scores each half-width in WIDTHS requires, with and without a scorer.

    ``cells``: the human scores so far, from 0 to 1, as an array (n,) per cell. ``answers``: the number of answers in a
    cell. The scores' standard deviation is computed within cells, so differences between cells don't inflate it.
    """
    free = sum(map(len, cells)) - len(cells)
    known = free >= KNOWN_FROM
    sd = float(np.sqrt(sum(len(cell) * cell.var() for cell in cells) / free)) if known else ASSUMED_SD
    parts = []
    for width in WIDTHS:
        needed = [scores_for(width, max(sd, 1e-3), r, answers) for r in (0.0, 0.5, 0.8)]
        if needed[-1] is None:
            least = special.stdtrit(max(answers - 1, 1), 0.975) * max(sd, 1e-3) * np.sqrt(2 / answers)
            parts.append(f"a narrower one than ±{least:.2g}: more answers than this study has")
            break
        alone, half, strong = ("all" if number is None else str(number) for number in needed)
        parts.append(f"±{width:g}: {alone} (with a scorer of r 0.5: {half}; of r 0.8: {strong})")
    basis = "standard deviation within cells so far" if known else "assumed standard deviation"
    return [
        f"{dataset}: human scores needed for the interval of a gain or of a difference between two retrievers, by the "
        f"interval's half-width ({basis}: {sd:.2f}): {'; '.join(parts)}."
    ]
