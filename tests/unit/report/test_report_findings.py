"""The sentences of the report against the numbers that they speak of."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.labellings import ALL, HIGHEST, LOWEST, NONE
from ragrelay.analysis.verdicts import OF_DIFFERENCE
from ragrelay.base.vocabulary.names import UNSCORED
from ragrelay.report import answer_findings
from ragrelay.report.display.findings import side_of_zero
from ragrelay.report.display.numbers import interval, with_interval
from ragrelay.report.display.sections import Grid, Section
from ragrelay.report.facts import facts_of
from ragrelay.report.findings import findings, summary, unscored
from ragrelay.report.lead import lead, scope
from ragrelay.report.lead_answers import MOST_WORDS, answers, compared, ranked_well, short
from ragrelay.report.lead_figure import signed
from ragrelay.report.lead_table import table
from ragrelay.report.lead_warnings import relay_with_holes
from ragrelay.report.part_headings import headings
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy
from ragrelay.report.verdict_sentences import gain_counts, how_relayed
from ragrelay.report.verdict_tables import holes_table, within_table
from ragrelay.scoring.filed_scores import WITHOUT_SCORE

from tests.support.report_study import CELL, changed, write_study

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ReportedStudy:
    return read_study(**write_study(tmp_path_factory.mktemp("study")))


def test_summary_counts_the_grid(study: ReportedStudy):
    text = " ".join(summary(study))
    assert "72 cells" in text  # 4 retrievers x 2 orderings x 3 k x 3 seeds
    assert "2 retrievers (bm25, dense); 2 oracles (rel, nrel)" in text
    assert "contexts of 1, 2 and 5 passages" in text
    more = replace(study, sections=(*study.sections, replace(study.sections[0], scorer="rouge")))
    assert "72 cells" in " ".join(summary(more))  # another scorer needs no other answers


def processed(grid: Grid, *names: str) -> Grid:
    """The grid, in which these retrievers show others' passages through processors."""
    return replace(grid, kinds={**grid.kinds, **dict.fromkeys(names, "processed")})


def headline(section: Section, name: str, references: str = "lenient") -> pl.DataFrame:
    return section[name].filter(
        pl.col("k") == 5, pl.col("ordering") == "descending", pl.col("references") == references
    )


def test_gains_are_sorted_by_verdict_and_utility_stands_beside_them(study: ReportedStudy):
    section = study.sections[0]
    cells = {row["retriever"]: row for row in headline(section, "gain").iter_rows(named=True)}
    found = findings(section).sentences
    assert cells["rel"]["verdict"] == "better" and cells["nrel"]["verdict"] == "worse"
    assert f"rel ({cells['rel']['mean_difference']:.3f} [" in found[0].partition("; ")[0]
    assert f"worse than zero-shot for nrel (−{abs(cells['nrel']['mean_difference']):.3f} [" in found[0]
    rel = cells["rel"]
    said = f"{100 * rel['ratio_of_means']:.0f}% ({rel['mean_utility']:.2f}, {rel['median_utility']:.2f}) with rel"
    assert said in found[1]
    assert "better" not in found[1]


def test_no_cell_is_better_by_its_utility_alone(study: ReportedStudy):
    section = study.sections[0]
    # The worst retriever with the best utility: one query's, and of another sign than its gain.
    odd = pl.col("retriever") == "nrel"
    gain = section["gain"].with_columns(
        pl.when(odd).then(9.0).otherwise("mean_utility").alias("mean_utility"),
        pl.when(odd).then(True).otherwise("utility_disagrees").alias("utility_disagrees"),
        pl.when(odd).then(0.7).otherwise("largest_share").alias("largest_share"),
        pl.when(odd).then(pl.lit("1007")).otherwise("largest_qid").alias("largest_qid"),
    )
    utility = section["utility"].with_columns(
        pl.when(odd).then(pl.lit(9.0)).otherwise(name).alias(name) for name in ("mean_utility", "low", "high")
    )
    said = findings(changed(section, gain=gain, utility=utility))
    assert "worse than zero-shot for nrel" in said.sentences[0]
    # Two orderings at k = 1 are one cell: five cells of nrel at either grade.
    assert (
        "In 10 combinations of retriever, ordering, k and references, mean utility and mean gain have opposite signs "
        "(nrel, descending, k = 1, lenient; " in said.limits[0]
    )
    assert "accounts for more than 20% of the sum of |utility|: query 1007 for 70% (nrel, descending" in said.limits[1]


def test_correlations_are_sorted_by_verdict(study: ReportedStudy):
    section = study.sections[0]
    # Three made-up verdicts; nrel has no correlation.
    ends = {"bm25": (0.4, 0.1, 0.6), "dense": (-0.4, -0.6, -0.1), "rel": (0.1, -0.2, 0.4)}
    words = {"bm25": "above zero", "dense": "below zero", "rel": "undecided"}
    mine = (pl.col("retriever") != "nrel") & (pl.col("coefficient") == "spearman")
    correlation = section["correlation"].with_columns(
        *(
            pl.when(mine).then(pl.col("retriever").replace_strict(
                {name: value[place] for name, value in ends.items()}, default=None)).otherwise(column).alias(column)
            for place, column in enumerate(("value", "low", "high"))
        ),
        pl.when(mine).then(pl.col("retriever").replace_strict(words, default=None)).alias("verdict"),
        p_permutation=pl.when(mine).then(pl.when(retriever="rel").then(0.04).otherwise(0.001)),
        remark=pl.lit(None, pl.String),
    )  # fmt: skip
    text = " ".join(findings(changed(section, correlation=correlation)).sentences)
    assert "utility over queries: above zero for bm25 (0.40 [0.10, 0.60]); below zero for dense" in text
    assert "−0.10]); sign undecided for rel (0.10 [−0.20, 0.40]); undefined for nrel (nDCG is" in text
    # 3 retrievers x 2 grades x 5 cells, the two orderings at k = 1 being one.
    assert (
        "is defined for 30 combinations of retriever (oracles included), ordering, k and grade. After Holm’s "
        "correction, ρ is above zero in 10, below zero in 10 and undecided in 10. Without the correction, p < 0.05 in "
        "30; chance alone would give about 2 on average." in text
    )


