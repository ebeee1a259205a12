"""Build the page's section on trust in judges: agreement with people, warnings and prediction-powered estimates."""

from collections.abc import Collection
from typing import Any

import polars as pl

from ragrelay.annexes.labels.agreement import KAPPA, PASSAGES, RETRIEVERS, WEIGHTED
from ragrelay.annexes.labels.powered import MEAN
from ragrelay.annexes.labels.prediction_powered import COVERS_FROM
from ragrelay.annexes.labels.study import AnnotationStudy
from ragrelay.base.vocabulary.names import PAPER_NAMES
from ragrelay.report.display.judge_checks import OF_PASSAGES, check_sentences, checks_table
from ragrelay.report.display.numbers import count, counted, listing, number, share, with_interval
from ragrelay.report.display.tables import REMARK, Column, Table, between, depth, name, numeric, table_of

QUANTITIES = {
    KAPPA: "κ, relevant or not", WEIGHTED: "κ of grades, weighted", PASSAGES: "τ of a query’s passages",
    RETRIEVERS: "τ of retrievers",
}  # fmt: skip
CHECKED = ["dataset", "source", "judge"]
ESTIMATES = {MEAN: "mean", "p": "r with P", "utility": "r with utility"}


def trust_warnings(shown: AnnotationStudy, sources: Collection[str] | None = None) -> list[str]:
    """Warn about each judge in ``sources`` (by default, every judge) whose kappa is low or unknown."""
    table, least = shown.tables["annotation_agreement"], shown.trust.least_kappa
    doubtful = table.filter("judge", pl.col("value").is_null() | (pl.col("value") < least), quantity=KAPPA)
    first = doubtful.unique(["dataset", "source"], keep="first", maintain_order=True)
    return [
        f"{row['dataset']}: results based on labels from {row['source']} depend on a judge whose agreement with human "
        f"labels ({row['people']}) is {_kappa(row, least)}."
        for row in first.iter_rows(named=True)
        if sources is None or row["source"] in sources
    ]


def _kappa(row: dict[str, Any], least: float) -> str:
    if row["value"] is None:
        return f"unknown: κ cannot be computed ({row['reason']})"
    value = with_interval(row["value"], row["low"], row["high"], 2)
    return f"κ = {value}, below the threshold of {number(least, 2)} (agreement.least_kappa)"


def headline_warnings(shown: AnnotationStudy) -> list[str]:
    """Warn about the dataset's own judgements, on which references and retrieval measures are based."""
    return trust_warnings(shown, shown.table.filter(kind="qrels")["source"].unique().to_list())


def agreement_sentences(shown: AnnotationStudy) -> list[str]:
    """Write a sentence per dataset with every judge's kappa. If a study has judges, these sentences open the page."""
    sentences = []
    table = shown.tables["annotation_agreement"].filter("judge", quantity=KAPPA)
    for (dataset, people), rows in table.group_by("dataset", "people", maintain_order=True):
        first = rows.unique("source", keep="first", maintain_order=True)
        kappas = [
            f"unknown for {row['source']}" if row["value"] is None
            else f"{with_interval(row['value'], row['low'], row['high'], 2)} for {row['source']}"
            for row in first.iter_rows(named=True)
        ]  # fmt: skip
        sentences.append(
            f"{dataset}: agreement with human labels ({people}), measured by Cohen’s κ, is {listing(kappas)}."
        )
    return sentences


def trust_sentences(shown: AnnotationStudy) -> list[str]:
    """Write sentences on generators that judge their own answers, prediction-powered intervals and judges' bias."""
    sentences = []
    for judge, judges in shown.trust.own.items():
        sentences.append(
            f"{judge} uses {listing(list(judges))} to judge passages, and the same model generates answers. A judge "
            "may favour passages that it has used for its answers."
        )
    powered = shown.tables["annotation_powered"].drop_nulls("low")
    if shown.tables["annotation_powered"].height:
        sentences.append(
            "According to the configuration (agreement.random_sample), the queries with human labels are a random "
            "sample of all queries. The prediction-powered intervals are valid only if that is true."
        )
    if (few := powered.filter(pl.col("n") < COVERS_FROM)).height:
        sentences.append(
            f"Human labels exist for only {counted(min(few['n']), 'query', 'queries')}. With fewer than {COVERS_FROM}, "
            "prediction-powered intervals are too narrow: in simulations with 12 queries, nominal 95% intervals "
            "contained the true value 90% to 96% of the time."
        )
    for (dataset, source, judge), rows in shown.checks.group_by(CHECKED, maintain_order=True):
        sentences += [f"{dataset} · {source} · {judge}: {sentence}" for sentence in check_sentences(rows, OF_PASSAGES)]
    return sentences


def checks_page_table(shown: AnnotationStudy) -> Table:
    """Build the table of bias checks, with a row per source, judge and check."""
    return checks_table(shown.checks, CHECKED, OF_PASSAGES)


def agreement_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Build the table of agreement with human labels, with a row per source, reference set and quantity."""
    return table_of(
        shown.tables["annotation_agreement"], name("dataset"), name("generator"),
        name("references", chosen=shown.first["references"]), name("source"),
        Column("agreement", False, True, text=lambda row: QUANTITIES[row["quantity"]]),
        Column("measure", False, True, text=lambda row: PAPER_NAMES.get(row["measure"] or "", "")),
        Column("k", True, True, text=lambda row: str(row["k"] or "")), between("value", "value", 2),
        numeric("pairs or retrievers", "n", count), numeric("queries", "n_queries", count), REMARK, most=most_rows,
    )  # fmt: skip


def confusion_table(shown: AnnotationStudy) -> Table:
    """Build the table that counts each combination of human label and source label, for the first reference set."""
    table = shown.tables["annotation_confusion"].filter(references=shown.first["references"])
    labels = table["source_label"].unique().sort().to_list()
    keys = ["dataset", "generator", "source", "people_label"]
    rows = []
    for key, cells in table.group_by(keys, maintain_order=True):
        pairs = dict(cells.select("source_label", "pairs").iter_rows())
        rows.append([*map(str, key), *(count(pairs.get(label, 0)) for label in labels)])
    of_labels = [Column(title, True) for title in ("human label", *(f"source’s {label}" for label in labels))]
    return Table([*map(name, keys[:3]), *of_labels], rows)


def powered_page_table(shown: AnnotationStudy, most_rows: int | None = None) -> Table:
    """Build the table of prediction-powered estimates, with a row per source, retriever, measure, k and estimate."""
    return table_of(
        shown.tables["annotation_powered"], *map(name, ("dataset", "generator", "source", "retriever")),
        Column("measure", False, True, text=lambda row: PAPER_NAMES[row["measure"]]), depth(),
        name("references", chosen=shown.first["references"]),
        Column("estimate", False, True, text=lambda row: ESTIMATES[row["quantity"]]),
        between("human + source labels", "value"), between("human labels", "alone", ends=("alone_low", "alone_high")),
        numeric("narrower by", lambda row: row, _narrower), numeric("queries with human labels", "n", count),
        numeric("without human labels", "n_others", count), REMARK, most=most_rows,
    )  # fmt: skip


def _narrower(row: dict[str, float | None]) -> str:
    low, high, alone_low, alone_high = (row[name] for name in ("low", "high", "alone_low", "alone_high"))
    if low is None or high is None or alone_low is None or alone_high is None:
        return number(None)
    return share(1 - (high - low) / (alone_high - alone_low))
