"""What was found, in sentences with the numbers filled in, and what the data can't say."""

import math
from typing import Any

import polars as pl
from scipy import stats

from ragrelay.display.findings import Findings, side_of_zero
from ragrelay.display.numbers import count, counted, listing, number, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.report.study import Study
from ragrelay.vocabulary.references import UNSEEN

LEVEL = 0.05
Row = dict[str, Any]


def summary(study: Study) -> list[str]:
    """What the study asked, and the size of its grid."""
    grid = study.grid
    datasets = list(dict.fromkeys(section.dataset for section in study.sections))
    generators = list(dict.fromkeys(section.generator for section in study.sections))
    scorers = list(dict.fromkeys(section.scorer for section in study.sections))
    pairs = {(section.dataset, section.generator) for section in study.sections}
    cells = len(pairs) * math.prod(map(len, (grid.retrievers, grid.contexts, grid.seeds)))
    parts = [
        (datasets, "dataset"), (generators, "generator"), (list(grid.retrievers), "retriever"),
        (list(grid.orderings), "ordering"), (scorers, "scorer"),
    ]  # fmt: skip
    named = [f"{counted(len(names), noun)} ({', '.join(names)})" for names, noun in parts]
    ks = listing([str(k) for k in grid.k])
    return [
        "For each query, this study sets how well the context "
        f"was retrieved ({listing([f'{name}@k' for name in grid.measures])}) against its utility: how much nearer to "
        "the query’s references the answer came than the answer made without any context.",
        f"It covers {'; '.join(named)}; contexts of {ks} {'passage' if ks == '1' else 'passages'}; and "
        f"{counted(len(grid.seeds), 'seed')}: {counted(cells, 'cell')} of answers, besides the zero-shot ones.",
    ]


def findings(section: Section) -> Findings:
    """Sentences about the largest k, in the grid's first ordering, at the first grade; and over the whole grid."""
    grid = section.grid
    k, ordering, grade = max(grid.k), grid.orderings[0], section.grades[0]
    here = (pl.col("k") == k) & (pl.col("ordering") == ordering) & (pl.col("retriever").is_in(grid.retrievers))
    cells = section.ordered(section["utility"].filter(here, pl.col("references") == grade)).to_dicts()
    unseen = {
        row["retriever"]: row
        for row in section["utility"].filter(here, pl.col("references") == grade + UNSEEN).iter_rows(named=True)
    }
    rs = section["correlation"].filter(
        pl.col("coefficient") == "pearson", pl.col("subset") == "all", pl.col("measure") == grid.measure
    )
    headline = section.ordered(rs.filter(here, pl.col("references") == grade)).to_dicts()
    plain = rs.filter(pl.col("references").is_in(section.grades)).to_dicts()
    tests = section["significance"].filter(pl.col("references") == grade, pl.col("quantity") == "utility")
    found = [
        *_utilities(cells, section.relative),
        *_differences(tests.filter(here, pl.col("mark") == "†"), section.reference_retriever),
        *_correlations(headline, f"{grid.measure}@{k}"),
        *_whole_grid(plain, grid.measure),
    ]
    limits = [
        *_power(headline),
        *_copying(cells, unseen),
        *_multiplicity(section["significance"].filter(pl.col("references").is_in(section.grades))),
        *_missing(cells),
        *(["One seed was used, so nothing is known of how answers to the same prompt vary."] if len(grid.seeds) == 1
          else []),
        "A correlation over queries doesn’t show a cause: a query that is easy to retrieve for may also be easy to "
        "answer.",
    ]  # fmt: skip
    return Findings(f"k = {k}, {ordering} order, {grade} references", found, limits)


def smallest_r(n: int) -> float:
    """The smallest Pearson's r that a two-sided t-test tells from zero at the 5% level: t / sqrt(n - 2 + t^2)."""
    t = float(stats.t.ppf(1 - LEVEL / 2, n - 2))
    return t / math.sqrt(n - 2 + t * t)


def _utilities(cells: list[Row], relative: bool) -> list[str]:
    known = sorted((row for row in cells if row["mean_utility"] is not None), key=lambda row: -row["mean_utility"])
    if not known:
        return ["No query has a utility here."]
    shown = [f"{row['retriever']} ({with_interval(row['mean_utility'], row['low'], row['high'])})" for row in known]
    meaning = (
        "a utility of 0.1 is a P 10% above the zero-shot P" if relative
        else "a utility of 0.1 is a P 0.1 above the zero-shot P"
    )  # fmt: skip
    if len(known) == 1:
        return [f"Mean utility is {shown[0]}; {meaning}."]
    between = f", in between {listing(shown[1:-1])}" if len(shown) > 2 else ""
    sentence = f"Mean utility is highest for {shown[0]} and lowest for {shown[-1]}{between}; {meaning}."
    kinds = (
        (1, "better than zero-shot"), (-1, "worse than zero-shot"), (0, "not to be told from zero-shot"),
    )  # fmt: skip
    sides = [
        f"{text}: {listing([row['retriever'] for row in known if side_of_zero(row) == side])}"
        for side, text in kinds
        if any(side_of_zero(row) == side for row in known)
    ]
    return [sentence, f"By these intervals, {'; '.join(sides)}."] if sides else [sentence]


