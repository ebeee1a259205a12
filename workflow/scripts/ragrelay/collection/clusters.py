"""Read clusters of related queries, such as turns of a conversation, questions on the same paragraph, or variants."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.base.vocabulary.columns import QID, schema_of, text

EXPECTED = "qid<TAB>cluster"
COLUMNS = {"qid": QID, "cluster": text("name of the query's cluster")}
"""The columns of clusters.parquet."""


def prepare_clusters(path: Path, qids: Sequence[str]) -> pl.DataFrame:
    """Read the cluster of each query in ``qids`` from a file with lines ``qid<TAB>cluster``.

    Lines for other queries are ignored. Raises InputError for the first line that is malformed or repeats a qid, and
    for the first query without a line.
    """
    names, seen = dict[str, str](), dict[str, int]()
    for number, line in numbered_lines(path):
        qid, tab, cluster = line.partition("\t")
        if not tab or "\t" in cluster or not cluster.strip():
            columns = f"{line.count(chr(9)) + 1} columns"
            found = "no tab" if not tab else columns if cluster.strip() else f"no cluster for qid {qid!r}"
            raise InputError(f"{path}, line {number}", found, EXPECTED)
        check_id(f"{path}, line {number}", "qid", qid)
        if qid in seen:
            raise InputError(
                f"{path}, line {number}", f"duplicate qid {qid!r} (first on line {seen[qid]})", "unique qids"
            )
        names[qid], seen[qid] = cluster.strip(), number
    missing = [qid for qid in qids if qid not in names]
    if missing:
        found = f"no line for qid {missing[0]!r} ({len(missing):,} of {len(qids):,} queries have none)"
        raise InputError(path, found, f"one line {EXPECTED} for each query with judgements")
    return pl.DataFrame({"qid": list(qids), "cluster": [names[qid] for qid in qids]}, schema=schema_of(COLUMNS))


def numbered_clusters(path: str | Path | None) -> dict[str, int] | None:
    """Read each query's cluster number from clusters.parquet.

    Returns None if there is no such file or if no two queries share a cluster, so that all queries are independent.
    """
    if path is None or not Path(path).is_file():
        return None
    table = pl.read_parquet(path)
    numbers = {name: number for number, name in enumerate(table["cluster"].unique(maintain_order=True))}
    if len(numbers) == table.height:
        return None
    return {qid: numbers[name] for qid, name in table.select("qid", "cluster").iter_rows()}
