"""The jobs that have a retriever's answers judged, and that read the scores from the judge's probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from ragrelay.generation.tokens import load_tokenizer
from ragrelay.io.atomic_files import atomic
from ragrelay.judging.asked import Judging, asked_about
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods, look_up
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.likelihoods.words import first_tokens, spelled, text_ids, token_table, word_shares
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
    receipt: that of fill_likelihoods with answers (without ``zeroshot``), unasked (rows of the score table without a
    question), words, tokens and begins. Raises InputError for words that the tokenizer can't tell apart, and for a
    question that doesn't fit the window.
    """
    beside = {(*ZEROSHOT_CONTEXT, seed): path for seed, path in zeroshot.items()}
    cells = AnswerCells({**answers, **beside}, prompts, by.qids)
    judged = with_answers(cells, cells.keys)
    asked, questions = asked_about(judged, cells.contexts, PassageTexts(contexts), set(beside), by)
    receipt, told = ask(questions, by.scorer, generator, fingerprint, cache_dir, threads)
    unasked = asked.group_by(KEY).agg(pl.col("prompt_id").is_null().all())["prompt_id"].sum()
    own = cells.keys.filter(pl.col("ordering") != NO_ORDERING) if beside else cells.keys
    counts = {"answers": own.height, "unasked": int(unasked)}
    return asked, {**receipt, **counts, **told}


def with_answers(cells: AnswerCells, keys: pl.DataFrame) -> pl.DataFrame:
    """Some of the ``keys`` of ``cells``, with answer and cited_sentences."""
    texts = dict(cells.texts(keys.unique("answer_hash", keep="first", maintain_order=True)))
    found = keys.with_columns(answer=pl.col("answer_hash").replace_strict(texts, return_dtype=pl.String))
    return found.join(cells.cited_sentences(), on=COLUMNS, how="left", maintain_order="left")


def ask(
    questions: pl.DataFrame,
    scorer: JudgedScorer,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fill the likelihood store with the scorer's words after each of ``questions`` (judging.asked.PROMPTS).

    Returns the receipt of fill_likelihoods, and words, tokens and begins, by which the probabilities are found.
    """
    tokenizer = load_tokenizer(generator)
    words, begins = scorer.words(), text_ids(tokenizer, scorer.prefix)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {generator['model']!r}")
    start = one_engine(generator, fingerprint, cache_dir, threads)
    wanted = with_words(questions, tokens, begins)
    receipt = fill_likelihoods(wanted, LikelihoodStore(cache_dir, fingerprint), generator, start)
    return receipt, {"words": words, "tokens": tokens, "spelled": spelled(tokenizer, tokens), "begins": begins}


def with_words(
    questions: pl.DataFrame, tokens: Mapping[str, Sequence[int]], begins: Sequence[int] = ()
) -> pl.DataFrame:
    """``questions`` (prompt_id and more) with each token that represents a word: columns word and token_ids."""
    return questions.join(token_table(tokens, begins), how="cross", maintain_order="left_right")


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
    questions = asked.select("prompt_id").drop_nulls().unique(maintain_order=True)
    wanted = with_words(questions, receipt["tokens"], receipt["begins"])
    found = look_up(wanted, LikelihoodStore(cache_dir, receipt["fingerprint"]))
    return word_shares(found, receipt["words"], ["prompt_id"])
