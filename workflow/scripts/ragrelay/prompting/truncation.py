"""Laying a prompt out again with fewer passages, for prompts longer than the model's window."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ragrelay.prompting.templates import Template


class Layout:
    """The texts that prompts were made of; they are read only when a prompt is found too long.

    ``queries`` and ``contexts`` are the files of the collection and the retriever's contexts (None for zero-shot).
    """

    def __init__(self, template: Template, queries: Path, contexts: Path | None) -> None:
        self.template, self.queries, self.contexts = template, queries, contexts

    def shortened(self, qid: str, docnos: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield (passages dropped, prompt) for 1, 2, ... dropped from the end of the ranking, the rest in order.

        The last passage is never dropped: without any, the answer would be a zero-shot one under another name.
        """
        if self.contexts is None:
            return
        query = pl.scan_parquet(self.queries).filter(qid=qid).select("query").collect().item()
        ranking = pl.scan_parquet(self.contexts).filter(qid=qid).select("rank", "docno", "text").collect().sort("rank")
        texts = dict(ranking.select("docno", "text").iter_rows())
        ranked = [docno for docno in texts if docno in set(docnos)]
        for dropped in range(1, len(ranked)):
            kept = set(ranked[:-dropped])
            yield dropped, self.template.render(query, [texts[docno] for docno in docnos if docno in kept])
