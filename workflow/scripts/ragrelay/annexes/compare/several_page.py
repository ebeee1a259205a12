"""Render the page that sets several studies side by side: what differs between them first, then what each did."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.analysis.verdicts import BETTER, TOO_FEW, UNDECIDED, WORSE
from ragrelay.annexes.compare.compared import Compared, SideStudy
from ragrelay.annexes.compare.findings import comparison_answer
from ragrelay.annexes.compare.paired import STILL
from ragrelay.annexes.compare.studies import Finished, common_references, flattened, tests_of, without_counterpart
from ragrelay.base.annex import annexes
from ragrelay.base.vocabulary.columns import STUDY_PART
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.data_hashes import data_hashes
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import MISSING, about, count, counted, listing, with_interval
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.page import Page
from ragrelay.report.display.palette import looks
from ragrelay.report.display.templates import FOLDER, inside

TEMPLATE = FOLDER / "compare_several.html.j2"
NAMED = ("retrievers", "generators", "scorers", "datasets")
"""Sections of the catalogue. An entry that a study lacks is one row."""
FIRST = ("retrievers", "grid", "generators", "scorers", "datasets")
"""The order of the keys that differ; others follow."""
ABSENT = MISSING
RELAYED = {relay.IT_IS: "they do", relay.IT_IS_NOT: "they improve less", relay.NOT_KNOWN: "we do not know"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """Rows of the table under one heading, each with a cell per study."""

    heading: str
    rows: Sequence[tuple[str, Sequence[str]]]


def render(sides: Sequence[SideStudy], rows: pl.DataFrame, template: Path = TEMPLATE) -> str:
    """Render the page as HTML. ``sides``: the baseline and the others; ``rows``: studies.csv (several.COLUMNS)."""
    baseline, others = sides[0], sides[1:]
    names = [side.label for side in others]
    title, question = (
        f"{baseline.label} → {', '.join(names)}",
        f"What do {listing(names)} change against {baseline.label}?",
    )
    answers = [_answer(baseline, side) for side in others]
    retrievers = looks(baseline.study.grid["retrievers"])
    page = Page(title, question, answers, {"main": title}, results="../..", retrievers=retrievers)
    sections = [_section(sides, rows, place) for place in range(len(baseline.pairs))]
    return page.html(
        template,
        own_style=inside(template.parent, "studies.css"),
        sides=[{"label": side.label, "link": f"../{side.link}/index.html" if side.link else ""} for side in sides],
        differences=differences([side.study for side in sides], [_datasets(side) for side in sides]),
        sections=[section for section in sections if section["groups"]],
        limits=_limits(sides, rows),
    )


def _answer(baseline: SideStudy, side: SideStudy) -> Conclusion:
    """Return the answer of the page that compares ``side`` with the baseline, on its first part."""
    pair, tests, queries = side.pairs[0], side.tests, side.queries
    assert tests is not None and queries is not None
    references = common_references(baseline.study, side.study, pair)
    left_out = without_counterpart(baseline.study, side.study, side.retrievers)
    shown = Compared(pair, references, {}, tests_of(pair, queries), tests_of(pair, tests), left_out)
    topic = f"{side.label}, {pair.title}" if len(side.pairs) > 1 else side.label
    return comparison_answer(shown, baseline.label, side.label)._replace(topic=topic)


def _datasets(side: SideStudy) -> list[str]:
    return list(dict.fromkeys(pair.dataset[-1] for pair in side.pairs))


# What differs


def differences(studies: Sequence[Finished], datasets: Sequence[Sequence[str]]) -> list[Group]:
    """Return what differs between the studies: configuration, data (of ``datasets`` of each), engines and versions."""
    configs = [_entries({**study.config, "study": None}, [other.config for other in studies]) for study in studies]
    order = {name: place for place, name in enumerate(FIRST)}
    rows = sorted(_differing(configs), key=lambda row: order.get(row[0].partition(".")[0], len(order)))
    data = [_data(study, names) for study, names in zip(studies, datasets, strict=True)]
    versions = [dict(_versions(study)) for study in studies]
    groups = [
        Group("Configuration", rows),
        Group("Data, by number and hash of their rows", list(_differing(data))),
        Group("Software and answers’ fingerprints", list(_differing(versions))),
    ]
    return [group for group in groups if group.rows]


def _differing(values: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    for key in dict.fromkeys(key for each in values for key in each):
        row = [each.get(key, ABSENT) for each in values]
        if len(set(row)) > 1:
            yield key, row


def _entries(config: Mapping[str, Any], configs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Flatten a configuration; an entry of the catalogue that another study lacks is one value."""
    found: dict[str, str] = {}
    for key, value in config.items():
        if key in NAMED and isinstance(value, Mapping):
            for name, definition in value.items():
                if all(name in other.get(key, {}) for other in configs):
                    found |= dict(flattened(definition, f"{key}.{name}"))
                else:
                    found[f"{key}.{name}"] = "; ".join(f"{inner}: {held}" for inner, held in flattened(definition))
        else:
            found |= dict(flattened(value, key))
    return found