def test_a_heading_counts_the_combinations_without_a_rho(study: ReportedStudy):
    section = study.sections[0]

    def heading(without: pl.Expr) -> str:
        known = [pl.when(~without).then(pl.col(name)).alias(name) for name in ("value", "verdict")]
        return headings(facts_of(changed(section, correlation=section["correlation"].with_columns(known)))).get(
            "relayed", ""
        )

    last = (pl.col("k") == 5) & (pl.col("retriever") == "dense")
    ends = (pl.col("k") < 5, "; ρ is undefined in 4"), (last, "; ρ is undefined in 1"), (pl.lit(False), "")
    for without, end in ends:
        text = heading(without)
        assert text.startswith("Queries with better rankings have higher utility in ")
        assert text.endswith(end) and ("ρ" in text) == bool(end), text
        assert " 6 combinations" in text and sum(map(int, re.findall(r"(?<!of )(?<!of the )\b\d+", text))) == 6, text
    assert heading(pl.lit(True)) == ""


def test_limits_name_n_copying_and_multiplicity(study: ReportedStudy):
    section = study.sections[0]
    text = " ".join(findings(section).limits)
    assert "With 36 queries, 80% of studies would detect a true ρ of ±0.49." in text
    share = headline(section, "utility").filter(retriever="rel")["share_best_in_context"].item()
    unseen = headline(section, "gain", "lenient-unseen").filter(retriever="rel").row(0, named=True)
    assert f"With rel, the best-matching reference was in the context for {100 * share:.0f}% of the" in text
    assert f"the mean gain is {unseen['mean_difference']:.3f} [" in text
    tests = section["significance"].filter(pl.col("references").is_in(section.grades))
    # The two orderings at k = 1 are one test of †, and no test of ‡.
    twice = tests.filter(pl.col("k") == 1, pl.col("mark") == "†", pl.col("ordering") == "ascending")
    twice = twice.filter(pl.col("retriever") != "rel")
    once = tests.drop_nulls("p_value").join(twice, on=["mark", *CELL, "quantity"], how="anti")
    assert f"come from {once.height} uncorrected tests" in text
    assert f"{once['significant'].sum()} are (" in text


def test_equivalence_and_coupling_are_given_with_their_numbers(study: ReportedStudy):
    section = study.sections[0]
    rows = headline(section, "equivalence")
    said = findings(changed(section, equivalence=section["equivalence"].with_columns(verdict=pl.lit("equivalent"))))
    first = rows.filter(retriever="bm25").row(0, named=True)
    assert said.sentences[2].startswith("Compared with rel (margin 0.02 in P, Bonferroni-corrected intervals): bm25 (")
    assert f"bm25 (−{abs(first['mean_difference']):.3f} [" in said.sentences[2] and "equivalent" in said.sentences[2]
    coupled = headline(section, "coupling").filter(retriever="bm25").row(0, named=True)
    text = " ".join(said.limits)
    assert f"over queries, Pearson’s r between P₀ and utility is −{abs(coupled['r_p0_utility']):.2f} with bm25" in text


def relayed(section: Section, word: str, adjusted: str) -> Section:
    verdict = pl.when("adjusted").then(pl.lit(adjusted)).otherwise(pl.lit(word))
    return changed(section, relay=section["relay"].with_columns(verdict=verdict))


def of_relay(section: Section) -> str:
    return answers(facts_of(section))[1].sentence


def test_relay_is_said_where_both_rows_say_so(study: ReportedStudy):
    section = study.sections[0]
    rows = section["relay"].filter(
        retrievers="all rankings", ordering="descending", k=5, references="lenient", measure="nDCG"
    )
    row, adjusted = (rows.filter(adjusted=adjusted).row(0, named=True) for adjusted in (False, True))
    own, other = (short(*(one[name] / 10 for name in ("slope", "low", "high"))) for one in (row, adjusted))
    assert row["n"] == adjusted["n"]
    measured = f"P changes by {own} per 0.1 of nDCG@5"
    both = f"{measured} ({other} when adjusted for difficulty;"
    alone = f"when adjusted for difficulty, P changes by {other} per 0.1 of nDCG@5"
    # The intervals of the rows that decided are printed, and no other.
    for words, strong, numbers in (
        (("above zero", "above zero"), "Answers improve more where rankings improve more", both),
        (("above zero", "undecided"), "We do not know", alone),
        (("undecided", "above zero"), "We do not know", measured),
        (("undecided", "undecided"), "We do not know", both),
        (("above zero", "below zero"), "We do not know", both),
    ):
        said = of_relay(relayed(section, *words))
        numbers += "" if numbers == both else " ("
        assert said == f"{strong}: {numbers}{row['n']} queries whose contexts differ).".replace(";", "; ")
        assert len(said.split()) <= MOST_WORDS
    (how,) = how_relayed(facts_of(section))
    long = [f"{row[name] / 10:.3f}".replace("-", "−") for name in ("slope", "low", "high")]
    assert f"P changes by {long[0]} [{long[1]}, {long[2]}], by " in how and " when adjusted for difficulty" in how
    below = relayed(section, "below zero", "below zero")
    for p_value, word in ((0.009, "Answers improve less where rankings improve more: "), (0.03, "We do not know: ")):
        said = of_relay(changed(below, relay=below["relay"].with_columns(p_value=p_value)))
        assert said.startswith(word) and ("only if p < 0.01" in said) == (p_value > 0.01)
    few = relayed(section, "above zero", "too few queries")
    reasons = pl.when("adjusted").then(pl.lit("3.9 effective queries, but 6 are needed")).otherwise(pl.lit("not this"))
    of_adjusted = changed(few, relay=few["relay"].with_columns(reason=reasons))
    assert of_relay(of_adjusted) == (
        "We cannot tell: the slope adjusted for difficulty cannot be tested (3.9 effective queries, but 6 are needed)."
    )  # of all queries differ, but they weigh too little


