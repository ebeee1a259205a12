"""The jobs that have some of all retrievers' answers judged again, and that read the scores by both judgements."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.atomic_files import write_parquet
from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.judging.asked import Judging
from ragrelay.judging.bias_checks import CHECKED_COLUMNS, checked, sampled
from ragrelay.judging.job import ask, judged_shares, with_answers
from ragrelay.scoring.answer_cells import COLUMNS, AnswerCells
from ragrelay.scoring.judged_scorer import JudgedScorer
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.vocabulary.columns import real, schema_of, whole
from ragrelay.vocabulary.judge_checks import LENGTH

KEY = ["check", "retriever", *COLUMNS]
SCORE_COLUMNS = {
    **{name: CHECKED_COLUMNS[name] for name in (*KEY, "words")},
    "score": real("the answer's score as it was", "the scorer's"),
    "changed_score": real(f"the score of the changed judgements; empty for `{LENGTH}`", "the scorer's"),
    "judgements": whole("questions about the answer", "questions"),
    "other_words": whole("of these, those whose likeliest word is another after the change", "questions"),
}


def check_judge(
    answers: KeyedFiles,
    prompts: KeyedFiles,
    contexts: Mapping[str, str | Path],
    by: Judging,
    size: int,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Fill the likelihood store with the changed questions about ``size`` of all retrievers' answers.

    ``answers`` and ``prompts`` of all retrievers; ``contexts``: their passages by retriever; the rest as for
    judging.job.judge_answers. Returns what was asked (judging.bias_checks.SCHEMA) and the receipt.
    """
    cells = {
        name: AnswerCells(
            answers.matching(retriever=name).by("ordering", "k", "seed"),
            prompts.matching(retriever=name).by("ordering", "k"),
            by.qids,
        )
        for name in contexts
    }
    keys = [one.keys.with_columns(retriever=pl.lit(name, pl.String)) for name, one in cells.items()]
    chosen = sampled(pl.concat(keys), size)
    found = [
        checked(with_answers(one, some.drop("retriever")), one.contexts, PassageTexts([contexts[name]]), by, name)
        for name, one in cells.items()
        if (some := chosen.filter(retriever=name)).height
    ]
    asked = pl.concat([one for one, _ in found])
    receipt, told = ask(
        pl.concat([one for _, one in found]).unique("prompt_id", keep="first", maintain_order=True),
        by.scorer, generator, fingerprint, cache_dir, threads,
    )  # fmt: skip
    return asked, {**receipt, "answers": chosen.height, **told}


def score_judge_checks(
    asked: str | Path, receipt: Mapping[str, Any], scorer: JudgedScorer, cache_dir: str | Path, output: str | Path
) -> None:
    """Write SCORE_COLUMNS of what check_judge asked and returned; answers without a score are left out."""
    table = pl.read_parquet(asked, glob=False)
    ids = pl.concat([table["prompt_id"], table["changed_prompt_id"].rename("prompt_id")]).to_frame()
    write_parquet(checked_scores(table, judged_shares(ids, receipt, cache_dir), scorer), output)


def checked_scores(asked: pl.DataFrame, shares: pl.DataFrame, scorer: JudgedScorer) -> pl.DataFrame:
    """SCORE_COLUMNS of what was ``asked``, by each prompt's ``shares`` (see judging.job.judged_shares)."""
    changed = shares.select(changed_prompt_id="prompt_id", changed="shares")
    both = asked.join(shares, on="prompt_id", how="left", maintain_order="left")
    both = both.join(changed, on="changed_prompt_id", how="left", maintain_order="left")
    other = pl.col("shares").list.arg_max() != pl.col("changed").list.arg_max()
    own = both.group_by(KEY, maintain_order=True).agg(
        pl.col("words").first(), *scorer.measured(), judgements=pl.col("prompt_id").count(), other_words=other.sum()
    )
    again = both.with_columns(shares="changed").group_by(KEY, maintain_order=True).agg(*scorer.measured())
    found = own.rename({"f1": "score"}).join(
        again.select(*KEY, changed_score="f1"), on=KEY, how="left", maintain_order="left"
    )
    unchanged = pl.col("check") == LENGTH
    kept = found.with_columns(changed_score=pl.when(~unchanged).then("changed_score")).drop_nulls("score")
    return kept.select(pl.col(name).cast(dtype) for name, dtype in schema_of(SCORE_COLUMNS).items())
