"""Hash the data behind a study's results, to record the study's provenance and to compare two studies."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.parquet_files import read_frame, read_whole

DIGITS = 16
BRINGS = "passages"
"""A retriever's key that names a file of passages that the collection lacks."""
Hashes = dict[str, dict[str, object]]
"""The count and hash of each kind of data, keyed by kind."""


def data_hashes(
    results: str | Path,
    dataset: str,
    config: Mapping[str, Any],
    more: Iterable[Callable[[Path, str, Mapping[str, object]], Hashes]] = (),
) -> Hashes:
    """Return counts and hashes of the data behind the results for ``dataset``. Row order doesn't affect the hashes.

    The keys are ``queries``, ``judgements``, ``run <retriever>`` (hashed without comments and tags), ``corpus <index>``
    (hashed during indexing) and, if the study has such data, ``gold answers``, ``clusters``, ``subtopics``, ``passages
    of <retriever>`` (from your own file) and ``processor of <retriever>``. The functions in ``more`` add the hashes of
    the annexes' data. Raises InputError if a file is damaged.
    """
    folder = Path(results) / dataset
    queries = read_result(folder / "collection/queries.parquet")
    hashes = {
        "queries": described(rows_of(queries.select("qid", "query"))),
        "judgements": described(rows_of(read_result(folder / "collection/qrels.parquet"))),
    }
    if "answers" in queries.columns:
        hashes["gold answers"] = described(rows_of(queries.select("qid", "answers")))
    if config["datasets"][dataset].get("clusters"):
        hashes["clusters"] = described(rows_of(read_result(folder / "collection/clusters.parquet")))
    if config["datasets"][dataset].get("subtopics"):
        hashes["subtopics"] = described(rows_of(read_result(folder / "collection/subtopics.parquet")))
    for retriever in config["grid"]["retrievers"]:
        if (run := folder / f"runs/{retriever}.run.gz").is_file():
            lines = read_whole(run, Path(results).name, _run_lines)
            hashes[f"run {retriever}"] = described(lines)
        if config.get("retrievers", {}).get(retriever, {}).get(BRINGS):
            shown = read_result(folder / f"contexts/{retriever}.parquet").select("docno", "text").unique()
            hashes[f"passages of {retriever}"] = described(rows_of(shown))
        made = folder / f"contexts/{retriever}.processed.json"
        if "processor" in config.get("retrievers", {}).get(retriever, {}) and made.is_file():
            fingerprint = read_whole(made, Path(results).name, read_json)["fingerprint"]
            hashes[f"processor of {retriever}"] = {"hash": fingerprint}
    for function in more:
        hashes |= function(Path(results), dataset, config)
    for path in sorted(Path(results).glob("indexes/*/*.json")):
        receipt = read_whole(path, Path(results).name, read_json)
        # Receipts of earlier versions lack the number of passages.
        count = {"count": receipt["passages"]} if receipt.get("passages") else {}
        hashes[f"corpus {path.parent.name}"] = {**count, "hash": receipt["corpus"]}
    return hashes


def changed_queries(folders: Iterable[Path], gold: bool) -> dict[str, set[str]]:
    """Compare the queries in two dataset folders, and return the qids that differ, keyed by the kind of difference.

    The keys are ``text``, ``judgements`` and, with ``gold``, ``gold answers``. Only shared queries are compared.
    """
    sides = [_of_queries(folder) for folder in folders]
    common = set(sides[0]["text"]) & set(sides[1]["text"])
    kinds = ("text", "judgements", *(["gold answers"] if gold else []))
    return {kind: {qid for qid in common if sides[0][kind].get(qid) != sides[1][kind].get(qid)} for kind in kinds}


def _of_queries(folder: Path) -> dict[str, dict[str, object]]:
    queries = read_result(folder / "collection/queries.parquet")
    qrels = read_result(folder / "collection/qrels.parquet").select("qid", "docno", "label")
    judged = qrels.sort("docno").group_by("qid").agg("docno", "label").sort("qid")
    answers = queries["answers"].to_list() if "answers" in queries.columns else [None] * queries.height
    return {
        "text": dict(queries.select("qid", "query").iter_rows()),
        "judgements": {qid: (docnos, labels) for qid, docnos, labels in judged.iter_rows()},
        "gold answers": dict(zip(queries["qid"], answers, strict=True)),
    }


def read_result(path: Path) -> pl.DataFrame:
    """Read a Parquet file from a dataset's results. Raises InputError if the file is damaged."""
    return read_whole(path, path.parents[2].name, read_frame)


def _run_lines(path: Path) -> list[str]:
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    except (EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None
    return [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]


def rows_of(frame: pl.DataFrame) -> list[str]:
    """Convert each row of ``frame`` to a JSON string."""
    return [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in frame.iter_rows(named=True)]


def described(rows: list[str]) -> dict[str, Any]:
    """Return the number of ``rows`` (key ``count``) and a ``hash`` that doesn't depend on the order of the rows."""
    return {"count": len(rows), "hash": text_hash("\n".join(sorted(rows)))[:DIGITS]}