def test_the_page_opens_with_no_correlation_within_queries(study: ReportedStudy):
    section = study.sections[0]
    assert answers(facts_of(section)) == answers(facts_of(changed(section, within=section["within"].clear())))


def test_the_page_opens_with_the_primary_pair(study: ReportedStudy):
    section = study.sections[0]
    (row,) = section["systems"].filter(role="primary").to_dicts()
    means = section["utility"].filter(ordering="descending", k=5, references="lenient")
    one, other = (means.filter(retriever=name)["nDCG"].item() for name in ("dense", "bm25"))
    p_one, p_other = (means.filter(retriever=name)["mean_p"].item() for name in ("dense", "bm25"))

    def saying(**values: object) -> str:
        standing = {"stands": pl.lit(True), "remark": pl.lit(None, pl.String), **values}
        return compared(facts_of(changed(section, systems=section["systems"].with_columns(**standing)))).sentence

    difference = short(row["mean_difference"], row["low"], row["high"], row["margin"])
    numbers = f"(difference {difference}, 36 queries)."
    assert one > other, "else the sentence says so"
    quality = f"answer quality P is {p_one:.2f} against {p_other:.2f}"
    known = f"nDCG@5 is {one:.2f} against {other:.2f}, and {quality} {numbers}"
    assert saying(verdict=pl.lit("better")) == f"Answers are better with dense than with bm25: {known}"
    assert saying(verdict=pl.lit("undecided")) == (
        f"We do not know whether dense or bm25 gives better answers: {known}"
    )
    remark = "A single further query with a difference of 0.25 in the other direction would overturn this verdict."
    fallen = saying(verdict=pl.lit("better"), stands=pl.lit(False))
    assert fallen == f"Answers are better with dense than with bm25: {known} {remark}"
    for word in OF_DIFFERENCE:
        said = saying(verdict=pl.lit(word))
        assert len(said.split()) <= MOST_WORDS
        assert ("not know" in said) == (word in ("undecided", "not worse", "not better")), said
        assert not re.search(r"\byes\b|no difference|significant|possibly", said, re.IGNORECASE)
    # The winner is named first, and it is said where it ranks worse.
    won = saying(verdict=pl.lit("worse"))
    assert won.startswith("Answers are better with bm25 than with dense, although dense ranks better: ")
    assert "[−" in won if row["high"] > 0 else "[−" not in won
    assert saying(verdict=pl.lit("not better")).startswith(
        "Answers are at most 0.02 (margin) worse with bm25 than with dense; "
    )
    none = saying(mean_difference=None, low=None, high=None, verdict=pl.lit("too few queries"), n=4,
                  reason=pl.lit("fewer than 5 queries"), remark=pl.lit("4 queries, but 12 are needed"))  # fmt: skip
    assert none == "Too few queries to say whether dense or bm25 gives better answers: 4 queries, but 12 are needed."
    said = saying(verdict=pl.lit("undecided"), remark=pl.lit("only Student’s t-test is significant"))
    assert said.endswith(f"gives better answers: {known} Only Student’s t-test is significant.")


def test_means_over_other_queries_than_the_difference_are_not_compared(study: ReportedStudy):
    section = study.sections[0]

    def shown(n_unpaired: int) -> tuple[str, str]:
        values = {"verdict": pl.lit("worse"), "n_unpaired": pl.lit(n_unpaired)}
        facts = facts_of(changed(section, systems=section["systems"].with_columns(**values)))
        return compared(facts).sentence, next(row["measure"] for row in table(facts)["rows"] if row["kind"] == "pair")

    said, difference = shown(0)
    assert ", although dense ranks better: nDCG@5 is " in said and difference
    said, difference = shown(18)
    assert said.startswith("Answers are better with bm25 than with dense: P differs by ") and not difference


def test_an_end_of_an_interval_is_never_rounded_to_zero_or_the_margin():
    assert short(0.02, 0.004, 0.04) == "0.020 [0.004, 0.040]"
    assert short(0.114, 0.0216, 0.209, 0.02) == "0.114 [0.022, 0.209]"
    assert short(0.02, -0.0004, 0.04) == "0.0200 [−0.0004, 0.0400]"
    assert short(0.114, 0.0216, 0.209) == "0.11 [0.02, 0.21]"
    assert short(0.017, -0.00001, 0.034) == "0.01700 [−0.00001, 0.03400]"
    assert short(0.017, -1e-17, 0.034) == "0.02 [0.00, 0.03]"
    assert with_interval(0.0002, 0.0001, 0.0004) == "0.0002 [0.0001, 0.0004]"
    assert with_interval(0.0002, -0.004, 0.005) == "0.000 [−0.004, 0.005]"
    assert [with_interval(value, None, None) for value in (0.00002, 0.0, 1e-17)] == ["0.00002", "0.000", "0.000"]
    assert interval(-0.00001, 0.02, 2) == "[−0.00001, 0.02000]"


