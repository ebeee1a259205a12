"""Write the page's sentences about which sources' labels predict answer quality or choose better contexts."""

from collections.abc import Iterator, Mapping

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import BETTER, TOO_FEW, UNDECIDED, WORSE
from ragrelay.analysis.within import ALL
from ragrelay.annexes.labels.choices import DECIDES
from ragrelay.annexes.labels.leads import NULL
from ragrelay.annexes.labels.study import AnnotationStudy
from ragrelay.annexes.labels.study_tables import KEY
from ragrelay.base.vocabulary.names import PAPER_NAMES
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.report.display.findings import Conclusion, counts, undone, with_remark
from ragrelay.report.display.numbers import count, counted, listing, with_interval

ZEROSHOT_KIND = "zeroshot"
"""The kind of annotation source used as the null, whose labels don't depend on the passage."""
QUANTITIES = {"p": "P", "utility": "utility"}
BY_CHOICE = {
    BETTER: "better with",
    WORSE: "worse with",
    UNDECIDED: "undecided with",
    TOO_FEW: "too few queries with",
}


def label_answer(shown: AnnotationStudy) -> Conclusion:
    """Conclude which sources' labels choose better contexts than chance, for the first dataset and generator."""
    heading = "Labels", "Whose labels choose better contexts?"
    for where, rows in _first(shown, "annotation_choices"):
        of_p = rows.filter(pl.col("p_value").is_not_null(), quantity=DECIDES)
        better = of_p.filter(verdict=BETTER).sort("mean_difference", descending=True)
        if of_p.is_empty():
            continue
        if better.is_empty():
            unknown = f"No source’s labels are shown to choose better contexts than chance ({where})"
            return Conclusion(*heading, unknown)
        row = better.row(0, named=True)
        change = with_interval(row["mean_difference"], row["low"], row["high"])
        numbers = (
            f"mean P is higher by {change} with {row['source']} ({counted(row['n'], 'query', 'queries')}; {where})"
        )
        strong = f"Labels from {listing(better['source'].to_list())} choose better contexts than chance"
        remark = undone(better.to_dicts(), "source")
        return Conclusion(*heading, strong, numbers, remark=remark)
    return Conclusion(
        *heading, "We cannot tell: the contexts that the sources choose could not be compared with chance"
    )


def label_sentences(shown: AnnotationStudy) -> list[str]:
    """Write the sentences on within-query correlations, on chosen contexts, and on correlations over queries."""
    return [*_within(shown), *_choices(shown), *_over_queries(shown, "utility"), *_over_queries(shown, "p")]


