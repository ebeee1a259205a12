"""Label a study's passages with all annotation sources, for one dataset, generator and scorer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ragrelay.annexes.labels.measures import How
from ragrelay.annexes.labels.single_answers import PASSAGE
from ragrelay.annexes.labels.source import ANNOTATION_KINDS, SourceData, parts
from ragrelay.annexes.labels.values import label_values
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import DOCNO, QID, REFERENCES, number, schema_of, text
from ragrelay.scoring.reference_sets import read_gold

File = str | Path
LABEL_COLUMNS = {
    "source": text("name of the annotation source"),
    "references": REFERENCES,
    "qid": QID,
    "docno": DOCNO,
    "label": number("label that the source assigns to the passage"),
}
LABELS = schema_of(LABEL_COLUMNS)


def made_tables(
    files: Mapping[str, KeyedFiles],
    annotations: Mapping[str, Mapping[str, object]],
    names: Sequence[str],
    wildcards: Mapping[str, str],
) -> dict[str, Path]:
    """Return the path of each source's table, for all sources whose labels come from a job.

    ``files``: tables keyed by type of job, such as source.BY_JUDGE; ``wildcards``: dataset, scorer and generator.
    """
    tables = {}
    for name in parts(annotations, names):
        if job := ANNOTATION_KINDS.of(annotations[name]).job(name, wildcards["scorer"], wildcards["generator"]):
            job_name, key = job
            tables[name] = files[job_name].of({**wildcards, **key})
    return tables


@dataclass(frozen=True)
class LabelledFiles:
    """The files used to label passages."""

    contexts: Mapping[str, File]
    """The retrievers' context files, keyed by retriever."""
    queries: File
    qrels: File
    made: Mapping[str, File]
    """The tables computed by the sources' jobs, keyed by source."""


@dataclass(frozen=True)
class LabelMeasures:
    """The measures to compute from labels."""

    measures: Sequence[str]
    ks: Sequence[int]
    depth: int
    """The lowest rank whose passages are labelled."""
    lowest_grade: int
    """The lowest label in the qrels that binary measures count as relevant."""


def measure_labels(
    files: LabelledFiles,
    annotations: Mapping[str, Mapping[str, object]],
    names: Sequence[str],
    references: Sequence[str],
    wanted: LabelMeasures,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compute the labels (LABELS) of all sources in ``names``, and retrieval measures from the labels (values.SCHEMA).

    ``annotations``: the catalogue of sources; ``references``: the names of the reference sets that P is computed with.
    """
    columns = ["qid", "rank", "docno", "text"]
    rankings = {
        name: pl.read_parquet(path, columns=columns).filter(pl.col("rank") <= wanted.depth)
        for name, path in files.contexts.items()
    }
    all_names = dict.fromkeys([*names, *parts(annotations, names)])
    kinds = {name: ANNOTATION_KINDS.of(annotations[name]) for name in all_names}
    gold = read_gold(files.queries) if any(kind.needs_gold for kind in kinds.values()) else {}
    inputs = SourceData(
        passages=pl.concat(rankings.values()).unique(PASSAGE, keep="first", maintain_order=True),
        queries=dict(pl.read_parquet(files.queries, columns=["qid", "query"]).iter_rows()),
        qrels=pl.read_parquet(files.qrels),
        gold={qid: query.texts for qid, query in gold.items()},
        references=references,
    )
    sources = Sources(inputs, annotations, {name: kinds[name].read(path) for name, path in files.made.items()})
    how = {
        name: How(
            kind.whole(annotations), kind.counted_from(wanted.lowest_grade), kind.constant, sources.gains(name),
            kind.signed, sources.measured_below(name),
        )
        for name, kind in kinds.items()
    }  # fmt: skip
    labels = sources.labels(names)
    return labels, label_values(rankings, labels, wanted.measures, wanted.ks, how)


class Sources:
    """The annotation sources for one dataset, generator and scorer.

    All sources share ``data``, in which ``made`` and ``scaled`` must be None. The argument ``made`` contains the tables
    computed by the sources' jobs, keyed by source.
    """

    def __init__(
        self, data: SourceData, catalogue: Mapping[str, Mapping[str, object]], made: Mapping[str, pl.DataFrame]
    ) -> None:
        self.data, self.catalogue, self.made = data, catalogue, made

    def labels(self, names: Sequence[str]) -> pl.DataFrame:
        """Label passages with each source in ``names``, for every reference set (columns LABELS).

        A query that a source can't label, for example because it has no gold answer, has no rows. A combination scales
        labels to the range 0 to 1, and only labels passages that have a label from every combined source.
        """
        frames = [self._of(name).select(pl.lit(name).alias("source"), *list(LABELS)[1:]) for name in names]
        return pl.concat([pl.DataFrame(schema=LABELS), *frames])

    def gains(self, name: str) -> pl.DataFrame | None:
        """Return the gains (qid, docno, gain) for the source ``name``, or None if nDCG uses the labels as gains."""
        return ANNOTATION_KINDS.of(self.catalogue[name]).gains(self._data_of(name))

    def measured_below(self, name: str) -> int | None:
        """Return the lowest cutoff at which measures of the source ``name`` have no value, or None if there is none."""
        return ANNOTATION_KINDS.of(self.catalogue[name]).measured_below(self._data_of(name))

    def _of(self, name: str) -> pl.DataFrame:
        definition = self.catalogue[name]
        frame = ANNOTATION_KINDS.of(definition).labels(self._data_of(name))
        if "threshold" in definition:
            frame = frame.with_columns(pl.col("label").ge(definition["threshold"]))
        return frame.with_columns(pl.col("label").cast(pl.Float64))

    def _data_of(self, name: str) -> SourceData:
        return replace(self.data, made=self.made.get(name), scaled=self._scaled)

    def _scaled(self, name: str) -> pl.DataFrame:
        kind = ANNOTATION_KINDS.of(self.catalogue[name])
        return self._of(name).with_columns(pl.col("label") / kind.highest(self._data_of(name)))