def test_what_changes_the_reading_of_the_answers_is_a_line_where_it_applies(study: ReportedStudy):
    section = study.sections[0]

    def warned(**tables: pl.DataFrame) -> dict[str, str]:
        other = changed(section, **tables)
        return {head: text for head, text, _ in lead(facts_of(other), 1, True, [])["warnings"]}

    utility, systems = section["utility"], section["systems"]
    holes = utility.with_columns(share_unjudged=pl.when(retriever="dense").then(0.123).otherwise(0.01))
    assert warned(utility=holes)["Unjudged passages"].startswith(
        "12% of the passages shown with dense and 1% with bm25"
    )
    assert "Unjudged passages" not in warned(utility=utility.with_columns(share_unjudged=pl.lit(0.05)))
    few = warned(systems=systems.with_columns(n=pl.lit(35), detectable_difference=pl.lit(0.123)))
    assert few["35 queries"] == (
        "a study with this many queries has an 80% chance of detecting a true difference of 0.12 in P between dense "
        "and bm25. Query types rarer than about 1 in 12 may be missing from a sample of 35."
    )
    assert not [head for head in warned(systems=systems.with_columns(n=pl.lit(100))) if "queries" in head]
    copied = utility.with_columns(share_best_in_context=pl.when(retriever="bm25").then(0.98).otherwise(0.1))
    said = "the best-matching reference is in the prompt for 98% of the answers (fewer with dense)"
    assert f"with bm25, {said}" in warned(utility=copied)["Copying"]
    shown_by_a_processor = replace(changed(section, utility=copied), grid=processed(section.grid, "bm25"))
    facts = facts_of(shown_by_a_processor)
    said = "with bm25, the best-matching reference is in the prompt for 98% of the answers, though bm25’s processor may"
    (copying,) = [text for head, text, _ in lead(facts, 1, True, [])["warnings"] if head == "Copying"]
    assert copying.startswith(f"{said} have changed the text (fewer with dense); P may")
    assert f"{said} have changed the text" in headings(facts)["copying"]
    assert "queries, though bm25’s processor may have changed the text, so P also rewards copying" in " ".join(
        findings(shown_by_a_processor).limits
    )
    assert "Copying" not in warned(utility=utility.with_columns(share_best_in_context=pl.lit(0.4)))
    word = pl.when(ordering="ascending").then(pl.lit("worse")).otherwise(pl.lit("better"))
    assert "bm25 is better; the difference is" in warned(systems=systems.with_columns(verdict=word))["Ascending order"]
    assert "Ascending order" not in warned(systems=systems.with_columns(verdict=pl.lit("better")))
    word = pl.when(references="strict").then(pl.lit("worse")).otherwise(pl.lit("better"))
    of_grade = warned(systems=systems.with_columns(verdict=word, level=pl.lit(0.9833)))
    assert of_grade["Strict references"].startswith("bm25 is better; the difference is")
    assert "] (98.3% interval)." in of_grade["Strict references"] and "Ascending order" not in of_grade


def test_where_passages_are_unjudged_the_page_says_whether_the_answer_on_relay_survives(study: ReportedStudy):
    section = study.sections[0]
    where = {"ordering": "descending", "k": 5, "references": "lenient", "measure": "nDCG", "share_unjudged": 0.123}
    slopes = {NONE: 0.3, ALL: 0.35, LOWEST: 0.05, HIGHEST: 0.5}
    table = pl.DataFrame(
        [{**where, "adjusted": adjusted, "labelling": name, "slope": slope, "verdict": "above zero", "p_value": 0.01}
         for adjusted in (False, True) for name, slope in slopes.items()],
        schema_overrides={"k": pl.Int64},
    )  # fmt: skip
    (said,) = relay_with_holes(facts_of(changed(section, holes=table)))
    assert "per 0.1 of nDCG@5 ranges from 0.005 to 0.050 (0.030 if none are relevant, 0.035 if all are)." in said
    assert said.endswith(
        "The answer would remain “answers improve more where rankings improve more” under every labelling tried."
    )
    assert "bound" not in said
    more = {"relevant": 3, "holes": 8, "low": 0.1, "high": 0.4, "reason": None}
    shown = holes_table(changed(section, holes=table.with_columns(**{name: pl.lit(one) for name, one in more.items()})))
    assert shown.rows[0][:5] == ["5", "none relevant", "12%", "3 of 8", "3 of 8"] and len(shown.rows) == 4
    low = table.with_columns(verdict=pl.when(labelling=LOWEST, adjusted=True).then(pl.lit("undecided"))
                             .otherwise("verdict"))  # fmt: skip
    (said,) = relay_with_holes(facts_of(changed(section, holes=low)))
    assert said.endswith("to “we do not know” with the labels that give the lowest slope.")
    assert relay_with_holes(facts_of(section)) == []
    assert relay_with_holes(facts_of(changed(section, holes=table.with_columns(k=pl.lit(1, pl.Int64))))) == []


