"""Answers of a finished study, exported and imported again under another name: no engine, the same numbers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import ragrelay
from ragrelay.annexes.exchange.exported_tables import export_tables
from ragrelay.base.errors import InputError
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import answer_files
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.imported.cell_files import write_cells
from ragrelay.generation.imported.imported_answers import Places, checked_answers

from tests.support.changes import Change, changed
from tests.support.graphs import Job, graph
from tests.support.reruns import downstream, named, running
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.process

OF_CELL = "{retriever}.{ordering}.k{k}.seed{seed}"
FORMATS = {
    "parquet": "answers.parquet",
    "jsonl": "answers.jsonl",
    "trec_rag": f"trec_rag/{OF_CELL}.jsonl",
    "pyterrier": f"pyterrier/{OF_CELL}.parquet",
}
EXPORTED = "answers/{dataset}"
ANALYSED = "results/small/small/analysis/minilm/theirs/gain.csv"
TARGETS = (ANALYSED,)
READ = ("read_answers", "read_zeroshot_answers")


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The finished study with its own answers imported from TREC RAG's files, one per cell, as `theirs`."""
    twin = finished.copied_to(tmp_path_factory.mktemp("brought") / "study")
    twin.snakemake("results/small/export/small/demo-lm/answers.parquet")
    # Elsewhere, as otherwise they would be files that a rule of the study makes.
    shutil.copytree(twin.results / "export/small/demo-lm", twin.folder / "answers/small")
    path = f"{EXPORTED}/{FORMATS['trec_rag']}"
    twin.config["generators"] = {**twin.config["generators"], "theirs": {"engine": "file", "path": path}}
    twin.config["grid"] = {**twin.config["grid"], "generators": ["demo-lm", "theirs"]}
    twin.write_config()
    twin.snakemake(ANALYSED)
    assert twin.planned(ANALYSED) == {}
    return twin


def test_the_numbers_are_the_same_byte_for_byte(study: Sandbox) -> None:
    folder = study.results / "small"
    for retriever in ("bm25", "rel", "nrel", "zeroshot"):
        own, theirs = (folder / f"scores/minilm/{name}/{retriever}.parquet" for name in ("demo-lm", "theirs"))
        assert own.read_bytes() == theirs.read_bytes(), retriever
    own, theirs = (folder / f"utility/minilm/{name}.parquet" for name in ("demo-lm", "theirs"))
    assert own.read_bytes() == theirs.read_bytes()
    for table in ("utility", "gain", "correlation", "within"):
        own, theirs = (folder / f"analysis/minilm/{name}/{table}.csv" for name in ("demo-lm", "theirs"))
        assert own.read_bytes().replace(b",demo-lm,", b",theirs,") == theirs.read_bytes(), table


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_cells(study: Sandbox, tmp_path: Path, form: str) -> None:
    """Contexts are as they were prompted, from the file or else from the run; answers are equal to the letter."""
    grid, folder = study.config["grid"], study.results / "small"
    files = answer_files(f"{EXPORTED}/{FORMATS[form]}", "small", study.folder)
    assert len(files) == (26 if "{" in FORMATS[form] else 1)
    places = Places(grid["retrievers"], grid["orderings"], grid["k"], grid["seeds"])
    collection = LocalCollection(study.collection)
    qids = pl.read_parquet(folder / "collection/queries.parquet")["qid"].to_list()
    given = [(str(study.folder / path), said) for path, said in files]
    rows, _ = checked_answers(given, places._asdict(), "theirs", collection, qids)
    cells = [(o, k) for o in grid["orderings"] for k in grid["k"]]
    for retriever in grid["retrievers"]:
        write_cells(
            rows.filter(retriever=retriever),
            qids,
            pl.read_parquet(folder / f"contexts/{retriever}.parquet"),
            {(o, k): tmp_path / f"{o}{k}.parquet" for o, k in cells},
            {(o, k, s): tmp_path / f"{o}{k}-{s}.parquet" for o, k in cells for s in grid["seeds"]},
        )
        for o, k in cells:
            prompted = pl.read_parquet(folder / f"prompts/tian2025/{retriever}/{o}/k{k}.parquet")
            assert pl.read_parquet(tmp_path / f"{o}{k}.parquet")["docnos"].equals(prompted["docnos"])
            for s in grid["seeds"]:
                own = pl.read_parquet(folder / f"answers/demo-lm/{retriever}/{o}/k{k}/seed{s}.parquet")
                read = pl.read_parquet(tmp_path / f"{o}{k}-{s}.parquet")
                assert read.columns == own.columns and read.schema == own.schema
                assert read.select("qid", "seed", "answer").equals(own.select("qid", "seed", "answer"))


