"""Set several studies side by side: what each did, how it differs from the first, and how to read that."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import BETTER, UNDECIDED, WORSE
from ragrelay.annexes.compare.compared import SideStudy
from ragrelay.annexes.compare.differences import Group
from ragrelay.annexes.compare.findings import tally
from ragrelay.annexes.compare.paired import STILL
from ragrelay.annexes.compare.studies import Finished
from ragrelay.base.vocabulary.columns import STUDY_PART
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.numbers import MISSING, count, counted, with_interval

RELAYED = {relay.IT_IS: "they do", relay.IT_IS_NOT: "they improve less", relay.NOT_KNOWN: "we do not know"}
Row = dict[str, Any]


def sections(all_sides: Sequence[SideStudy], rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return title, place and groups of each dataset, generator and scorer that the baseline and another have.

    Args:
        all_sides: The baseline and the other studies.
        rows: studies.csv (several.COLUMNS).
    """
    baseline, shown = all_sides[0], []
    for place, pair in enumerate(baseline.pairs, 1):
        names = dict(zip(STUDY_PART, (own for own, _ in (pair.dataset, pair.generator, pair.scorer)), strict=True))
        here = rows.filter(**names)
        if here.filter(pl.col("study") != baseline.label).is_empty():
            continue
        cell = shown_cell(baseline.study, here)
        groups = _groups(all_sides, here.filter(**{name: cell[name] for name in ("ordering", "k", "references")}), cell)
        where = f"k = {count(cell['k'])}, {cell['ordering']} order, {cell['references']} references"
        shown.append({"title": pair.title, "where": where, "groups": groups, "anchor": f"s{place}"})
    return [section for section in shown if section["groups"]]


def shown_cell(baseline: Finished, rows: pl.DataFrame) -> Row:
    """Return ordering, k and references that most studies have; of these the largest k, and what is named first."""
    orderings, scorer = list(baseline.grid["orderings"]), rows["scorer"][0]
    dataset = baseline.config["datasets"][rows["dataset"][0]]
    grades = sorted(dataset.get("references") or {}, key=lambda name: (dataset["references"][name], name))
    kind = baseline.config["scorers"][scorer].get("references", "judged")
    first = {name: place for place, name in enumerate([kind, *grades])}
    means = rows.filter(quantity="p").filter(~pl.col("references").str.ends_with(UNSEEN))
    cells = means.group_by("ordering", "k", "references").agg(pl.col("study").n_unique())
    return min(
        (row for row in cells.iter_rows(named=True) if row["k"] > 0),
        key=lambda row: (-row["study"], -row["k"],
                         orderings.index(row["ordering"]) if row["ordering"] in orderings else len(orderings),
                         first.get(row["references"], len(first)), row["ordering"], row["references"]),
    )  # fmt: skip