def test_oracles_are_no_retrievers_whose_queries_are_well_ranked(study: ReportedStudy):
    section = study.sections[0]

    def saying(*words: str) -> str:
        word = pl.col("retriever").replace_strict(["bm25", "dense"], list(words), default="above zero")
        return ranked_well(
            facts_of(changed(section, correlation=section["correlation"].with_columns(verdict=word)))
        ).sentence

    rho = headline(section, "correlation").filter(subset="all", coefficient="spearman")
    value = f"{rho.filter(retriever='bm25')['value'].item():.2f}".replace("-", "−")
    assert saying("above zero", "above zero").startswith(
        f"They do with bm25 and dense: Spearman’s ρ between nDCG@5 and utility is {value} ["
    )
    assert saying("above zero", "undecided").startswith("They do with bm25; we do not know for dense: ")
    assert saying("undecided", "undecided").startswith("We do not know for either retriever: ")
    assert saying("below zero", "undecided").startswith("They have lower utility with bm25; we do not know for dense: ")
    assert "rel" not in saying("undecided", "undecided")


def test_more_than_three_rhos_have_a_range_their_measure_and_their_queries(study: ReportedStudy):
    kinds = dict.fromkeys(study.sections[0].grid.retrievers, "run")
    section = replace(study.sections[0], grid=replace(study.sections[0].grid, kinds=kinds))
    names = section.grid.retrievers

    def saying(words: list[str], values: list[float | None], sizes: list[int]) -> str:
        few = ["9 queries, but 12 are needed"] * 4
        columns: dict[str, list[Any]] = {"verdict": words, "value": values, "n": sizes, "remark": few}
        dtypes = section["correlation"].schema
        new = {name: pl.col("retriever").replace_strict(dict(zip(names, one, strict=True)), return_dtype=dtypes[name])
               for name, one in columns.items()}  # fmt: skip
        said = ranked_well(facts_of(changed(section, correlation=section["correlation"].with_columns(**new))))
        assert len(f"{said.strong}: {said.numbers}".split()) <= MOST_WORDS
        return said.sentence

    values: list[float | None] = [0.311, 0.52, 0.4, 0.45]
    rho = "Spearman’s ρ between nDCG@5 and utility ranges from 0.31 to 0.52"
    holm = " Verdicts use Holm’s correction; query difficulty may explain them."
    for sizes, n in (([36] * 4, "36"), ([36, 30, 35, 36], "30 to 36")):
        said = saying(["above zero"] * 4, values, sizes)
        assert said == f"They do with all retrievers: {rho} ({n} queries).{holm}"
    assert saying(["undecided"] * 4, [-0.1, *values[1:]], [36] * 4) == (
        f"We do not know for any of the 4 retrievers: {rho.replace('0.31', '−0.10')} (36 queries)."
    )
    mixed = saying(["above zero", "below zero", "undecided", "undecided"], values, [36] * 4)
    assert mixed == (
        "They do with 1 of 4 retrievers (bm25): utility is lower with 1; we do not know for 2; "
        f"{rho} (36 queries).{holm}"
    )
    few = saying(["too few queries"] * 4, values, [9] * 4)
    assert few == f"We cannot tell: too few queries (9 queries, but 12 are needed); {rho} (9 queries)."
    five = replace(section, grid=replace(section.grid, retrievers=(*names, "constant"), kinds=kinds))
    above = section["correlation"].with_columns(verdict=pl.lit("above zero"), value=0.4)
    said = ranked_well(facts_of(changed(five, correlation=above))).sentence
    queries = headline(section, "correlation")["n"][0]
    assert said == (
        "They do with 4 of 5 retrievers: Spearman’s ρ between nDCG@5 and utility is 0.40, undefined with 1 "
        f"retriever ({queries} queries).{holm}"
    )


def test_an_oracle_in_the_first_answer_is_not_left_out(study: ReportedStudy):
    section = study.sections[0]
    where = "Unless stated otherwise: k = 5, descending order, lenient references"
    assert scope(section) == f"{where}, oracles excluded. Brackets contain 95% intervals."
    pair = section.primary
    assert pair is not None
    for changed_pair in (pair._replace(retriever="rel"), pair._replace(reference="nrel")):
        of_oracle = replace(section, primary=changed_pair)
        assert (
            scope(of_oracle) == f"{where}, oracles excluded except in the first answer. Brackets contain 95% intervals."
        )
    rankings = replace(section, grid=replace(section.grid, kinds={}), primary=pair._replace(retriever="rel"))
    assert scope(rankings) == f"{where}. Brackets contain 95% intervals."
    assert ", oracles excluded" in scope(replace(section, primary=None))


def test_an_undecided_rho_has_its_reason_beside_the_interval(study: ReportedStudy):
    section = study.sections[0]

    def saying(retrievers: list[str], **columns: object) -> str:
        named = pl.col("retriever").is_in(retrievers)
        values = {name: pl.when(named).then(pl.lit(value)).otherwise(pl.col(name)) for name, value in columns.items()}
        return ranked_well(facts_of(changed(section, correlation=section["correlation"].with_columns(**values)))).remark

    alone = {"verdict": "undecided", "low": 0.1, "high": 0.7, "p_permutation": 0.02}
    holm = "p = 0.02 before and 0.13 after Holm’s correction"
    assert saying(["bm25"], **alone, remark=holm) == f"With bm25, {holm}."
    assert saying(["bm25", "dense"], **alone, remark=holm) == f"With bm25 and dense, {holm}."
    below = alone | {"low": -0.7, "high": -0.1, "p_permutation": 0.0621}
    assert saying(["dense"], **below) == "With dense, p = 0.062 in a permutation test."
    few = "nDCG differs from its most common value for only 5 of 12 queries, but 8 are needed"
    assert saying(["dense"], verdict="too few queries", remark=few) == f"With dense, {few}."
    assert saying(["bm25"], verdict="undecided", low=-0.1, high=0.7) == ""
    assert saying(["bm25"], verdict="undecided", low=None, high=None) == ""
    assert saying(["bm25"], verdict="above zero", low=0.1, high=0.7) == ""