def _differences(tests: pl.DataFrame, reference_retriever: str | None) -> list[str]:
    if reference_retriever is None:
        return []
    others = tests.filter(pl.col("retriever") != reference_retriever, pl.col("significant").is_not_null())
    if others.is_empty():
        return []
    differ = others.filter(pl.col("significant"))["retriever"].to_list()
    same = others.filter(~pl.col("significant"))["retriever"].to_list()
    parts = [f"{listing(differ)} {'differs' if len(differ) == 1 else 'differ'}"] if differ else []
    parts += [f"{listing(same)} {'does' if len(same) == 1 else 'do'} not"] if same else []
    return [f"Tested against {reference_retriever} (†, uncorrected), {'; '.join(parts)}."]


def _correlations(rows: list[Row], measure: str) -> list[str]:
    def named(side: int) -> list[str]:
        return [
            f"{row['retriever']} ({with_interval(row['value'], row['low'], row['high'], 2)})"
            for row in rows
            if row["value"] is not None and side_of_zero(row) == side
        ]

    kinds = ((1, "positive, with an interval above zero, for"), (-1, "negative, with an interval below zero, for"),
             (0, "undecided, with an interval that includes zero, for"))  # fmt: skip
    parts = [f"{text} {listing(named(side))}" for side, text in kinds if named(side)]
    none = [f"{row['retriever']} ({row['reason'] or 'no reason given'})" for row in rows if row["value"] is None]
    parts += [f"not defined for {listing(none)}"] if none else []
    return [f"Pearson’s r of {measure} and utility over queries is {'; '.join(parts)}."] if parts else []


def _whole_grid(rows: list[Row], measure: str) -> list[str]:
    sides = [side_of_zero(row) for row in rows if row["value"] is not None]
    if not sides:
        return []
    return [
        f"Over the whole grid (retriever, ordering, k and grade), {counted(len(sides), 'cell')} "
        f"{'has' if len(sides) == 1 else 'have'} an r of {measure}@k and utility: {sides.count(1)} with an interval "
        f"above zero, {sides.count(-1)} below, {sides.count(0)} with zero inside"
        + (f", {sides.count(None)} without an interval." if None in sides else ".")
    ]


def _power(rows: list[Row]) -> list[str]:
    sizes = [row["n"] for row in rows if row["value"] is not None and row["n"] > 2]
    if not sizes:
        return []
    n = max(sizes)
    undecided = sum(side_of_zero(row) == 0 for row in rows if row["value"] is not None)
    note = " An interval that includes zero is no sign that nothing is relayed." if undecided else ""
    return [f"With {count(n)} queries, an r nearer to zero than ±{number(smallest_r(n), 2)} can’t be told from "
            f"zero.{note}"]  # fmt: skip


def _copying(cells: list[Row], unseen: dict[str, Row]) -> list[str]:
    known = [row for row in cells if row["share_best_in_context"]]
    if not known:
        return []
    most = max(known, key=lambda row: row["share_best_in_context"])
    other = unseen.get(most["retriever"])
    sentence = (
        f"With {most['retriever']}, the reference nearest to the answer stood in the context for "
        f"{share(most['share_best_in_context'])} of the answers, so P also rewards copying"
    )
    if other is None or other["mean_utility"] is None:
        return [sentence + "."]
    alone = with_interval(other["mean_utility"], other["low"], other["high"])
    return [
        f"{sentence}: against references that were not in the context, its mean utility is {alone} instead of "
        f"{number(most['mean_utility'])}."
    ]


def _multiplicity(tests: pl.DataFrame) -> list[str]:
    made = tests.filter(pl.col("significant").is_not_null(), pl.col("p_value").is_not_null())
    if made.height < 2:
        return []
    chance = round(made.height * LEVEL)
    return [
        f"The marks † and ‡ rest on {count(made.height)} tests at an uncorrected 5%, of which "
        f"{f'about {count(chance)}' if chance else 'fewer than 1'} would come out significant if nothing differed; "
        f"{count(made.filter('significant').height)} do, and {count(made.filter(pl.col('p_holm') < LEVEL).height)} "
        "after Holm’s correction within their families."
    ]


def _missing(cells: list[Row]) -> list[str]:
    null = max((row["n_null"] or 0 for row in cells), default=0)
    low = max((row["n_low_p0"] or 0 for row in cells), default=0)
    said = (
        [f"up to {counted(null, 'query', 'queries')} without a utility, for want of a P or a P₀ above 0"]
        if null
        else []
    )
    said += [f"up to {counted(low, 'query', 'queries')} with a P₀ below 0.1, where a relative utility is easily large"
             ] if low else []  # fmt: skip
    return [f"A cell has {listing(said)}."] if said else []
