"""The demo's collection and generator, and contexts, prompts and requests as the workflow's stages make them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.base import Collection
from ragrelay.config.study import Study
from ragrelay.generation.generator import Request
from ragrelay.generation.requests import asked_keys, requests_of, window_of
from ragrelay.prompting.layout import Layout, kshot_prompts
from ragrelay.prompting.templates import Template, load_template
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.indexes import index_corpus
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from benchmarks.shared.workflow import ROOT


@dataclass(frozen=True)
class Demo:
    """``folder`` has queries.parquet and what is written later; ``generator`` is demo-lm with its defaults."""

    folder: Path
    study: Study
    collection: Collection
    generator: dict[str, Any]
    template: Template

    @property
    def queries(self) -> pl.DataFrame:
        """qid, query."""
        return self.collection.queries()

    def write_contexts(self, definition: dict[str, Any], name: str) -> Path:
        """Contexts of a retriever, to 15 passages."""
        queries, qrels, built = self.queries, self.collection.qrels(), None
        if index := RETRIEVER_KINDS.of(definition).index_definition():
            receipt = index_corpus(self.collection, definition["kind"], index, self.folder, threads=1)
            built = self.folder / receipt["path"]
        run = build_run(self.collection, queries, qrels, definition, index=built)
        contexts, _ = build_contexts(run, qrels, self.collection, 15, name)
        write_parquet(contexts, self.folder / f"{name}.parquet")
        return self.folder / f"{name}.parquet"

    def write_prompts(self, contexts: Path, ordering: str, ks: Sequence[int], queries: int | None = None) -> list[Path]:
        """Prompt files of ``ordering``, one per k, of the first ``queries`` queries."""
        table, passages = self.queries.head(queries or len(self.queries)), pl.read_parquet(contexts)
        paths = [self.folder / f"{contexts.stem}-{ordering}-{k}.parquet" for k in ks]
        for path, k in zip(paths, ks, strict=True):
            write_parquet(kshot_prompts(table, passages, self.template, ordering, k), path)
        return paths

    def asked(self, ks: Sequence[int], seeds: int, queries: int) -> tuple[pl.DataFrame, list[Request]]:
        """What a job with BM25's descending contexts is asked for, in prefix order, and that as token ids."""
        contexts = self.write_contexts(self.study.retriever("bm25"), "bm25")
        prompts = self.write_prompts(contexts, "descending", ks, queries)
        asked = asked_keys({"bm25": prompts}, range(1, seeds + 1))
        return asked, list(requests_of(asked, self.generator, window_of(self.generator), self.layout))

    @property
    def layout(self) -> Layout:
        """The texts of BM25's prompts."""
        return Layout(self.template, self.folder / "queries.parquet", {"bm25": self.folder / "bm25.parquet"})


def make_demo(folder: Path) -> Demo:
    """The demo, with what is made of it under ``folder``."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    study = Study(config, ROOT, [ROOT / "config/prompts"])
    collection = open_collection(study.dataset("demo"), ROOT)
    write_parquet(collection.queries(), folder / "queries.parquet")
    generator = study.generator("demo-lm")
    generator = {**generator, "model": str(ROOT / generator["model"])}
    return Demo(folder, study, collection, generator, load_template(study.template_path(generator["prompt"])))