def test_too_few_queries_are_counted_for_each_retriever(study: ReportedStudy):
    section = study.sections[0]

    def saying(dense: str) -> str:
        other = pl.lit("10 queries, but 12 are needed")
        counts = pl.when(pl.col("retriever") == "dense").then(pl.lit(dense)).otherwise(other)
        few = section["correlation"].with_columns(verdict=pl.lit("too few queries"), remark=counts)
        return ranked_well(facts_of(changed(section, correlation=few))).numbers

    both = "(with bm25, 10 queries, but 12 are needed; with dense, 9 queries, but 12 are needed); Spearman’s ρ is "
    assert saying("9 queries, but 12 are needed").startswith(f"too few queries {both}")
    assert saying("10 queries, but 12 are needed").startswith(
        "too few queries (10 queries, but 12 are needed); Spearman’s ρ is "
    )


def test_the_tables_p_over_other_queries_than_the_figures_is_explained(study: ReportedStudy):
    section = study.sections[0]
    bm25 = pl.col("retriever") == "bm25"
    other = section["utility"].with_columns(mean_p=pl.when(bm25).then(pl.lit(0.123)).otherwise("mean_p"))
    fewer = section["gain"].with_columns(n=pl.when(bm25).then(pl.lit(33, pl.Int64)).otherwise("n"))
    said = lead(facts_of(changed(section, utility=other, gain=fewer)), 0, False, [])["table"]["remark"]
    assert (
        "In this table, P is averaged over queries that also have P₀ (33 with bm25); in the figure, over all queries "
        "with P." in said
    )
    assert "in the figure" not in lead(facts_of(section), 0, False, [])["table"]["remark"]


def test_the_answer_counts_the_verdicts_of_all_cells(study: ReportedStudy):
    section = study.sections[0]
    said = gain_counts(section)
    cells = section["gain"].filter(pl.col("references") == "lenient")
    cells = cells.filter(~((pl.col("k") == 1) & (pl.col("ordering") == "ascending")))
    counts = {word: cells.filter(verdict=word).height for word in ("better", "worse", "undecided")}
    assert (
        f"better with context than without in {counts['better']} of 20 cells, worse in {counts['worse']} and "
        f"undecided in {counts['undecided']} (" in said
    )
    assert "chance alone would make answers appear better or worse in about 1 of these cells on average" in said
    few = gain_counts(changed(section, gain=section["gain"].with_columns(verdict=pl.lit("too few queries"))))
    assert few.startswith("All 20 cells have too few queries to say whether answers are better with context than ")


def parts_of(sentence: str, words: list[str], retrievers: tuple[str, ...]) -> dict[str, str]:
    """Which of ``words`` a sentence says of each retriever that it names, read from its text."""
    found: dict[str, str] = {}
    for clause in sentence.split("; "):
        (word,) = [word for word in words if word in clause] or [""]
        for name in re.findall(r"(\w+) \(", clause):
            if name in retrievers and word:
                assert name not in found, f"{name} twice: {sentence}"
                found[name] = word
    return found


@pytest.mark.parametrize("seed", range(6))
def test_no_two_sentences_contradict_each_other(seed: int, tmp_path: Path):
    """Pairs of sentences on drawn studies, some of few queries and with retrievers that hardly differ."""
    study = read_study(**write_study(tmp_path, n=12 + 6 * seed, seed=seed))
    section = study.sections[0]
    names, said = section.grid.retrievers, findings(section)
    gains = parts_of(said.sentences[0], ["better", "worse", "undecided"], names)
    assert set(gains) == set(names)
    cells = {row["retriever"]: row for row in headline(section, "gain").iter_rows(named=True)}
    for name, word in gains.items():
        sign = re.search(rf"{name} \((−?)", said.sentences[0])
        assert sign is not None
        # A word, its number and its interval agree, and the ratio of means has the number's sign.
        assert word == "undecided" or (sign[1] == "−") == (word == "worse")
        assert (cells[name]["low"] > 0) == (word == "better")
        assert (cells[name]["ratio_of_means"] > 0) == (cells[name]["mean_difference"] > 0)
        # Whoever's mean U has the other sign is told so.
        odd = cells[name]["mean_utility"] * cells[name]["mean_difference"] < 0
        assert not odd or "opposite signs" in said.limits[0]
    equal = parts_of(said.sentences[2], ["equivalent", "not worse", "possibly worse"], names)
    for name, word in equal.items():
        # Equivalent to one that is better by more than the margin is not worse than zero-shot.
        if word == "equivalent" and gains["rel"] == "better" and cells["rel"]["low"] > 2 * 0.02:
            assert gains[name] != "worse"
    rho = parts_of(
        next(one for one in said.sentences if "Spearman" in one), ["above zero", "below zero", "undecided"], names
    )
    for row in headline(section, "correlation").filter(subset="all", coefficient="spearman").iter_rows(named=True):
        if row["retriever"] in rho:
            sides = {"above zero": row["low"] > 0, "below zero": row["high"] < 0}
            assert sides.get(rho[row["retriever"]], True)
    # The answer counts what the cells say, and its word is its interval's.
    text = gain_counts(section)
    better = re.search(
        r"without in (?:(\d+) of|(all)|none of the) (\d+) cells?(?:, worse in (\d+) and undecided in (\d+))?", text
    )
    assert better is not None
    some, every, total, *rest = better.groups()
    numbers = [int(one or 0) for one in (some or (total if every else 0), total, *rest)]
    assert numbers[0] + numbers[2] + numbers[3] == numbers[1]
    assert numbers[0] > 0 or "better" not in gains.values()