def _data(study: Finished, datasets: Sequence[str]) -> dict[str, str]:
    of_annexes = [resolve(annex.hashes) for annex in annexes() if annex.hashes]
    found: dict[str, str] = {}
    for name in datasets:
        hashes = data_hashes(study.folder, name, study.config, of_annexes)
        found |= {f"{kind}, {name}": " ".join(map(str, held.values())) for kind, held in hashes.items()}
    return found


def _versions(study: Finished) -> Iterator[tuple[str, str]]:
    provenance = study.provenance
    yield "commit of ragrelay", str(provenance.get("commit"))
    for name, about_it in (provenance.get("generators") or {}).items():
        engine = [str(about_it[key]) for key in ("engine", "version", "device") if about_it.get(key) is not None]
        yield f"engine of {name}", " ".join(engine) or ABSENT
        yield f"fingerprint of {name}", str(about_it.get("fingerprint"))
    yield from ((name, str(version)) for name, version in (provenance.get("versions") or {}).items())


# What each did


def _section(sides: Sequence[SideStudy], rows: pl.DataFrame, place: int) -> dict[str, Any]:
    """Return title, place and groups of one dataset, generator and scorer of the baseline."""
    baseline = sides[0]
    pair = baseline.pairs[place]
    here = rows.filter(
        **{name: names[0] for name, names in zip(STUDY_PART, (pair.dataset, pair.generator, pair.scorer), strict=True)}
    )
    if here.filter(pl.col("study") != baseline.label).is_empty():
        return {"groups": []}
    cell = shown_cell(baseline.study, here)
    shown = here.filter(ordering=cell["ordering"], k=cell["k"], references=cell["references"])
    labels = [side.label for side in sides]
    retrievers = [name for name in baseline.study.grid["retrievers"] if name in set(shown["retriever"])]
    measure = baseline.study.grid["measures"][0]
    by_cell = {(row["study"], row["retriever"], row["quantity"]): row for row in shown.iter_rows(named=True)
               if row["measure"] in (None, measure)}  # fmt: skip
    partners = {side.label: {name: own for name, own in side.retrievers if name != own} for side in sides}

    def of(quantity: str, text: Callable[[Row], str], names: Sequence[str]) -> list[tuple[str, list[str]]]:
        lines = []
        for name in names:
            found = [(label, by_cell.get((label, name, quantity))) for label in labels]
            cells = [_named(text(row), partners[label].get(name)) if row else ABSENT for label, row in found]
            if set(cells) - {ABSENT}:
                lines.append((name, cells))
        return lines

    def numbers(heading: str, quantity: str) -> Group:
        """Name the number of queries once if it is the same everywhere."""
        of_rows = {row["n"] for name in retrievers for label in labels
                   if (row := by_cell.get((label, name, quantity))) is not None}  # fmt: skip
        if len(of_rows) == 1:
            n = counted(of_rows.pop(), "query", "queries")
            return Group(f"{heading}; {n}", of(quantity, _interval, retrievers))
        return Group(heading, of(quantity, _with_n, retrievers))

    slopes = [relay.ALL_RANKINGS]
    of_relay = [
        (label, line[0][1])
        for label, line in (
            ("slope over all rankings", of("relay", _slope, slopes)),
            ("adjusted for mean measure and P₀", of("relay adjusted", _slope, slopes)),
            ("Do answers improve more where rankings improve more?", of("relay", _relayed, slopes)),
        )
        if line
    ]
    groups = [
        numbers("P", "p"),
        numbers(f"P less that of {baseline.label}, paired by query", "change"),
        Group(f"Are the answers better than those of {baseline.label}?", of("change", _word, retrievers)),
        numbers("Gain over zero-shot, P − P₀", "gain"),
        Group("Are the answers better than zero-shot?", of("gain", _gained, retrievers)),
        Group(f"Relay: between two retrievers, change of P per 0.1 of {measure}@{cell['k']}", of_relay),
    ]
    where = f"k = {count(cell['k'])}, {cell['ordering']} order, {cell['references']} references"
    return {"title": pair.title, "where": where, "groups": [group for group in groups if group.rows],
            "anchor": f"s{place + 1}"}  # fmt: skip


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


