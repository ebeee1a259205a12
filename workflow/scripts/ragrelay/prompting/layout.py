"""Lay out contexts as prompts: a retriever's contexts, single passages, or fewer passages to fit a window."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.io.hashing import text_hash, value_hash
from ragrelay.base.vocabulary.columns import PROMPT_ID, QID, Column, schema_of, text
from ragrelay.base.vocabulary.orderings import DESCENDING, ordered
from ragrelay.prompting.templates import Template
from ragrelay.retrieval.contexts import shown_texts

COLUMNS = {
    "qid": QID,
    "docnos": Column(pl.List(pl.String), "ids of the context's passages, in prompt order"),
    "prompt": text("the prompt; with a chat template, its user part"),
    "system": text("system part of a chat; empty without one"),
    "prompt_id": PROMPT_ID,
}
SCHEMA = schema_of(COLUMNS)


def zeroshot_prompts(queries: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Return prompts without context for ``queries`` (qid, query): qid, docnos (empty), prompt, system, prompt_id."""
    rows = [_row(qid, query, [], template) for qid, query in queries.select("qid", "query").iter_rows()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def kshot_prompts(
    queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, ordering: str, k: int
) -> pl.DataFrame:
    """Return prompts with the top k of ``contexts`` (qid, rank, docno, text[, shown, places]) in ``ordering``.

    Columns COLUMNS, in the order of ``queries``. A query with fewer than k passages gets all it has; a query without
    passages gets no row. If a processor emptied all passages of a query, its prompt is the one without context.
    """
    top = shown_texts(contexts, k).sort("place").group_by("qid", maintain_order=True).agg("docno", "text")
    passages = {qid: list(zip(docnos, texts, strict=True)) for qid, docnos, texts in top.iter_rows()}
    found = set(contexts["qid"])
    rows = []
    for qid, query in queries.select("qid", "query").iter_rows():
        if qid in found:
            rows.append(_row(qid, query, ordered(passages.get(qid, []), ordering, key=qid), template))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def prompt_id(prompt: str, system: str = "") -> str:
    """Return the SHA-256 of the prompt's text; with a system part, of both."""
    return value_hash([system, prompt], digits=64) if system else text_hash(prompt)


def _row(
    qid: str, query: str, passages: Sequence[tuple[str, str]], template: Template
) -> tuple[str, list[str], str, str, str]:
    texts = [text for _, text in passages]
    prompt, system = template.render(query, texts), template.system(texts)
    return qid, [docno for docno, _ in passages], prompt, system, prompt_id(prompt, system)


class Layout:
    """The texts from which prompts were made. They are read only if a prompt is too long.

    ``queries`` and ``contexts`` are the files of the collection and of each retriever's contexts. Zero-shot prompts
    have none.
    """

    def __init__(self, template: Template, queries: Path, contexts: Mapping[str, Path]) -> None:
        self.template, self.queries, self.contexts = template, queries, contexts

    def shortened(self, retriever: str, qid: str, docnos: Sequence[str], prompt: str = "") -> Iterator[tuple[int, str]]:
        """Yield (passages dropped, prompt) for 1, 2, ... passages dropped from the end of the retriever's ranking.

        The others stay in prompt order. The last passage is never dropped, since the answer would be a zero-shot one.
        ``prompt``: the whole one, which tells which texts a processor made for it.
        """
        if retriever not in self.contexts:
            return
        query = pl.scan_parquet(self.queries).filter(qid=qid).select("query").collect().item()
        contexts = pl.scan_parquet(self.contexts[retriever]).filter(qid=qid)
        texts = self._texts(contexts.collect().sort("rank"), query, docnos, prompt)
        ranked = [docno for docno in texts if docno in set(docnos)]
        for dropped in range(1, len(ranked)):
            kept = set(ranked[:-dropped])
            yield dropped, self.template.render(query, [texts[docno] for docno in docnos if docno in kept])

    def _texts(self, ranking: pl.DataFrame, query: str, docnos: Sequence[str], prompt: str) -> dict[str, str]:
        """Return texts by docno, best first; of the texts that a processor made for each k, those in ``prompt``."""
        if "shown" not in ranking.columns:
            return dict(ranking.select("docno", "text").iter_rows())
        for k in sorted(ranking.explode("shown").unnest("shown", separator=".")["shown.k"].drop_nulls().unique()):
            texts = dict(shown_texts(ranking, k).select("docno", "text").iter_rows())
            shown = [texts[docno] for docno in docnos if docno in texts]
            if len(shown) == len(docnos) and self.template.render(query, shown) == prompt:
                return texts
        raise ValueError(f"no processed texts of {list(docnos)} make the prompt of query {query!r}")


def build_single_prompts(queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, depth: int) -> pl.DataFrame:
    """Return the k = 1 prompts of the passages at ranks 1 to ``depth`` of ``contexts`` (qid, rank, docno, text).

    Columns of kshot_prompts after ``rank``, in the order of rank, then of ``queries``. The texts are the passages' own,
    whatever a processor makes of them, so that a label is the passage's; without one they, and so the prompt_ids, are
    the same as in any k = 1 cell that has the passage.
    """
    passages = contexts.select("qid", "rank", "docno", "text")
    ranks = [
        kshot_prompts(
            queries, passages.filter(rank=rank).with_columns(rank=pl.lit(1, pl.Int64)), template, DESCENDING, 1
        ).select(pl.lit(rank, pl.Int64).alias("rank"), "*")
        for rank in range(1, depth + 1)
    ]
    return pl.concat(ranks)