def test_nothing_is_said_of_what_is_missing(study: ReportedStudy):
    section = study.sections[0]
    names = ("correlation", "significance", "gain", "within", "relay", "systems", "equivalence", "coupling")
    empty = changed(replace(section, reference_retriever=None), **{name: section[name].clear() for name in names})
    found = findings(empty)
    assert found.sentences == ["No query has both P and P₀ here.", "No cell can be compared with zero-shot."]
    assert [one.sentence for one in answers(facts_of(empty))] == [
        "We cannot tell: no query has scores for both dense and bm25.",
        "We cannot tell: no query has scores for two different rankings.", "We cannot tell: no query has a utility.",
    ]  # fmt: skip
    alone = replace(empty, primary=None, grid=replace(empty.grid, retrievers=("bm25", "rel")))
    assert [one.sentence for one in answers(facts_of(alone))][:2] == [
        "This question needs two retrievers, but the study has only one.",
        "This question needs two rankings, but the study has only one.",
    ]
    for names, said in (
        (["dense"], "only one: dense uses another retriever’s ranking with changed texts."),
        (["bm25", "dense"], "none: bm25 and dense use other retrievers’ rankings with changed texts."),
    ):
        of_processors = replace(empty, grid=processed(empty.grid, *names))
        assert of_relay(of_processors) == f"This question needs two rankings, but the study has {said}"
    constant = section["correlation"].with_columns(value=None, reason=pl.lit("nDCG is constant"))
    assert (
        answers(facts_of(changed(section, correlation=constant)))[2].sentence
        == "We cannot tell: nDCG or utility is constant."
    )
    assert side_of_zero({"low": None, "high": 1.0}) is None


def test_what_cannot_be_tested_has_its_reason(study: ReportedStudy):
    section = study.sections[0]
    same = section["gain"].with_columns(p_verdict=None, verdict=pl.lit("undecided"), reason=pl.lit("all are equal"))
    text = gain_counts(changed(section, gain=same))
    assert text.endswith("No cell can be compared with zero-shot (all are equal).")


def test_an_unchanged_pair_has_one_name(study: ReportedStudy):
    """Where no answer changed, the verdict has the counts: the page doesn't also say that it cannot be compared."""
    section = study.sections[0]
    none = {"mean_difference": 0.0, "low": None, "high": None, "reason": "all differences are equal"}
    remark = "0 of 36 queries show a difference, but 8 are needed"
    none |= {"verdict": "too few queries", "remark": remark, "stands": None}
    unchanged = {
        name: table.with_columns(
            pl.when(there).then(pl.lit(value, table.schema[column])).otherwise(column).alias(column)
            for column, value in none.items()
        )
        for name, there in (
            ("systems", pl.col("k") < 5),
            ("gain", (pl.col("k") == 5) & (pl.col("retriever") == "bm25")),
        )
        for table in [section[name]]
    }
    facts = facts_of(changed(section, **unchanged))
    said = headings(facts)
    assert all(said[name].endswith(f"too few queries in {n})") for name, n in (("systems", 2), ("gain", 1)))
    shown = lead(facts, 1, True, [])
    assert "too few queries" in [row["word"] for row in shown["table"]["rows"] if row["name"] == "bm25"]
    assert "compared" not in " ".join([*said.values(), shown["table"]["title"], shown["figure_title"]])


def test_what_a_judge_scores_is_no_similarity(study: ReportedStudy):
    scorer = study.sections[0].scorer
    assert "judge" not in " ".join(summary(study))
    judged = summary(replace(study, judges={scorer: "lm"}))
    assert judged[0].endswith("utility: how much higher a judge scores the answer with this context than without any.")
    other = replace(study.sections[0], scorer="words")
    both = summary(replace(study, sections=(other, *study.sections), judges={scorer: "lm"}))
    assert "closer to the query’s references" in both[0] and both[1].startswith(
        f"With {scorer}, utility is how much higher a judge"
    )


def test_answers_without_a_score_are_counted_for_their_section(study: ReportedStudy):
    section = study.sections[0]
    own = {"generator": section.generator, "scorer": section.scorer}
    counts = [("bm25", own, 3), ("rel", own, 4), ("rel", {**own, "scorer": "other"}, 50)]
    left_out = [
        {"stage": "scoring", "dataset": section.dataset, "what": UNSCORED, "count": number,
         "detail": {**key, "retriever": retriever}}
        for retriever, key, number in counts
    ]  # fmt: skip
    [sentence] = unscored(replace(study, left_out=left_out), section)
    assert sentence.startswith(f"{section.scorer} gave no score to 7 answers")
    assert unscored(study, section) == []


