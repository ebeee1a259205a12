"""Write sentences that state a section's findings and limitations, and a summary of the study."""

import math

import polars as pl

from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.analysis.significance import CELLS
from ragrelay.base.vocabulary.columns import CELL
from ragrelay.base.vocabulary.names import UNSCORED, UNSEEN
from ragrelay.report import verdict_sentences
from ragrelay.report.display.findings import Findings, Row
from ragrelay.report.display.numbers import about, count, counted, listing, number, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import facts_of
from ragrelay.report.study import ReportedStudy

TEST_CELLS = ("mark", "quantity", "references", *CELLS)


def summary(study: ReportedStudy) -> list[str]:
    """Write sentences that state the study's question and the size of the study's grid."""
    grid = study.grid
    datasets = list(dict.fromkeys(section.dataset for section in study.sections))
    generators = list(dict.fromkeys(section.generator for section in study.sections))
    scorers = list(dict.fromkeys(section.scorer for section in study.sections))
    pairs = {(section.dataset, section.generator) for section in study.sections}
    cells = len(pairs) * math.prod(map(len, (grid.retrievers, grid.contexts, grid.seeds)))
    ranked = [name for name in grid.retrievers if not study.sections or name in study.sections[0].rankings]
    designed = [name for name in grid.retrievers if name not in ranked]
    parts = [
        (datasets, "dataset"), (generators, "generator"), (ranked, "retriever"), (designed, "oracle"),
        (list(grid.orderings), "ordering"), (scorers, "scorer"),
    ]  # fmt: skip
    named = [f"{counted(len(names), noun)} ({', '.join(names)})" for names, noun in parts if names]
    ks = listing([str(k) for k in grid.k])
    closer = "how much closer to the query’s references the answer is with this context than without any"
    higher = "how much higher a judge scores the answer with this context than without any"
    judged = [name for name in scorers if name in study.judges]
    utility = closer if len(judged) < len(scorers) else higher
    baseline = any(section.baseline for section in study.sections)
    zero_shot = ", plus the zero-shot answers" if baseline else ""
    related = f"the context’s utility: {utility}" if baseline else "P, the quality of the answer"
    return [
        "For each query, this study relates the quality of the retrieved context "
        f"({listing([f'{name}@k' for name in grid.measures])}) to {related}.",
        *([f"With {listing(judged)}, utility is {higher}."] if baseline and judged and utility == closer else []),
        f"It covers {'; '.join(named)}; contexts of {ks} {'passage' if ks == '1' else 'passages'}; and "
        f"{counted(len(grid.seeds), 'seed')}. That gives {counted(cells, 'cell')}{zero_shot}.",
    ]


def findings(section: Section) -> Findings:
    """Write a section's findings and limitations, for the primary comparison's cell and over all cells."""
    grid = section.grid
    ordering, k, grade, measure = section.lead.values()
    here = (pl.col("k") == k) & (pl.col("ordering") == ordering) & (pl.col("retriever").is_in(grid.retrievers))
    cells = section.ordered(section["utility"].filter(here, pl.col("references") == grade)).to_dicts()
    rho = section["correlation"].filter(
        pl.col("coefficient") == DECIDES, pl.col("subset") == "all", pl.col("measure") == measure
    )
    headline = section.ordered(rho.filter(here, pl.col("references") == grade)).to_dicts()
    gains = {
        references: section.ordered(section["gain"].filter(here, pl.col("references") == references))
        for references in (grade, grade + UNSEEN)
    }
    tests = section["significance"].filter(pl.col("references").is_in(section.grades))
    of_cell = {
        name: section.ordered(section[name].filter(here, pl.col("references") == grade)).to_dicts()
        for name in ("equivalence", "coupling")
    }
    coupled = [row for row in of_cell["coupling"] if section.baseline and row["measure"] == measure]
    of_grades = rho.filter(pl.col("references").is_in(section.grades))
    lines = verdict_sentences.equivalence(of_cell["equivalence"])
    if section.baseline:
        lines = [
            *verdict_sentences.gains(gains[grade].to_dicts()),
            *lines,
            *verdict_sentences.correlations(headline, f"{measure}@{k}"),
            *verdict_sentences.correlation_counts(of_grades, measure, section.rankings),
            verdict_sentences.gain_counts(section),
        ]
    limits = [
        *verdict_sentences.flags(section),
        *verdict_sentences.coupling(coupled, f"{measure}@{k}"),
        *_power(section["correlation"].filter(here, pl.col("references") == grade, pl.col("subset") == "all")),
        *verdict_sentences.equal_length(facts_of(section)),
        *verdict_sentences.sizes(facts_of(section)),
        *_copying(section, cells, gains[grade], gains[grade + UNSEEN]),
        *_multiplicity(tests),
        *(_missing(cells, section.relative) if section.baseline else []),
        *(["Only one seed was used, so the study can’t show how much answers to the same prompt vary with the seed."]
          if len(grid.seeds) == 1 else []),
        "A correlation over queries doesn’t show causation: a query that is easy to retrieve for may also be easy "
        "to answer. Comparing contexts of the same query rules out this explanation but no others; "
        f"{verdict_sentences.CAUSE}.",
    ]  # fmt: skip
    return Findings(f"k = {k}, {ordering} order, {grade} references", lines, limits)


