"""Describe how a judge's scores for answers or passages depend on order and length, in a table and in sentences."""

from typing import NamedTuple

import polars as pl

from ragrelay.base.vocabulary.judge_checks import LENGTH, PADDED, PADDING_WORDS, REVERSED, SWAPPED
from ragrelay.report.display.numbers import count, counted, p_compared, p_value, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import REMARK, Column, Table, between, name, numeric, table_of

LABELS = {
    REVERSED: "references or passages reversed", SWAPPED: "parts of the question swapped",
    PADDED: f"padded with {PADDING_WORDS} words", LENGTH: "length (Spearman’s ρ)",
}  # fmt: skip


class Wording(NamedTuple):
    """The words used in sentences about a judge of answers, or about a judge of passages."""

    noun: str
    an: str
    plural: str
    of: str
    """The preposition between what the judge scores and its queries."""
    longer: str
    """A harmless reason why length may correlate with the score."""


OF_ANSWERS = Wording("answer", "an answer", "answers", "to", "longer answers may be better")
OF_PASSAGES = Wording("passage", "a passage", "passages", "of", "longer passages may say more")


def judge_sentences(section: Section) -> list[str]:
    """Write a sentence about each check of the section's scorer. The list is empty for scorers without checks."""
    return check_sentences(section["judge_checks"], OF_ANSWERS) if "judge_checks" in section.tables else []


def check_sentences(checks: pl.DataFrame, words: Wording) -> list[str]:
    """Write a sentence about each row of ``checks`` (columns analysis.judge_checks.TABLE and adjusted p-values)."""
    sentences = []
    for row in checks.iter_rows(named=True):
        interval = with_interval(row["value"], row["low"], row["high"])
        sample = f"{counted(row['n'], words.noun, words.plural)} {words.of} "
        sample += counted(row["n_queries"], "query", "queries")
        if row["check"] == LENGTH:
            sentences.append(
                f"Spearman’s ρ between the judge’s score and the number of words in the {words.noun} is {interval} "
                f"({sample}). This alone is no evidence of bias: {words.longer}."
            )
        else:
            tested = "" if row["p_holm"] is None else f", p {p_compared(row['p_holm'])} after Holm’s correction"
            sentences.append(
                f"{_done(row['check'], words)} changes the judge’s score by {interval} on average ({sample}{tested}) "
                f"and changes the likeliest word in {share(row['share_other_word'])} of "
                f"{counted(row['judgements'], 'judgement')}."
            )
    return sentences


def _done(check: str, words: Wording) -> str:
    return {
        REVERSED: "Showing references or passages to the judge in reverse order",
        SWAPPED: "Putting the parts of the judge’s question in another order",
        PADDED: f"Padding {words.an} with {PADDING_WORDS} words",
    }[check]  # fmt: skip


def judge_checks_table(section: Section) -> Table:
    """Build the table of bias checks on the section's scorer, with one row per check."""
    return checks_table(section["judge_checks"], [], OF_ANSWERS)


def checks_table(checks: pl.DataFrame, keys: list[str], words: Wording) -> Table:
    """Build a table with one check per row; the columns ``keys`` come first."""
    return table_of(
        checks, *map(name, keys), Column("check", text=lambda row: LABELS[row["check"]]),
        numeric(words.plural, "n", count), numeric("queries", "n_queries", count), numeric("mean score", "mean_score"),
        between("mean change, or ρ", "value"), numeric("p", "p_value", p_value), numeric("p (Holm)", "p_holm", p_value),
        numeric("judgements", "judgements", count), numeric("other word", "share_other_word", share), REMARK,
    )  # fmt: skip