def test_the_seeds_share_of_the_variance_is_that_of_the_table(study: ReportedStudy):
    section = study.sections[0]
    k, grade = section.grid.k[-1], section.grades[0]
    here = (pl.col("retriever") == "rel") & (pl.col("k") == k) & (pl.col("references") == grade)
    share = pl.when(here).then(0.37).otherwise("share_seeds").alias("share_seeds")
    most = changed(section, variance=section["variance"].with_columns(share))
    said = " ".join(answer_findings.findings_on_answers(most).sentences)
    assert "With rel, seeds account for 37% of the variance" in said
    none = changed(section, variance=section["variance"].clear())
    assert "seeds account for" not in " ".join(answer_findings.findings_on_answers(none).sentences)


def test_few_queries_at_a_position_are_those_of_a_retriever_that_is_named(study: ReportedStudy):
    section = study.sections[0]
    here = (pl.col("retriever") == "nrel") & (pl.col("position") == 2) & (pl.col("relevant") == "any number")
    few = section["positions"].with_columns(pl.when(here).then(4).otherwise(50).alias("n"))
    said = " ".join(answer_findings.findings_on_answers(changed(section, positions=few)).limits)
    assert "With nrel, only 4 queries have a relevant passage at position 2 of the prompt." in said
    assert "this affects 1 retriever." in said
    many = changed(section, positions=few.with_columns(n=pl.lit(50)))
    assert "relevant passage at position" not in " ".join(answer_findings.findings_on_answers(many).limits)


def test_answers_that_two_orderings_share_are_counted_once_among_the_cut_ones(study: ReportedStudy):
    section = study.sections[0]
    # All of k = 1 are cut, where descending and ascending have the same prompts, and nothing else.
    cut = section["lengths"].with_columns(
        n=pl.lit(100), length=pl.when(pl.col("k") == 1).then(100).otherwise(0), other=pl.lit(0), blank=pl.lit(0)
    )
    distinct = {(row["retriever"], row["ordering"] * (row["k"] > 1), row["k"]) for row in cut.iter_rows(named=True)}
    share = sum(k == 1 for _, _, k in distinct) / len(distinct)
    said = " ".join(answer_findings.findings_on_answers(changed(section, lengths=cut)).limits)
    assert f"{100 * share:.0f}% of all answers were cut at max_tokens" in said


def test_only_scored_answers_count_among_the_cut_ones_if_a_file_scores_some(tmp_path: Path):
    files = write_study(tmp_path, n=8)
    own, scored = {"generator": "demo-lm", "scorer": "minilm"}, {"n": 12, "length": 3, "blank": 0}
    left_out = [
        {"dataset": "demo", "what": WITHOUT_SCORE, "count": count, "detail": {**own, **other, "scored": scored | more}}
        for other, count, more in (({"scorer": "all"}, 9, {"n": 6}), ({}, 100, {}))
    ]
    Path(files["left_out"]).write_text(json.dumps(left_out), encoding="utf-8")
    study = read_study(**files)
    [section] = study.sections
    said = " ".join(answer_findings.findings_on_answers(section).limits)
    assert "25% of the 12 scored answers were cut at max_tokens" in said and "of all answers" not in said
    shown = [text for head, text, _ in lead(facts_of(section), 1, False, left_out)["warnings"] if head == "Answers"]
    assert shown == ["25% of the 12 scored answers were cut at max_tokens; they are scored like all other answers."]
    assert headings(facts_of(section))["answers"] == "25% of the 12 scored answers were cut at max_tokens"
    left_out[1]["count"] = 0
    Path(files["left_out"]).write_text(json.dumps(left_out), encoding="utf-8")
    [section] = read_study(**files).sections
    assert section.scored is None


def test_warnings_on_relative_utility_are_of_relative_utility(study: ReportedStudy):
    section = study.sections[0]
    section = changed(section, utility=section["utility"].with_columns(n_low_p0=pl.lit(3), n_null=pl.lit(2)))
    relative, absolute = (" ".join(findings(replace(section, relative=value)).limits) for value in (True, False))
    assert "up to 3 queries with P₀ below 0.1" in relative and "or P₀ is not above 0" in relative
    assert "below 0.1" not in absolute and "not above 0" not in absolute
    assert "up to 2 queries without a utility value (P or P₀ is missing)" in absolute


def test_values_of_p_in_the_table_within_queries_are_no_answers(study: ReportedStudy):
    section = study.sections[0]
    table = within_table(section)
    place = [column.title for column in table.columns].index("values of P")
    row = section["within"].row(0, named=True)
    assert table.rows[0][place] == f"{row['n']:,d}"
    # One per query and retriever of an ordering and k, whatever the seeds.
    one = section["within"].filter(pl.col("k") == 5, retrievers="all", ordering="descending", references="lenient")
    assert one["n"].to_list() == [36 * len(section.grid.retrievers)] * one.height
    assert len(section.grid.seeds) > 1


def test_only_what_is_above_zero_as_it_is_shown_has_a_plus():
    assert [signed(one) for one in ("0.11", "0.00", "−0.11", "–", "0.004")] == ["+0.11", "0.00", "−0.11", "–", "+0.004"]


def test_the_page_says_where_all_seeds_gave_the_same_answer(study: ReportedStudy):
    section = study.sections[0]
    assert answer_findings.alike(section) == []
    some = section["lengths"].with_columns(alike=pl.when(retriever="bm25").then(18).otherwise(0).cast(pl.Int64))
    (said,) = answer_findings.alike(changed(section, lengths=some))
    assert "so more seeds would add nothing there" in said
    one = section["lengths"].with_columns(several=pl.lit(0, pl.Int64))
    assert answer_findings.alike(changed(section, lengths=one)) == []
