"""Compute retrieval measures for every ranking and query, from every annotation source's labels."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.annexes.labels.measures import COLUMNS as MEASURED
from ragrelay.annexes.labels.measures import How, measure_labels
from ragrelay.base.vocabulary.columns import REFERENCES, schema_of, text

COLUMNS = {
    "retriever": text("name of the retriever"),
    "source": text("name of the annotation source"),
    "references": REFERENCES,
    **MEASURED,
}
SCHEMA = schema_of(COLUMNS)


def label_values(
    rankings: Mapping[str, pl.DataFrame],
    labels: pl.DataFrame,
    measures: Sequence[str],
    ks: Sequence[int],
    how: Mapping[str, How],
) -> pl.DataFrame:
    """Compute measures (SCHEMA) for each retriever's ranking (qid, docno, rank) from ``labels`` (study_labels.LABELS).

    ``how``: settings for each source. A source has no rows for queries that it doesn't label.
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for retriever, ranking in rankings.items():
        for (source, references), passage_labels in labels.group_by("source", "references", maintain_order=True):
            known = ranking.join(passage_labels.select("qid").unique(), on="qid", how="semi")
            values = measure_labels(known, passage_labels, measures, ks, how[str(source)])
            names = {"retriever": retriever, "source": source, "references": references}
            frames.append(values.select(*(pl.lit(v, pl.String).alias(n) for n, v in names.items()), "*"))
    return pl.concat(frames)
