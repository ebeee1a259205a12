"""Read the query explorer's data for a batch of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import QID, Column, schema_of, text
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.generation.answer_files import COLUMNS, CONTEXT, read_answers
from ragrelay.generation.store import THOUGHT
from ragrelay.retrieval.contexts import shown_texts

ANSWER = ["seed", "answer", "finish_reason", "answer_tokens", "dropped_passages"]
SCORE = ["ordering", "k", "seed", "references", "f1", "best_docno"]
UTILITY = ["references", "p", "p0", "utility", "context_use", "text_change"]
PROCESSED = {"retriever": pl.String, "k": pl.Int64, "qid": pl.String, "docno": pl.String, "text": pl.String}
EFFECT = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String, "qid": pl.String,
          "docno": pl.String, "what": pl.String, "effect": pl.Float64}  # fmt: skip
"""Columns for the effects of single passages on P; ``what`` is the label shown before the value."""
BLOCK = {
    "qid": QID,
    "block": text("title of the block in which the row appears, below the query's contexts"),
    "title": text("title of the row within its block; rows with the same title and text are merged"),
    "text": text("text below the row's title, such as a query; empty if there is none"),
    "retriever": text("name of the retriever that returned the passages"),
    "note": text("note about the list of passages"),
    "passages": Column(pl.List(pl.Struct({"docno": pl.String, "label": pl.Int64, "text": pl.String})),
                       "passages in the list, in prompt order; the label is empty for an unjudged passage"),
    **{name: COLUMNS[name] for name in ("seed", "answer", "finish_reason", "answer_tokens")},
    "scores": Column(pl.List(pl.Struct({"references": pl.String, "p": pl.Float64})),
                     "answer's score against each reference set"),
}  # fmt: skip
"""Columns of blocks, in the page's order; one row per answer."""
File = str | Path


@dataclass(frozen=True)
class ExplorerFiles:
    """The query explorer's input files for one dataset, generator and scorer. Mappings are keyed by retriever."""

    queries: File
    references: File
    prompts: KeyedFiles
    """By cell, as ``answers``, including zero-shot."""
    answers: KeyedFiles
    scores: Mapping[str, File]
    passages: Mapping[str, File]
    """Candidates for contexts."""
    retrieval: Mapping[str, File]
    """Measures."""
    utility: File
    effects: Sequence[File] = ()
    """Tables of annexes (CSV) with EFFECT."""
    blocks: Sequence[File] = ()
    """Tables of annexes with BLOCK."""


Frames = dict[str, pl.DataFrame]


def read_frames(files: ExplorerFiles, qids: Sequence[str]) -> Frames:
    """Read the rows for ``qids`` from ``files``, and return a frame for each kind of data.

    Every frame has the column qid; frames about cells also have retriever, ordering and k. Passages have docno, label
    and text; contexts have docnos; processed passages have docno and text (null if removed); measures have measure and
    value. The columns of the other frames are ANSWER and THOUGHT, EFFECT, SCORE, UTILITY and BLOCK.
    """
    chosen = pl.col("qid").is_in(list(qids))
    shown = [
        pl.read_parquet(path, columns=["qid", "docno", "label", "text"]).filter(chosen)
        for path in [*files.passages.values(), files.references]
    ]
    measures = [_of(retriever, pl.read_parquet(path)) for retriever, path in files.retrieval.items()]
    scores = [
        _of(retriever, pl.read_parquet(path, columns=["qid", *SCORE]))
        # A retriever's own rows with ordering none are zero-shot answers, scored on its unseen references.
        .filter(chosen, (pl.col("ordering") != NO_ORDERING) | pl.lit(retriever == ZEROSHOT))
        for retriever, path in files.scores.items()
    ]
    processed = [
        _of(retriever, _processed(pl.read_parquet(path).filter(chosen), k)).select(*PROCESSED)
        for retriever, path in files.passages.items()
        if "shown" in pl.read_parquet_schema(path)
        for k in sorted({key["k"] for key, _ in files.prompts.matching(retriever=retriever).keyed})
    ]
    effects = [
        pl.read_csv(path, columns=list(EFFECT), schema_overrides=EFFECT).select(*EFFECT).filter(chosen)
        for path in files.effects
    ]
    blocks = [pl.read_parquet(path, columns=list(BLOCK)).filter(chosen) for path in files.blocks]
    return {
        "blocks": pl.concat([pl.DataFrame(schema=schema_of(BLOCK)), *blocks]),
        "effects": pl.concat([pl.DataFrame(schema=EFFECT), *effects]),
        "processed": pl.concat([pl.DataFrame(schema=PROCESSED), *processed]),
        "passages": pl.concat(shown).unique(["qid", "docno"], keep="first", maintain_order=True),
        "contexts": read_answers(files.prompts, ["qid", "docnos"]).filter(chosen),
        "answers": read_answers(files.answers, ["qid", *ANSWER], THOUGHT).filter(chosen),
        "scores": pl.concat(scores),
        "utility": pl.read_parquet(files.utility, columns=["qid", *CONTEXT, *UTILITY]).filter(chosen),
        "measures": pl.concat(measures).filter(chosen),
    }


def _processed(contexts: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return qid, docno, text (null = emptied) and k of the first ``k`` passages of processed contexts."""
    top, texts = contexts.filter(pl.col("rank") <= k), shown_texts(contexts, k).select("qid", "docno", "text")
    both = top.select("qid", "docno", k=pl.lit(k, pl.Int64))
    return both.join(texts, on=["qid", "docno"], how="left", maintain_order="left")


def _of(retriever: str, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.lit(retriever).alias("retriever"), pl.all())
