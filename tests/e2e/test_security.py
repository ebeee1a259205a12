"""Nothing of the data meets a shell or the file system, and no secret is written down."""

import gzip
import json
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from tests.support.sandbox import TOKEN, Sandbox

PASSAGES = {
    "../../../made-by-docno": "</script><script>made()</script>",
    "d$(touch${IFS}made-by-docno)": "`touch made-by-text` {query} %s ; touch made-by-text",
    "'\";touch<made>|&": "\\input{/etc/passwd} \u001b[2J {0.__class__}",
}
QUERIES = {"../../made-by-qid": "$(touch made-by-query)", "/tmp/{dataset}": "{contexts} {text!r}"}


def hostile(folder: Path) -> Sandbox:
    """A study whose ids, texts and folder are shell commands, paths, placeholders and markup."""
    study = Sandbox(folder)
    data = study.folder / "da ta $(touch made-by-path);'\"&"
    data.mkdir()
    (data / "passages.jsonl").write_text(
        "".join(json.dumps({"doc_id": d, "text": t}) + "\n" for d, t in PASSAGES.items())
    )
    (data / "queries.tsv").write_text("".join(f"{qid}\t{text}\n" for qid, text in QUERIES.items()))
    judged = zip([*QUERIES] * 2, PASSAGES, (3, 2, 0), strict=False)
    (data / "qrels.txt").write_text("".join(f"{qid} 0 {docno} {label}\n" for qid, docno, label in judged))
    (data / "my $(touch made-by-run).run").write_text(
        "".join(f"{qid} Q0 {d} 1 1.5 t\n" for qid in QUERIES for d in PASSAGES)
    )
    study.config["datasets"]["small"] |= {"path": data.name, "references": {"lenient": 2}}
    study.config["retrievers"] = {"mine": {"kind": "run", "path": f"{data.name}/my $(touch made-by-run).run"}}
    study.config["grid"] = {**study.config["grid"], "retrievers": ["mine", "bm25", "rel"]}
    study.write_config()
    return study


def test_hostile_ids_texts_and_paths(tmp_path: Path) -> None:
    """They go through as text: to the letter in the prompts, and no file appears that the rules don't name."""
    study = hostile(tmp_path / "above" / "study")
    study.snakemake("all_prompts", "all_runs")
    prompts = pl.read_parquet(study.results / "small/prompts/tian2025/mine/descending/k2.parquet")
    assert sorted(prompts["qid"]) == sorted(QUERIES)
    for qid, docnos, prompt in prompts.select("qid", "docnos", "prompt").iter_rows():
        assert all(f'"{text}"' in prompt for text in [QUERIES[qid], *(PASSAGES[docno] for docno in docnos)])
    assert not [path for path in tmp_path.rglob("*") if "made-by-" in path.name and "$(touch made-by-" not in path.name]
    assert {path.name for path in tmp_path.iterdir()} == {"above"}
    assert {path.name for path in (tmp_path / "above").iterdir()} == {"study"}
    assert not Path("/tmp/small").exists()


def content(path: Path) -> bytes:
    """A file's bytes, uncompressed, a table's metadata included."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).write_ndjson().encode() + str(pq.read_metadata(path).metadata).encode()
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def test_no_secret_in_any_file(finished: Sandbox) -> None:
    """The run had an access token in its environment."""
    files = [path for path in finished.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert {".log", ".tsv", ".json", ".html", ".parquet", ".gz"} <= {path.suffix for path in files}
    assert not [path for path in files if TOKEN.encode() in content(path)]
