"""The page's table and sentences on a judge's bias by position and length."""

from ragrelay.display.numbers import count, counted, number, p_value, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.display.tables import Column, Table
from ragrelay.vocabulary.judge_checks import LENGTH, PADDED, PADDING_WORDS, REVERSED, SWAPPED

LABELS = {
    REVERSED: "references or passages reversed", SWAPPED: "parts of the question swapped",
    PADDED: f"padded with {PADDING_WORDS} words", LENGTH: "length (Spearman’s ρ)",
}  # fmt: skip
SAID = {
    REVERSED: "Showing the judge references or passages in reverse order",
    SWAPPED: "Asking the judge with the parts of the question in another order",
    PADDED: f"Padding an answer with {PADDING_WORDS} words",
}


def judge_sentences(section: Section) -> list[str]:
    """A sentence per check; none of a scorer that has none."""
    if "judge_checks" not in section.tables:
        return []
    said = []
    for row in section["judge_checks"].iter_rows(named=True):
        interval = with_interval(row["value"], row["low"], row["high"])
        of = f"{counted(row['n'], 'answer')} to {counted(row['n_queries'], 'query', 'queries')}"
        if row["check"] == LENGTH:
            said.append(
                f"Spearman’s ρ between the judge’s score and the number of words of the answer is {interval} ({of}). "
                "This alone shows no bias: longer answers may be better."
            )
        else:
            tested = "" if row["p_holm"] is None else f", p {_compared(row['p_holm'])} after Holm’s correction"
            said.append(
                f"{SAID[row['check']]} changes the judge’s score by {interval} on average ({of}{tested}), and the "
                f"likeliest word in {share(row['share_other_word'])} of {counted(row['judgements'], 'judgement')}."
            )
    return said


def _compared(value: float) -> str:
    text = p_value(value)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def judge_checks_table(section: Section) -> Table:
    """A row per check."""
    rows = [
        [LABELS[row["check"]], count(row["n"]), count(row["n_queries"]), number(row["mean_score"]),
         with_interval(row["value"], row["low"], row["high"]), p_value(row["p_value"]), p_value(row["p_holm"]),
         count(row["judgements"]), share(row["share_other_word"]), row["reason"] or ""]
        for row in section["judge_checks"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("check"), Column("answers", True), Column("queries", True), Column("mean score", True),
               Column("mean change, or ρ", True), Column("p", True), Column("p (Holm)", True),
               Column("judgements", True), Column("other word", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)