def _groups(all_sides: Sequence[SideStudy], shown: pl.DataFrame, cell: Row) -> list[Group]:
    """Return the groups of the rows ``shown`` of one cell, with a column per study."""
    baseline, compared = all_sides[0], set(shown["retriever"])
    retrievers = [name for name in baseline.study.grid["retrievers"] if name in compared]
    measure = baseline.study.grid["measures"][0]
    by_cell = {(row["study"], row["retriever"], row["quantity"]): row for row in shown.iter_rows(named=True)
               if row["measure"] in (None, measure)}  # fmt: skip

    def found(quantity: str, name: str) -> list[Row | None]:
        return [by_cell.get((side.label, name, quantity)) for side in all_sides]

    def line(quantity: str, text: Callable[[Row], str], name: str) -> list[str]:
        partners = [dict(side.retrievers).get(name, name) for side in all_sides]
        cells = zip(found(quantity, name), partners, strict=True)
        return [f"{'' if own == name else f'{own}: '}{text(row)}" if row else MISSING for row, own in cells]

    def words(heading: str, quantity: str, text: Callable[[Row], str]) -> Group:
        return Group(heading, _known((name, line(quantity, text, name)) for name in retrievers))

    def numbers(heading: str, quantity: str) -> Group:
        """Name the number of queries once if it is the same everywhere."""
        of_rows = {row["n"] for name in retrievers for row in found(quantity, name) if row}
        if len(of_rows) == 1:
            return words(f"{heading}; {counted(of_rows.pop(), 'query', 'queries')}", quantity, _interval)
        return words(heading, quantity, _with_n)

    of_relay = {
        "slope over all rankings": ("relay", _slope),
        "adjusted for mean measure and P₀": ("relay adjusted", _slope),
        "Do answers improve more where rankings improve more?": ("relay", _relayed),
    }
    slopes = _known((label, line(*of, relay.ALL_RANKINGS)) for label, of in of_relay.items())
    groups = [
        numbers("P", "p"),
        numbers(f"P less that of {baseline.label}, paired by query", "change"),
        words(f"Are the answers better than those of {baseline.label}?", "change", _word),
        numbers("Gain over zero-shot, P − P₀", "gain"),
        words("Are the answers better than zero-shot?", "gain", _gained),
        Group(f"Relay: between two retrievers, change of P per 0.1 of {measure}@{cell['k']}", slopes),
    ]
    return [group for group in groups if group.rows]


def _known(lines: Any) -> list[tuple[str, list[str]]]:
    return [(name, cells) for name, cells in lines if set(cells) - {MISSING}]


def _interval(row: Row) -> str:
    return with_interval(row["value"], row["low"], row["high"])


def _with_n(row: Row) -> str:
    return f"{_interval(row)}, {counted(row['n'], 'query', 'queries')}"


def _slope(row: Row) -> str:
    tenth = row | {name: None if row[name] is None else row[name] / 10 for name in ("value", "low", "high")}
    return f"{_interval(tenth)}, {row['reason']}" if row["reason"] else _with_n(tenth)


def _relayed(row: Row) -> str:
    return RELAYED.get(row["verdict"]) or str(row["verdict"])


def _gained(row: Row) -> str:
    return str(row["verdict"] or row["reason"] or MISSING)


def _word(row: Row) -> str:
    """Return the word of tests.csv, and what becomes of it by the correction over all studies."""
    if row["reason"] == STILL:
        return "the same for every query"
    if row["reason"]:
        return f"{row['verdict']}: {row['reason']}"
    if row["verdict"] not in (BETTER, WORSE):
        return str(row["verdict"])
    corrected = "" if row["p_holm"] < ALPHA else f", {UNDECIDED} after Holm’s correction over all studies"
    return f"{row['verdict']}{corrected}{'; one more query would undo it' if row['stands'] is False else ''}"


def limits(all_sides: Sequence[SideStudy], rows: pl.DataFrame) -> list[str]:
    """Say how to read the words, with the number of cells that have each; of ``rows`` as ``sections`` gets them."""
    changes = rows.filter(~pl.col("references").str.ends_with(UNSEEN), quantity="change")
    cells, said, kept, by_chance = tally(changes, ("study", *STUDY_PART, "retriever", "ordering", "references"))
    baseline = all_sides[0].label
    return [
        "A word is said of one study and one retriever, as on the page that compares the two, without correction for "
        "the number of studies.",
        f"Over all studies and {counted(cells.height, 'cell')}, P is better in {said[BETTER]}, worse in {said[WORSE]}; "
        f"after Holm’s correction better in {kept[BETTER]} and worse in {kept[WORSE]}. {by_chance.capitalize()}.",
        "Holm’s correction is over all studies, retrievers, orderings and k of one dataset, generator, scorer and "
        "reference set. The page of one study corrects for its own cells alone.",
        f"All studies are compared with the same answers of {baseline}: where these are good or poor by chance, all "
        "studies look worse or better together.",
        f"To compare two others with each other, make one of them the baseline: a study that is better than {baseline} "
        "is not shown to be better than one that is undecided.",
        "P and gain are of each study’s own queries, changes of the queries that it and the baseline have in common.",
    ]
