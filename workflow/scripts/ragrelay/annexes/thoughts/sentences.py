"""Write the page's sentences about contexts with longer or shorter thoughts, and about cut thoughts."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, TOO_FEW, UNDECIDED
from ragrelay.annexes.thoughts.lengths import FEWER, MORE, OF_CONTEXT
from ragrelay.annexes.thoughts.outputs import RESULT_TABLES
from ragrelay.annexes.thoughts.study import CENSORED, THOUGHTS, ThoughtStudy
from ragrelay.base.vocabulary.names import SET_BY_DESIGN, ZEROSHOT
from ragrelay.generation.thought_marks import CUT, UNFINISHED
from ragrelay.report.display.findings import Conclusion, with_remark
from ragrelay.report.display.numbers import about, count, counted, listing, number, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

MANY = 0.1
"""The page warns if more than this share of a generator's thoughts were cut off or left unfinished."""
WHOLE_FROM = 100
"""Values of at least this many tokens are written without decimals."""
BY_VERDICT = {
    MORE: "longer with {}", FEWER: "shorter with {}", UNDECIDED: "undecided with {}",
    TOO_FEW: "too few queries with {}",
}  # fmt: skip


def thought_answer(study: ThoughtStudy) -> Conclusion:
    """Name the retrievers with which thoughts are longer or shorter than with the reference retriever.

    If there is only one retriever, thoughts with this retriever are compared with thoughts without a context.
    """
    heading = "Thoughts", "Does the model think longer with a worse context?"
    generator, against = study.keys["generator"], study.against[0]
    rows = _lead(study, against)
    if _no_lengths(study):
        return Conclusion(*heading, f"We cannot tell, because the lengths of {generator}’s thoughts are unknown")
    named = {word: [row["retriever"] for row in rows if row["verdict"] == word] for word in BY_VERDICT}
    than = _than(study, against)
    key = ("retriever", "ordering", "k", "against_retriever")
    facts = tuple(TableRow(RESULT_TABLES[1], study.keys, row, key) for row in rows)
    if named[MORE] or named[FEWER]:
        said = [BY_VERDICT[word].format(listing(named[word])) for word in (MORE, FEWER) if named[word]]
        unknown, few = named[UNDECIDED], named[TOO_FEW]
        open_with = "comparisons with {} are" if len(unknown) > 1 else "comparison with {} is"
        left = f"; the {open_with.format(listing(unknown))} undecided" if unknown else ""
        left += f"; {BY_VERDICT[TOO_FEW].format(listing(few))}" if few else ""
        strong = f"{generator}’s thoughts are {' and '.join(said)} {than}{left}"
        return Conclusion(*heading, strong, remark=_remark(rows), facts=facts)
    compared = f" with {listing([row['retriever'] for row in rows])}" if rows else ""
    strong = f"We do not know whether {generator}’s thoughts are longer or shorter{compared} {than}"
    return Conclusion(*heading, strong, facts=facts)


def thought_sentences(study: ThoughtStudy) -> list[str]:
    """Write sentences that compare the cells shown first with each baseline, and count verdicts and cut thoughts."""
    compared = [sentence for against in reversed(study.against) for sentence in _compared(study, against)]
    return [*compared, *_censored(study), *_unknown(study)]


def thought_warnings(study: ThoughtStudy) -> list[str]:
    """Warn if the share of thoughts that were cut off at the budget or left unfinished is above MANY."""
    rows = study.counts
    censored = study.censored(rows)
    if censored is None or censored <= MANY:
        return []
    cut, thoughts = rows.select(CENSORED.sum().alias("cut"), THOUGHTS.sum().alias("thoughts")).row(0)
    some = "all" if cut == thoughts else f"{share(censored)} ({count(cut)})"
    return [
        f"On {study.keys['dataset']}, {some} of {study.keys['generator']}’s {count(thoughts)} thoughts were cut off at "
        "the budget or left unfinished"
        f"{'' if _no_lengths(study) else ', so mean thought lengths are lower bounds'}."
    ]


def _compared(study: ThoughtStudy, against: str) -> list[str]:
    """State the first cells' differences from ``against`` by verdict, then count the verdicts over all cells."""
    rows = [row for row in _lead(study, against) if row["n"]]
    if not rows:
        both = "with and without" if against == ZEROSHOT else f"{_of(study, against)} and with another retriever’s"
        return [f"No query has thoughts of known length both {both} context ({_where(study)})."]
    parts = []
    reasons = [row["reason"] for row in rows if row["reason"] and row["p_verdict"] is None]
    untested = {reason: f"no test ({reason}) with {{}}" for reason in reasons}
    for word, text in {**BY_VERDICT, **untested}.items():
        named = [f"{row['retriever']} ({_difference(study, row)})" for row in rows if _said(row) == word]
        parts += [text.format(listing(named))] if named else []
    where, most = study.lead, max(row["n"] for row in rows)
    here = {"retriever": against} if against == ZEROSHOT else {"retriever": against, **where}
    [base] = study["thoughts"].filter(**here).to_dicts()
    said = (
        f"{_where(study)}: {_of(study, against)}, thoughts average {_tokens(base['mean_tokens'])} tokens"
        f"{f' ({cut})' if (cut := _share(study, here)) else ''}. Mean differences in length from these "
        f"thoughts, in tokens (up to {counted(most, 'query', 'queries')}): {'; '.join(parts)}."
    )
    return [with_remark(said, _remark(rows)), *_counts(study, against)]