def test_exported_files(study: Sandbox) -> None:
    folder = study.folder / EXPORTED.replace("{dataset}", "small")
    whole = pl.read_parquet(folder / "answers.parquet")
    assert whole.height == (3 * 2 * 2 + 1) * 2 * 8
    lines = [json.loads(line) for line in (folder / "answers.jsonl").open(encoding="utf-8")]
    assert lines == whole.to_dicts()
    frame = pl.read_parquet(folder / "pyterrier/bm25.ascending.k2.seed1.parquet")
    texts = {p["docno"]: p["text"] for p in LocalCollection(study.collection).passages()}
    assert frame.columns[:4] == ["qid", "query", "qanswer", "qcontext"]
    for row in frame.iter_rows(named=True):
        assert row["qcontext"] == "\n".join(texts[docno] for docno in row["docnos"])
    rows = read_answer_rows(answer_files(f"{folder}/{FORMATS['trec_rag']}", "small"))
    assert rows.height == whole.height and rows["docnos"].null_count() == rows.height, "nothing is cited"


def test_tables_in_one_line(study: Sandbox) -> None:
    table = ragrelay.open(study.results).utility()
    assert table.columns[:3] == ["dataset", "generator", "scorer"] and set(table["generator"]) == {"demo-lm", "theirs"}
    own, theirs = (table.filter(generator=name).drop("generator") for name in ("demo-lm", "theirs"))
    assert own.height > 100 and own.equals(theirs)
    results = ragrelay.open(study.results)
    assert results.gain().height == 2 * results.gain().filter(generator="theirs").height > 0
    assert results.answers().select("retriever", "ordering", "k", "seed", "qid").n_unique() == 26 * 8
    assert {"per_query", "gain", "scores", "answers", "retrieval"} <= set(results.tables())
    with pytest.raises(InputError, match="did you mean 'gain'"):
        results.table("gian")
    with pytest.raises(InputError, match="no folder"):
        ragrelay.open(study.folder / "results/none")


def test_tables_as_parquet_with_a_card(study: Sandbox, tmp_path: Path) -> None:
    study.snakemake("results/small/pooled.csv")
    results, names = ragrelay.open(study.results), ["gain", "per_query", "pooled"]
    paths = {name: tmp_path / f"{name}.parquet" for name in names}
    export_tables(results, paths, tmp_path / "README.md", "small")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    for name, path in paths.items():
        frame = pl.read_parquet(path)
        assert frame.equals(results.table(name))
        section = card.split(f"## {name}.parquet")[1].split("\n## ")[0]
        assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == frame.columns
    assert "| `mean_p` | Float64 | the scorer's |" in card and "(`analyse_transmission`)" in card


def _edited(study: Sandbox) -> Change:
    path = f"{EXPORTED}/trec_rag/bm25.descending.k1.seed1.jsonl".replace("{dataset}", "small")
    return lambda changes: changes.edit(path, '"text": "', '"text": "Now ')


CASES: dict[str, tuple[Callable[[Sandbox], Change], tuple[str, ...]]] = {
    "answers file edited": (_edited, READ),
    "k of the entry": (lambda _: lambda study: study.entry("generators", "theirs", k=2), READ),
    "another generator's temperature": (
        lambda _: lambda study: study.entry("generators", "demo-lm", temperature=0.9),
        (),
    ),
    "times alone": (lambda _: lambda study: study.touch(), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_only_its_own_jobs_run(study: Sandbox, before: dict[str, Job], case: str) -> None:
    change, first = CASES[case]
    with changed(study, change(study)):
        jobs = graph(study, TARGETS)
    assert running(jobs) == downstream(before, jobs, first) == named(jobs, running(jobs), ["theirs"])
    assert not any("generate" in jobs[name].rule for name in running(jobs)), "no engine"


def test_the_plan_asks_no_engine_for_them(study: Sandbox) -> None:
    with changed(study, lambda one: one.grid(generators=["theirs"])):
        everything = study.planned("--forceall", "report", "plan")
    assert not [rule for rule in everything if "generate" in rule or "view" in rule or "prompts" in rule]
    assert everything["read_answers"] == 3
