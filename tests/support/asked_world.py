"""What questions to a model are asked about in tests: two queries with passages, prompts and answers."""

from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.prompting.layout import kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template

Given = tuple[dict[str, str | list[str]], dict[str, Any], dict[str, str]]
"""Files, settings and wildcards of a job."""
QIDS = ("q1", "q2")
WORDS = (
    "tea", "iron", "copper", "paper", "glass", "stone", "water", "silver", "cotton", "amber", "coal", "salt", "sugar",
    "grain", "clay", "wool", "linen", "bronze", "pearl", "maple",
)  # fmt: skip
TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{text} ")


def texts(qid: str) -> list[str]:
    """Four passages of a query."""
    start = 8 * QIDS.index(qid)
    return [" ".join(WORDS[start + place : start + place + 6]) for place in range(4)]


class World:
    """Two queries with four passages each, their prompts and answers, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        queries = pl.DataFrame({"qid": QIDS, "query": [f"what is {words[0]}" for words in map(texts, QIDS)]})
        rows = [(q, n + 1, f"{q}d{n}", text) for q in QIDS for n, text in enumerate(texts(q))]
        self.contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
        self.queries = queries
        labelled = self.contexts.select("qid", "docno", label=4 - pl.col("rank"), text="text")
        for name, table in {"queries": queries, "contexts/bm25": self.contexts, "references": labelled}.items():
            write_parquet(table, self.path(f"{name}.parquet"))
        self.prompts = {k: kshot_prompts(queries, self.contexts, TEMPLATE, "descending", k) for k in (1, 2)}
        for k, prompts in self.prompts.items():
            write_parquet(prompts, self.path(f"prompts/bm25/descending/k{k}.parquet"))
            answers = prompts.select("qid", "prompt_id", seed=pl.lit(1, pl.Int64), dropped_passages=pl.lit(0, pl.Int64))
            said = pl.Series([f"{texts(qid)[k]} {k}" for qid in answers["qid"]])
            write_parquet(answers.with_columns(answer=said), self.path(f"answers/bm25/descending/k{k}/seed1.parquet"))
        write_parquet(zeroshot_prompts(queries, TEMPLATE), self.path("zeroshot.parquet"))

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def files(self, *names: str) -> list[str]:
        return [str(self.folder / f"{name}.parquet") for name in names]

    @property
    def answered(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Answers with their prompts and contexts, and the patterns of these files."""
        cells = ("bm25/descending/k1", "bm25/descending/k2")
        found = {"answers": self.files(*(f"answers/{cell}/seed1" for cell in cells)), "zeroshot": [],
                 "prompts": self.files(*(f"prompts/{cell}" for cell in cells))}  # fmt: skip
        patterns = {"answers": "answers/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
                    "prompts": "prompts/{retriever}/{ordering}/k{k}.parquet",
                    "contexts": "contexts/{retriever}.parquet"}  # fmt: skip
        return {**found, "contexts": self.files("contexts/bm25")}, patterns
