"""The jobs that have a retriever's answers judged, and that read the scores from the judge's probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from ragrelay.io.atomic_files import atomic
from ragrelay.judging.asked import Judging, asked_about
from ragrelay.likelihoods.word_questions import ask_words, asked_shares
from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, AnswerCells, Cell
from ragrelay.scoring.judged_scorer import JudgedScorer
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.scoring.retriever_table import SCHEMA as SCORES
from ragrelay.vocabulary.names import NO_ORDERING, UNSCORED

KEY = [*COLUMNS, "references"]


def judge_answers(
    answers: Mapping[Cell, Path],
    prompts: Mapping[tuple[str, int], Path],
    zeroshot: Mapping[int, Path],
    contexts: Sequence[str | Path],
    by: Judging,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Fill the likelihood store with what the judge is asked about one retriever's answers.

    ``answers``, ``prompts``, ``zeroshot`` and ``contexts`` as for scoring.retriever_table.score_answers; ``generator``
    and ``fingerprint`` (for likelihoods) are the judge's. Returns what was asked (judging.asked.SCHEMA) and the
    receipt: that of likelihoods.word_questions.ask_words, which says what it raises, with answers (without
    ``zeroshot``) and unasked (rows of the score table without a question).
    """
    beside = {(*ZEROSHOT_CONTEXT, seed): path for seed, path in zeroshot.items()}
    cells = AnswerCells({**answers, **beside}, prompts, by.qids)
    judged = with_answers(cells, cells.keys)
    asked, questions = asked_about(judged, cells.contexts, PassageTexts(contexts), set(beside), by)
    scorer = by.scorer
    receipt = ask_words(questions, scorer.words(), scorer.prefix, generator, fingerprint, cache_dir, threads)
    unasked = asked.group_by(KEY).agg(pl.col("prompt_id").is_null().all())["prompt_id"].sum()
    own = cells.keys.filter(pl.col("ordering") != NO_ORDERING) if beside else cells.keys
    return asked, {**receipt, "answers": own.height, "unasked": int(unasked)}


def with_answers(cells: AnswerCells, keys: pl.DataFrame) -> pl.DataFrame:
    """Some of the ``keys`` of ``cells``, with answer and cited_sentences."""
    texts = dict(cells.texts(keys.unique("answer_hash", keep="first", maintain_order=True)))
    found = keys.with_columns(answer=pl.col("answer_hash").replace_strict(texts, return_dtype=pl.String))
    return found.join(cells.cited_sentences(), on=COLUMNS, how="left", maintain_order="left")


def score_judged_answers(
    asked: str | Path, receipt: Mapping[str, Any], scorer: JudgedScorer, cache_dir: str | Path, output: str | Path
) -> list[dict[str, Any]]:
    """Write the score table (scoring.retriever_table.SCHEMA) of what judge_answers asked and returned.

    No reference is the best one: best_docno, best_in_context and n_zero are null. Returns the count (``what``,
    ``count``) of the answers that have no score.
    """
    table = pl.read_parquet(asked, glob=False)
    shares = judged_shares(table, receipt, cache_dir)
    found = table.join(shares, on="prompt_id", how="left", maintain_order="left")
    scores = found.group_by(KEY, maintain_order=True).agg(
        pl.col("n_references", "n_near_copies").first(), *scorer.measured()
    )
    columns = [(pl.col(name) if name in scores.columns else pl.lit(None).alias(name)).cast(dtype)
               for name, dtype in SCORES.items()]  # fmt: skip
    written = scores.select(columns).to_arrow().replace_schema_metadata({"fingerprint": receipt["fingerprint"]})
    with atomic(output) as temporary:
        pq.write_table(written, temporary, compression="zstd")
    # Zero-shot answers beside a retriever's have the k of its contexts.
    of_others = (pl.col("ordering") == NO_ORDERING) & (pl.col("k") > 0)
    scored = scores.filter(pl.col("f1").is_not_null() & ~of_others).select(COLUMNS).n_unique()
    return [{"what": UNSCORED, "count": receipt["answers"] - scored}]


def judged_shares(asked: pl.DataFrame, receipt: Mapping[str, Any], cache_dir: str | Path) -> pl.DataFrame:
    """prompt_id and shares (see word_shares) of each question in ``asked``."""
    return asked_shares(asked.select("prompt_id").drop_nulls().unique(maintain_order=True), receipt, cache_dir)
