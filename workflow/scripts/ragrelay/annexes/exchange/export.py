"""Export a generator's answers for one dataset as TREC RAG records, PyTerrier frames, JSON lines and Parquet."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from ragrelay.base.io.atomic_files import atomic, write_parquet
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CITED_SENTENCES, CONTEXT_COLUMNS, QID, SEED, Column, schema_of, text
from ragrelay.collection.answer_formats.trec_rag import written_record
from ragrelay.generation.answer_files import read_cited_sentences
from ragrelay.retrieval.contexts import shown_texts

DOCNOS = Column(pl.List(pl.String), "ids of the context's passages, in prompt order")
PLAIN_COLUMNS = {
    "qid": QID,
    "answer": text("the answer"),
    **CONTEXT_COLUMNS,
    "seed": SEED,
    "docnos": DOCNOS,
    "cited_sentences": CITED_SENTENCES,
}
FRAME_COLUMNS = {
    "qid": QID,
    "query": text("the query's text"),
    "qanswer": text("the answer"),
    "qcontext": text("texts of the context's passages, in prompt order, separated by newlines"),
    "docnos": DOCNOS,
}
COORDINATES = [*CONTEXT_COLUMNS, "seed"]


def export_answers(
    queries: pl.DataFrame,
    texts: Mapping[str, str],
    prompts: KeyedFiles,
    answers: KeyedFiles,
    outputs: Mapping[str, KeyedFiles],
    whole: Mapping[str, str | Path],
    about: Mapping[str, str],
    passages: Mapping[str, str | Path] | None = None,
) -> None:
    """Write the answers in every cell (retriever, ordering, k, seed), with the contexts from ``prompts``.

    ``queries`` has columns qid and query. ``texts``: the passages' texts, keyed by docno. ``outputs``: paths for
    `trec_rag` and `pyterrier`, with a file per cell. ``whole``: paths for `jsonl` and `parquet`, for all cells
    together. ``about``: `team_id` and `run_desc` for the TREC RAG records. ``passages``: context files for retrievers
    whose passages were changed by a processor, keyed by retriever. Missing answers (null) aren't exported.
    """
    query_of = dict(queries.select("qid", "query").iter_rows())
    contexts = {tuple(key[name] for name in CONTEXT_COLUMNS): path for key, path in prompts.keyed}
    cells = []
    for key, path in answers.keyed:
        docnos = pl.read_parquet(contexts[tuple(key[name] for name in CONTEXT_COLUMNS)], columns=["qid", "docnos"])
        cell = pl.read_parquet(path, columns=["qid", "answer"]).drop_nulls("answer")
        for other_columns in (docnos, read_cited_sentences(path)):
            cell = cell.join(other_columns, on="qid", maintain_order="left")
        records = (
            written_record(qid, query_of[qid], answer, passages, key["retriever"], about, cited)
            for qid, answer, passages, cited in cell.iter_rows()
        )
        write_json_lines(records, outputs["trec_rag"].of(key))
        shown = _shown((passages or {}).get(key["retriever"]), key["k"], texts)
        write_parquet(_frame(cell, query_of, shown), outputs["pyterrier"].of(key))
        cells.append(cell.with_columns(**{name: pl.lit(key[name], PLAIN_COLUMNS[name].dtype) for name in COORDINATES}))
    table = pl.concat(cells)
    uncited = table["cited_sentences"].is_null().all()
    table = table.select(*(schema_of(PLAIN_COLUMNS) if uncited else PLAIN_COLUMNS))
    write_json_lines(table.iter_rows(named=True), whole["jsonl"])
    write_parquet(table, whole["parquet"])


def _shown(contexts: str | Path | None, k: int, texts: Mapping[str, str]) -> Callable[[str, str], str]:
    """Return a function that maps a qid and a docno to the text shown in contexts of ``k`` passages."""
    if contexts is None or "shown" not in pl.read_parquet_schema(contexts):
        return lambda qid, docno: texts[docno]
    rows = shown_texts(pl.read_parquet(contexts), k).select("qid", "docno", "text")
    made = {(qid, docno): text for qid, docno, text in rows.iter_rows()}
    return lambda qid, docno: made[qid, docno]


def _frame(cell: pl.DataFrame, query_of: Mapping[str, str], text_of: Callable[[str, str], str]) -> pl.DataFrame:
    rows = [
        (qid, query_of[qid], answer, "\n".join(text_of(qid, docno) for docno in docnos), docnos)
        for qid, answer, docnos in cell.select("qid", "answer", "docnos").iter_rows()
    ]
    return pl.DataFrame(rows, schema=schema_of(FRAME_COLUMNS), orient="row")


def write_json_lines(records: Iterable[Mapping[str, object]], path: str | Path) -> None:
    """Write ``records`` as JSON lines; the file is replaced only after all records have been written."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_lines(records))


def _lines(records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for record in records:
        yield json.dumps(dict(record), ensure_ascii=False) + "\n"
