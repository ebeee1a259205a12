"""Write the page's findings on answers: the ordering's effect, variation over seeds, how answers end, and cost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.report.cost import total
from ragrelay.report.display.findings import Findings
from ragrelay.report.display.judge_checks import judge_sentences
from ragrelay.report.display.numbers import about, count, counted, listing, number, out_of, share
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import facts_of

NOTEWORTHY = 0.005
"""Smaller shares round to less than 1% and aren't mentioned."""
NO_SCORE = "have no score and are left out of the results"
"""The phrase that tells readers how results treat missing answers."""


def findings_on_answers(section: Section) -> Findings:
    """Write the findings on a section's answers. Orderings, seeds and positions are compared at the largest k."""
    k, grade = max(section.grid.k), section.grades[0]
    return Findings(
        f"k = {k}, {grade} references",
        [*_ordering(section, k, grade), *_seeds(section, k, grade), *_cost(section), *judge_sentences(section)],
        [*_cut(section), *alike(section), *_positions(section, k, grade)],
    )


def _ordering(section: Section, k: int, grade: str) -> list[str]:
    tests = section["significance"].filter(mark="‡", k=k, references=grade, quantity="p").drop_nulls("significant")
    if k < 2 or tests.is_empty():
        return []
    moved = [
        f"{row['retriever']} ({number(row['mean_difference'])})"
        for row in tests.filter("significant").iter_rows(named=True)
    ]
    kept = tests.filter(pl.col("p_holm") < ALPHA).height
    after = f" After Holm’s correction, it is significant for {kept or 'none'}." if moved else ""
    return [
        f"At k = {k}, the difference in P between descending order (best passage first) and ascending order (best "
        f"passage last) is significant for {out_of(len(moved), tests.height, 'retriever')} tested (uncorrected "
        f"paired t-tests; chance alone would give {about(tests.height * ALPHA)} on average)"
        f"{': ' + listing(moved) if moved else ''}.{after}"
    ]


def _seeds(section: Section, k: int, grade: str) -> list[str]:
    where = {"k": k, "references": grade, "ordering": section.grid.orderings[0]}
    here = section["variance"].filter(pl.col("retriever").is_in(section.grid.retrievers), **where)
    here = here.drop_nulls("share_seeds")
    if here.is_empty():
        return []
    most = here.sort("share_seeds", maintain_order=True).row(-1, named=True)
    of = "less than 1%" if most["share_seeds"] < NOTEWORTHY else share(most["share_seeds"])
    largest = ", the largest share for any retriever" if here.height > 1 else ""
    seeds = number(most["n_seeds"], 0 if most["n_seeds"].is_integer() else 1)
    return [
        f"With {most['retriever']}, seeds account for {of} of the variance of P at k = {k}{largest}; queries account "
        f"for the rest, and a query’s mean over {seeds} seeds has a reliability of {number(most['reliability'], 2)}."
    ]


def _cost(section: Section) -> list[str]:
    if (all_of := total(section)) is None:
        return []
    tokens, cached = all_of["prompt_tokens"], all_of["cached_tokens"]
    if not isinstance(tokens, int) or not isinstance(cached, int) or not tokens:
        return []
    seconds = all_of["device_seconds"]
    spent = [f"{count(tokens)} prompt tokens ({share(cached / tokens)} from the prefix cache)"]
    spent += [f"{count(_int(all_of['answer_tokens']))} answer tokens"]
    spent += [f"{number(seconds, 0)} seconds of device time"] if isinstance(seconds, float) else []
    answers = counted(_int(all_of["answers"]), "distinct answer")
    return [f"Generating the {answers} took {listing(spent)} ({all_of['made_by']})."]


def ends(section: Section) -> dict[str, float]:
    """Return the noteworthy shares of answers that didn't end normally, keyed by a phrase for how they ended.

    Shares refer to all answers (including missing answers) or, if a file provides the scores, to the scored answers.
    """
    sums: Mapping[str, Any] = section.scored or facts_of(section).answers
    kinds = {"length": "were cut at max_tokens", "blank": "are blank", "other": "ended in another way"}
    if not _counted(section):
        kinds = {"blank": kinds["blank"]}
    shares = {text: sums[name] / sums["n"] for name, text in kinds.items() if sums["n"] and sums.get(name) is not None}
    return {text: value for text, value in shares.items() if value >= NOTEWORTHY}


def counted_answers(section: Section, of_all: str = "all answers") -> str:
    """Return ``of_all``, or "the n scored answers" if the scores come from a file that scores only n answers."""
    return f"the {counted(section.scored['n'], 'scored answer')}" if section.scored else of_all


def missing(section: Section) -> str:
    """Return the share of missing answers, their number if the share is tiny, or an empty string if none is missing."""
    sums = facts_of(section).answers
    many = sums["missing"] >= NOTEWORTHY * sums["n"]
    return "" if not sums["missing"] else share(sums["missing"] / sums["n"]) if many else count(sums["missing"])


def alike(section: Section) -> list[str]:
    """Give the number of cell-query pairs whose seeds all gave the same answer, if the share is noteworthy."""
    cells = distinct(section["lengths"], ("retriever", "ordering"))
    several, same = cells.select(pl.col("several", "alike").sum()).row(0)
    if not several or same / several < NOTEWORTHY:
        return []
    return [
        f"All seeds gave the same answer in {out_of(same, several, 'pair')} of cell and query with several seeds "
        f"({share(same / several)}), so more seeds would add nothing there."
    ]


def _counted(section: Section) -> bool:
    """Return whether the answers' lengths and endings are known; for imported answers, they aren't."""
    return bool(section["lengths"]["mean_tokens"].count())


def _cut(section: Section) -> list[str]:
    of = (f" of {counted_answers(section)}", "")
    shares = [f"{share(value)}{of[place > 0]} {text}" for place, (text, value) in enumerate(ends(section).items())]
    scored = [f"{listing(shares)}; they are scored like all other answers."] if shares else []
    lost = missing(section)
    return [*([f"{lost} of all answers are missing; they {NO_SCORE}."] if lost else []), *scored]


def _positions(section: Section, k: int, grade: str) -> list[str]:
    known = section["positions"].filter(
        pl.col("position") > 0, pl.col("retriever").is_in(section.grid.retrievers), k=k, references=grade,
        relevant="any number", ordering=section.grid.orderings[0],
    )  # fmt: skip
    few = known.filter(pl.col("n") < 30).sort("n", "position", maintain_order=True)
    if few.is_empty() or k < 2:
        return []
    row, where = few.row(0, named=True), few["retriever"].n_unique()
    return [
        f"With {row['retriever']}, only {counted(row['n'], 'query has', 'queries have')} a relevant passage at "
        f"position {row['position']} of the prompt. Don’t rely on utility by position (under “Answers”) at "
        f"positions where fewer than 30 queries have a relevant passage; this affects {counted(where, 'retriever')}."
    ]


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
