"""The target preview, of a study whose run is not finished."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
from ragrelay.analysis.verdicts import OF_DIFFERENCE
from ragrelay.base.io.part_index import NAME as INDEX
from ragrelay.generation.store import SCHEMA, AnswerStore

from tests.support.sandbox import Sandbox


def test_the_queries_that_are_finished(copied: Callable[[], Sandbox]) -> None:
    """A run's preview counts them from a part of the answers; study, cache and Snakemake's files stay as they are."""
    study = copied()
    result = pl.read_csv(study.results / "small/analysis/minilm/demo-lm/gain.csv")
    [queries] = study.results.glob("small/collection/queries.parquet")
    stored = _answered_but_for(study, pl.read_parquet(queries)["qid"][-1])
    lock = study.folder / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("results/small/small/scores/minilm/demo-lm/rel.parquet\n")
    assert not study.planned()  # hashes the models of the copied study
    before = _files(study)

    told = study.snakemake("preview")
    said = told.stdout + told.stderr
    assert _files(study) == before
    page = study.results.with_name("small-preview") / "preview.html"
    assert f"Preview, not the result: {page.relative_to(study.folder)}" in said
    assert "small, demo-lm: 7 of 8 queries, complete for every retriever\n  minilm: 7 of 7 scored\n" in said
    main = re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0])
    assert "not the result" in main and not re.search(rf"\b({'|'.join(OF_DIFFERENCE)})\b", main)

    [part] = (study.folder / "cache/answers").iterdir()
    part.rename(study.folder / "part")
    stored.rename(part)
    study.snakemake("preview")
    page_of_all = re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")).replace("\N{MINUS SIGN}", "-")
    assert "8 of 8 queries, complete for every retriever" in page_of_all
    shown = result.drop_nulls("low").select("mean_difference", "low", "high").rows()
    assert shown and all(f"{mean:.3f} [{low:.3f}, {high:.3f}]" in page_of_all for mean, low, high in shown)
    assert lock.exists(), "it removed the lock of a run that goes on"
    lock.unlink()
    assert not study.planned()


def _answered_but_for(study: Sandbox, qid: str) -> Path:
    """Leave the answers of all queries but ``qid`` in the store, as one part; return where the whole store is now."""
    [folder] = (study.folder / "cache/answers").iterdir()
    prompts = pl.concat(pl.read_parquet(path) for path in (study.results / "small/prompts").rglob("k*.parquet"))
    rows = pl.concat(AnswerStore(study.folder / "cache", folder.name).scan([part], SCHEMA).collect().drop("part")
                     for part in folder.glob("part-*"))  # fmt: skip
    whole = folder.rename(study.folder / "whole")
    left = rows.filter(~pl.col("prompt_id").is_in(prompts.filter(qid=qid)["prompt_id"].implode()))
    AnswerStore(study.folder / "cache", folder.name).add(left, {})
    return whole


def _files(study: Sandbox) -> dict[Path, bytes]:
    """The study's results, the cache but for indexes of stores, and what Snakemake keeps of jobs."""
    kept = (study.folder / ".snakemake" / name for name in ("metadata", "incomplete", "locks"))
    folders = (study.results, study.folder / "cache", *kept)
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != INDEX]
    return {path: path.read_bytes() for path in found}
