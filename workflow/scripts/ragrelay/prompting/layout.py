"""Build prompts from retrievers' contexts or single passages, and shorten prompts that exceed the window."""

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
    "prompt": text("the prompt; in a chat, the user message"),
    "system": text("the chat's system message; empty if there is none"),
    "prompt_id": PROMPT_ID,
}
SCHEMA = schema_of(COLUMNS)


def zeroshot_prompts(queries: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Build zero-shot prompts for ``queries`` (qid, query). The result has columns COLUMNS, with empty docnos."""
    rows = [_row(qid, query, [], template) for qid, query in queries.select("qid", "query").iter_rows()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def kshot_prompts(
    queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, ordering: str, k: int
) -> pl.DataFrame:
    """Build prompts with each query's top k passages in ``contexts`` (qid, rank, docno, text[, shown, places]).

    The result has columns COLUMNS, in the order of ``queries``. ``ordering``: the order of passages in the prompt. If a
    query has fewer than k passages, the prompt contains all of them; queries without passages are left out. If a
    processor removed all text from a query's passages, the prompt is zero-shot.
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
    """Return the SHA-256 hash of the prompt's text and, if there is one, the system message."""
    return value_hash([system, prompt], digits=64) if system else text_hash(prompt)


def _row(
    qid: str, query: str, passages: Sequence[tuple[str, str]], template: Template
) -> tuple[str, list[str], str, str, str]:
    texts = [text for _, text in passages]
    prompt, system = template.render(query, texts), template.system(texts)
    return qid, [docno for docno, _ in passages], prompt, system, prompt_id(prompt, system)


class Layout:
    """The data for rebuilding overlong prompts with fewer passages. Files are read only if a prompt is too long.

    ``queries``: path of the queries file. ``contexts``: path of each retriever's contexts, keyed by retriever.
    """

    def __init__(self, template: Template, queries: Path, contexts: Mapping[str, Path]) -> None:
        self.template, self.queries, self.contexts = template, queries, contexts

    def shortened(self, retriever: str, qid: str, docnos: Sequence[str], prompt: str = "") -> Iterator[tuple[int, str]]:
        """Drop 1, 2, ... passages from the end of the ranking; each time, yield the number dropped and the new prompt.

        The order of the remaining passages doesn't change. At least one passage always remains, because otherwise the
        answer would be zero-shot. ``prompt``: the full prompt, needed to identify the texts that a processor wrote.
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
        """Return texts by docno, best first. If a processor wrote texts for each k, return those in ``prompt``."""
        if "shown" not in ranking.columns:
            return dict(ranking.select("docno", "text").iter_rows())
        for k in sorted(ranking.explode("shown").unnest("shown", separator=".")["shown.k"].drop_nulls().unique()):
            texts = dict(shown_texts(ranking, k).select("docno", "text").iter_rows())
            shown = [texts[docno] for docno in docnos if docno in texts]
            if len(shown) == len(docnos) and self.template.render(query, shown) == prompt:
                return texts
        raise ValueError(f"no processed texts of {list(docnos)} make the prompt of query {query!r}")


def build_single_prompts(queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, depth: int) -> pl.DataFrame:
    """Build a k = 1 prompt for each passage at ranks 1 to ``depth`` in ``contexts`` (qid, rank, docno, text).

    The result has columns rank and COLUMNS, and is sorted by rank, then in the order of ``queries``. Prompts contain
    the original passages even if there is a processor, so that labels derived from the answers describe the original
    passages. Without a processor, a prompt is identical to the prompt in any k = 1 cell with the same passage.
    """
    passages = contexts.select("qid", "rank", "docno", "text")
    ranks = [
        kshot_prompts(
            queries, passages.filter(rank=rank).with_columns(rank=pl.lit(1, pl.Int64)), template, DESCENDING, 1
        ).select(pl.lit(rank, pl.Int64).alias("rank"), "*")
        for rank in range(1, depth + 1)
    ]
    return pl.concat(ranks)
