"""Write the query explorer's data to a script per query, which the page loads when the reader selects the query.

Each script calls ``ragrelay.query``, because a page opened from disk can load scripts but can't fetch JSON.
"""

import shutil
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.atomic_files import atomic, write_json
from ragrelay.base.io.hashing import text_hash
from ragrelay.report.display.script_json import script_json
from ragrelay.report.query_explorer.queries import query_values, sample_queries
from ragrelay.report.query_explorer.reading import ExplorerFiles, read_frames

MOST_QUERIES = 300
"""One query of a large grid takes about a megabyte, so the files take at most a few hundred megabytes."""
AT_ONCE = 25
INDEX = "queries.json"


def explore_queries(files: ExplorerFiles, folder: str | Path) -> None:
    """Write a script per query to ``folder``, and a list of the queries to queries.json.

    If the dataset has more than MOST_QUERIES queries, only an evenly spaced sample is written.
    """
    queries = pl.read_parquet(files.queries, columns=["qid", "query"])
    chosen = sample_queries(queries["qid"].to_list(), MOST_QUERIES)
    with atomic(folder) as temporary:
        temporary.mkdir(parents=True)
        try:
            listed: list[dict[str, object]] = []
            for start in range(0, len(chosen), AT_ONCE):
                batch = chosen[start : start + AT_ONCE]
                frames = read_frames(files, batch)
                for value in query_values(queries.filter(pl.col("qid").is_in(batch)), frames):
                    listed.append(_write(value, temporary))
            write_json({"total": queries.height, "queries": listed}, temporary / INDEX)
            if Path(folder).is_dir():
                shutil.rmtree(folder)
        except BaseException:
            shutil.rmtree(temporary)
            raise


def _write(value: dict[str, Any], folder: Path) -> dict[str, object]:
    # Use the entire hash: qids that share a shorter one, and so a file name, could be found by trial.
    name = f"{text_hash(value['qid'])}.js"
    text = f"ragrelay.query({script_json(value)});\n"
    (folder / name).write_text(text, encoding="utf-8")
    return {"qid": value["qid"], "query": value["query"], "file": name, "bytes": len(text.encode())}