def _counts(study: ThoughtStudy, against: str) -> list[str]:
    cells = distinct(study["thought_differences"].filter(against_retriever=against), ("retriever", "ordering"))
    tested = cells.drop_nulls("p_verdict")
    if tested.is_empty():
        return []
    by_word = {word: tested.filter(verdict=word) for word in BY_VERDICT}
    kept = {word: frame.filter(pl.col("p_holm") < ALPHA).height for word, frame in by_word.items()}
    baseline = "no context" if against == ZEROSHOT else _of(study, against).removeprefix("with ")
    by_chance = about(tested.height * ALPHA)
    few = f" and {count(by_word[TOO_FEW].height)} have too few queries" if by_word[TOO_FEW].height else ""
    return [
        f"Compared with {baseline}, thoughts are longer in {count(by_word[MORE].height)} of "
        f"{counted(tested.height, 'cell')} and shorter in {count(by_word[FEWER].height)}; "
        f"{count(by_word[UNDECIDED].height)} are undecided{few}. After Holm’s correction, thoughts are longer in "
        f"{count(kept[MORE])} and shorter in {count(kept[FEWER])}. If the context made no difference, chance "
        f"alone would make thoughts appear longer or shorter in {by_chance} of these cells on average "
        "(without the correction)."
    ]


def _censored(study: ThoughtStudy) -> list[str]:
    """Say how many thoughts were cut off or left unfinished, and how this affects means."""
    cut, unfinished, thoughts = study.counts.select(
        pl.col(CUT).sum(), pl.col(UNFINISHED).sum(), THOUGHTS.sum().alias("thoughts")
    ).row(0)
    both, total = cut + unfinished, counted(thoughts, "thought")
    if not both:
        return []
    how = "cut off at the budget" if cut else "left unfinished"
    said = f"{count(both)} of {total} ({share(both / thoughts)}) {'was' if both == 1 else 'were'} {how}."
    if both == thoughts > 1:
        said = f"All {total} were {how}."
    if cut and unfinished:
        of_cut = counted(cut, "thought was", "thoughts were")
        said = f"{of_cut} {how} and {count(unfinished)} left unfinished (together {share(both / thoughts)} of {total})."
    lower = " Only their generated tokens are counted, so means are lower bounds and differences may be too small or " \
            "too large."  # fmt: skip
    return [said + ("" if _no_lengths(study) else lower)]


def _unknown(study: ThoughtStudy) -> list[str]:
    unknown, answers = study.counts.select(pl.col("n_unknown", "n").sum()).row(0)
    if not unknown:
        return []
    which = f"all {count(answers)}" if unknown == answers else f"{count(unknown)} of {count(answers)}"
    excluded = "" if unknown == answers else "; means exclude these answers"
    return [f"The length of the thought is unknown for {which} answers{excluded}."]


def _no_lengths(study: ThoughtStudy) -> bool:
    """Return whether no thought has a known token count, as with chat endpoints that don't report it."""
    return bool((study.counts["n_unknown"] == study.counts["n"]).all())


def _lead(study: ThoughtStudy, against: str) -> Sequence[Row]:
    return study["thought_differences"].filter(against_retriever=against, **study.lead).to_dicts()


def _said(row: Row) -> str:
    """Return the verdict, or why there is no test although there are enough queries."""
    untested = row["reason"] and row["p_verdict"] is None and row["n"] >= QUERIES_AT_LEAST
    return str(row["reason"] if untested else row["verdict"])


def _remark(rows: Sequence[Row]) -> str:
    """Name the retrievers whose verdict one more query would overturn; empty if there are none."""
    fallen = [row["retriever"] for row in rows if row["stands"] is False]
    query = "A single further query whose thought uses up the budget"
    verdicts = "verdict" if len(fallen) == 1 else "verdicts"
    return f"{query} would overturn the {verdicts} for {listing(fallen)}." if fallen else ""


def _where(study: ThoughtStudy) -> str:
    return f"{study.title}, {study.lead['ordering']} order, k = {study.lead['k']}"


def _than(study: ThoughtStudy, against: str) -> str:
    return f"than {_of(study, against)}"


def _of(study: ThoughtStudy, against: str) -> str:
    """Name the baseline of a comparison: no context, or the primary pair's reference, which may use judgements."""
    if against == ZEROSHOT:
        return "without a context"
    oracle = study.grid.kinds.get(against) in SET_BY_DESIGN
    return f"with {against}{' (an oracle: it uses the judgements)' if oracle else ''}"


def _share(study: ThoughtStudy, here: Mapping[str, object]) -> str:
    """Say what share of a cell's thoughts were cut off or left unfinished; empty if none were."""
    censored = study.censored(study["thoughts"].filter(**here))
    return f"{share(censored)} cut or unfinished" if censored else ""


def _difference(study: ThoughtStudy, row: Row) -> str:
    ends = row["mean_difference"], row["low"], row["high"]
    cut = _share(study, {name: row[name] for name in OF_CONTEXT})
    return f"{with_interval(*ends, _digits(ends))}{', ' if cut else ''}{cut}"


def _tokens(value: float | None) -> str:
    return number(value, _digits([value]))


def _digits(values: Sequence[float | None]) -> int:
    return 0 if max((abs(value) for value in values if value is not None), default=0.0) >= WHOLE_FROM else 1