def unscored(study: ReportedStudy, section: Section) -> list[str]:
    """State how many of the section's answers the judge couldn't score, if any."""
    key = {"generator": section.generator, "scorer": section.scorer}
    counts = [row for row in study.left_out if row["what"] == UNSCORED and row["dataset"] == section.dataset]
    number = sum(row["count"] for row in counts if row["detail"].items() >= key.items())
    if not number:
        return []
    return [
        f"{section.scorer} gave no score to {counted(number, 'answer')}, because there was no context, sentence or "
        "nugget to judge (see “Left out”). The results exclude answers without a score."
    ]


def _power(correlations: pl.DataFrame) -> list[str]:
    known = correlations.filter(coefficient=DECIDES).drop_nulls("detectable")
    if known.is_empty():
        return []
    row = known.row(0, named=True)
    return [
        f"With {count(row['n'])} queries, 80% of studies would detect a true ρ of ±{number(row['detectable'], 2)}. "
        "Weaker correlations are detected less often, so “undecided” doesn’t mean “unrelated”. Verdicts on "
        "correlations over queries are based on ρ, because intervals for Pearson’s r miss their nominal coverage on "
        "skewed data."
    ]


def _copying(section: Section, cells: list[Row], gains: pl.DataFrame, unseen: pl.DataFrame) -> list[str]:
    known = [row for row in cells if row["share_best_in_context"]]
    if not known:
        return []
    most = max(known, key=lambda row: round(row["share_best_in_context"], 9))
    answered = section["per_query"].filter(**{name: most[name] for name in CELL})["p"].count()
    sentence = (
        f"With {most['retriever']}, the best-matching reference was in the context for "
        f"{share(most['share_best_in_context'])} of the answers to {counted(answered, 'query', 'queries')}"
        f"{verdict_sentences.as_processed(section, [most['retriever']])}, so P also rewards copying"
    )
    own = [frame.filter(retriever=most["retriever"]).drop_nulls("mean_difference") for frame in (gains, unseen)]
    if any(frame.is_empty() for frame in own):
        return [sentence + "."]
    on_all, on_unseen = (frame.row(0, named=True) for frame in own)
    gain = with_interval(on_unseen["mean_difference"], on_unseen["low"], on_unseen["high"])
    return [
        f"{sentence}. If answers are scored only against references outside the context, the mean gain is {gain} over "
        f"{counted(on_unseen['n'], 'query', 'queries')}, instead of {number(on_all['mean_difference'])}."
    ]


def _multiplicity(tests: pl.DataFrame) -> list[str]:
    tested = distinct(tests.drop_nulls(["significant", "p_value"]), TEST_CELLS)
    if tested.height < 2:
        return []
    of = "P and utility" if tested["quantity"].n_unique() > 1 else "P"
    return [
        f"† and ‡ come from {count(tested.height)} uncorrected tests of {of} at the 5% level (not counting unseen "
        f"references). By chance alone, {about(tested.height * ALPHA)} would be significant on average; here, "
        f"{count(tested.filter('significant').height)} are "
        f"({count(tested.filter(pl.col('p_holm') < ALPHA).height)} after Holm’s correction within each family)."
    ]


def _missing(cells: list[Row], relative: bool) -> list[str]:
    null = max((row["n_null"] or 0 for row in cells), default=0)
    low = max((row["n_low_p0"] or 0 for row in cells), default=0) if relative else 0
    empty = max((row["n_without_results"] or 0 for row in cells), default=0)
    why = "P is missing or P₀ is not above 0" if relative else "P or P₀ is missing"
    parts = [f"up to {counted(null, 'query', 'queries')} without a utility value ({why})"] if null else []
    parts += [f"up to {counted(low, 'query', 'queries')} with P₀ below 0.1, where relative utility tends to be large"
              ] if low else []  # fmt: skip
    parts += [f"up to {counted(empty, 'query', 'queries')} without retrieved passages, for which P equals P₀"
              ] if empty else []  # fmt: skip
    return [f"Each cell has {listing(parts)}."] if parts else []