def _named(text: str, partner: str | None) -> str:
    return f"{partner}: {text}" if partner else text


def _interval(row: Row) -> str:
    return with_interval(row["value"], row["low"], row["high"])


def _with_n(row: Row) -> str:
    return f"{_interval(row)}, {counted(row['n'], 'query', 'queries')}"


def _slope(row: Row) -> str:
    slope, low, high = (None if row[name] is None else row[name] / 10 for name in ("value", "low", "high"))
    shown = with_interval(slope, low, high)
    return f"{shown}, {row['reason']}" if row["reason"] else f"{shown}, {counted(row['n'], 'query', 'queries')}"


def _relayed(row: Row) -> str:
    return RELAYED.get(row["verdict"]) or str(row["verdict"])


def _gained(row: Row) -> str:
    return str(row["verdict"] or row["reason"] or ABSENT)


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


def _limits(sides: Sequence[SideStudy], rows: pl.DataFrame) -> list[str]:
    cells = distinct(rows.filter(quantity="change"), ("study", *STUDY_PART, "retriever", "ordering", "references"))
    cells = cells.filter(~pl.col("references").str.ends_with(UNSEEN))
    tested = cells.drop_nulls("p_verdict")
    kept = {word: cells.filter(pl.col("p_holm") < ALPHA, verdict=word).height for word in (BETTER, WORSE)}
    words = {word: cells.filter(verdict=word).height for word in (BETTER, WORSE, UNDECIDED, TOO_FEW)}
    baseline = sides[0].label
    return [
        "A word is said of one study and one retriever, as on the page that compares the two, without correction for "
        "the number of studies.",
        f"Over all studies and {counted(cells.height, 'cell')}, P is better in {count(words[BETTER])}, worse in "
        f"{count(words[WORSE])}; after Holm’s correction better in {count(kept[BETTER])} and worse in "
        f"{count(kept[WORSE])}. {about(tested.height * ALPHA).capitalize()} expected by chance if nothing had changed.",
        "Holm’s correction is over all studies, retrievers, orderings and k of one dataset, generator, scorer and "
        "reference set. The page of one study corrects for its own cells alone.",
        f"All studies are compared with the same answers of {baseline}: where these are good or poor by chance, all "
        "studies look worse or better together.",
        f"To compare two others with each other, make one of them the baseline: a study that is better than {baseline} "
        "is not shown to be better than one that is undecided.",
        "P and gain are of each study’s own queries, changes of the queries that it and the baseline have in common.",
    ]