def _first(shown: AnnotationStudy, name: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield a table's rows by dataset and generator, for the page's first selection and all retrievers together."""
    first = {key: shown.first[key] for key in ("k", "references")}
    rows = shown.tables[name].filter(**first, measure=shown.table["measure"][0], retrievers=ALL)
    for key, part in rows.group_by(*KEY, maintain_order=True):
        yield " · ".join(map(str, key)), part


def _within(shown: AnnotationStudy) -> list[str]:
    sentences = []
    for where, rows in _first(shown, "annotation_within"):
        descending = rows.filter(ordering=DESCENDING).to_dicts()
        measure, retrievers = PAPER_NAMES[descending[0]["measure"]], descending[0]["n_retrievers"]
        defined = [f"{with_interval(row['r'], row['low'], row['high'])} for {row['source']} ({_word(row)})"
                   for row in descending if row["r"] is not None]  # fmt: skip
        undefined = [f"undefined for {row['source']} ({row['reason']})" for row in descending if row["r"] is None]
        sentences.append(
            f"{where}: the within-query correlation r between P and {measure} computed from a source’s labels (over "
            f"{retrievers} retrievers) is {listing([*defined, *undefined])}."
        )
    return sentences


def _word(row: Mapping[str, object]) -> str:
    sign = "sign " if row["verdict"] == UNDECIDED else ""
    return f"{row['verdict']}: {row['reason']}" if row["verdict"] == TOO_FEW else f"{sign}{row['verdict']}"


def _choices(shown: AnnotationStudy) -> list[str]:
    """Compare P, then utility, between the context that a source's labels choose for each query and a random one."""
    null = shown.table.filter(kind=ZEROSHOT_KIND)["source"].to_list()
    sentences = []
    for where, rows in _first(shown, "annotation_choices"):
        tested = rows.filter(pl.col("p_value").is_not_null())
        changes = {
            (row["quantity"], row["source"]): with_interval(row["mean_difference"], row["low"], row["high"])
            for row in tested.iter_rows(named=True)
        }
        of_p = tested.filter(quantity=DECIDES)
        if of_p.is_empty():
            continue
        parts = []
        for word, text in BY_CHOICE.items():
            named = [
                f"{row['source']} ({'; '.join(filter(None, [changes[DECIDES, row['source']], counts(row)]))})"
                for row in of_p.filter(verdict=word).iter_rows(named=True)
            ]
            parts += [f"{text} {listing(named)}"] if named else []
        of_utility = [f"{change} with {source}" for (name, source), change in changes.items() if name == "utility"]
        kept = of_p.filter(pl.col("verdict").is_in([BETTER, WORSE]), pl.col("p_holm") < ALPHA).height
        random = f" (this is the null, because {null[0]} always chooses at random)" if null else ""
        said = (
            f"{where}: for each query, the context with the highest {PAPER_NAMES[of_p['measure'][0]]} according to a "
            f"source’s labels is compared with a random choice from the {count(of_p['n_retrievers'][0])} retrievers’ "
            f"contexts{random}. Verdicts on mean P over up to {counted(max(of_p['n']), 'query', 'queries')}: "
            f"{'; '.join(parts)}. {counted(kept, 'verdict') if kept else 'No verdict'} "
            f"{'are' if kept > 1 else 'is'} significant after Holm’s correction."
            + (f" Mean utility changes by {listing(of_utility)}." if of_utility else "")
        )
        sentences.append(with_remark(said, undone(of_p.to_dicts(), "source")))
    return sentences


def _over_queries(shown: AnnotationStudy, quantity: str) -> list[str]:
    """Name the source that correlates best with ``quantity`` in each column of the first selection, and compare it.

    The number of significant leads comes first. Each column is also compared with the null.
    """
    chosen = {**shown.first, "quantity": quantity}
    here = shown.table.filter(**chosen).drop_nulls("value")
    leads = shown.tables["annotation_leads"].filter(**chosen)
    sentences: list[str] = []
    significant: list[str] = []
    compared = 0
    for key, column in here.group_by(*KEY, "retriever", maintain_order=True):
        ranked = column.sort("value", descending=True, maintain_order=True)
        best = ranked.unique("source", keep="first", maintain_order=True)
        named = [
            f"{with_interval(row['value'], row['low'], row['high'])} for {row['source']} "
            f"({PAPER_NAMES[row['measure']]})"
            for row in best.iter_rows(named=True)
        ]
        where = " · ".join(str(name) for name in key)
        null = best.filter(kind=ZEROSHOT_KIND)["source"].to_list()
        parts = [f"{where}: Kendall’s τ with {QUANTITIES[quantity]} is {listing(named)}"]
        if best.height > 1:
            compared += 1
            first, second = best["source"][:2]
            significant += [f"{first} ({where})"] if best["holds"][0] else []
            if second not in null and (first not in null or not best["holds"][0]):
                parts.append(f"{first}’s lead over {second} is {'' if best['holds'][0] else 'not '}significant")
        if null:
            cell = dict(zip((*KEY, "retriever"), key, strict=True))
            tested = leads.filter(comparison=NULL, holds=True, **cell)
            ahead, behind = (
                tested.filter(beyond)["source"].unique(maintain_order=True).to_list()
                for beyond in (pl.col("lead") > 0, pl.col("lead") < 0)
            )
            # A lead between the best source and the null is tested in two families; use the family that is counted.
            for names, source, other in ((ahead, 0, 1), (behind, 1, 0)) if best.height > 1 else ():
                if best["source"][other] == null[0]:
                    names[:] = [name for name in names if name != best["source"][source]]
                    names += [best["source"][source]] if best["holds"][0] else []
            parts.append(f"{listing(ahead or ['no source'])} {_are(ahead)} significantly ahead of the null, {null[0]}")
            parts += [f"{listing(behind)} {_are(behind)} significantly behind it"] if behind else []
        sentences.append("; ".join(parts) + ".")
    if not compared:
        return sentences
    where = f"{count(len(significant))} of {counted(compared, 'combination')} of dataset, generator and retriever"
    counts = (
        f"The source whose labels correlate best with {QUANTITIES[quantity]} has a significant lead over the runner-up "
        f"(after Holm’s correction) in {where}{f': {listing(significant)}' if significant else ''}."
    )
    return [counts, *sentences]


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"
