"""Check judges for bias: repeat a sample of questions about answers, with changes that shouldn't affect the score."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, Columns, integer, number, schema_of, text
from ragrelay.base.vocabulary.judge_checks import ABOUT, LENGTH, PADDED, PADDING, REVERSED, SWAPPED
from ragrelay.questions.judging.judge_requests import ASKED_COLUMNS, Contexts, Judging, asked_about
from ragrelay.questions.judging.templates import JudgeTemplate
from ragrelay.scoring.answer_cells import COLUMNS
from ragrelay.scoring.near_copies import PassageTexts

CHANGED_BY_PADDING = ("answer", "sentence")
"""Template placeholders for the judged text, which a padded template extends."""
CHECKED_COLUMNS = {
    "check": text(ABOUT),
    "retriever": CONTEXT_COLUMNS["retriever"],
    **{name: ASKED_COLUMNS[name] for name in (*COLUMNS, "number", "item", "prompt_id")},
    "changed_prompt_id": text(
        f"hash of the changed question's text, under which the cache stores the likelihoods; empty for `{LENGTH}`"
    ),
    "words": integer("number of words in the unchanged answer", "words"),
}
SCHEMA = schema_of(CHECKED_COLUMNS)
OF_QUESTION = ("number", "item", "prompt_id", "changed_prompt_id", "words")
"""Columns that differ between questions about the same answer or passage."""
SCORES = {
    "score": number("judge's score without the change; for a passage, the label or expected grade", "the judge's"),
    "changed_score": number(f"judge's score with the change; empty for `{LENGTH}`", "the judge's"),
    "judgements": integer("number of questions that the judge was asked about the answer or passage", "questions"),
    "other_words": integer("number of questions for which the change alters the likeliest reply word", "questions"),
}
ANSWER_KEY = ["retriever", *COLUMNS]
"""The columns that identify an answer."""


def score_columns(asked: Columns) -> Columns:
    """Return the columns of a table of check scores, given the columns of the table of questions (``asked``)."""
    return {**{name: asked[name] for name in asked if name not in OF_QUESTION}, "words": asked["words"], **SCORES}


SCORE_COLUMNS = score_columns(CHECKED_COLUMNS)


class ReversedTemplate(JudgeTemplate):
    """A judge's template that puts references or passages in reverse order."""

    def render(self, texts: Mapping[str, str | Sequence[str]]) -> str:
        return super().render({name: text if isinstance(text, str) else text[::-1] for name, text in texts.items()})


class PaddedTemplate(JudgeTemplate):
    """A judge's template that appends PADDING to the judged text."""

    def render(self, texts: Mapping[str, str | Sequence[str]]) -> str:
        return super().render(
            {name: f"{text} {PADDING}" if name in CHANGED_BY_PADDING else text for name, text in texts.items()}
        )


def changed_templates(template: JudgeTemplate) -> dict[str, JudgeTemplate]:
    """Return one changed template per check; SWAPPED is only included if ``template`` has a swapped question."""
    templates = {REVERSED: ReversedTemplate(**vars(template)), PADDED: PaddedTemplate(**vars(template))}
    return templates | ({SWAPPED: replace(template, question=template.swapped)} if template.swapped else {})


def sampled(keys: pl.DataFrame, names: Sequence[str], size: int) -> pl.DataFrame:
    """Draw up to ``size`` rows from ``keys`` (the same sample for every judge), and sort them by ``names``.

    Rows are ordered by a hash of the columns ``names``, with every query's first row before any second row, and so on.
    """
    drawn = pl.Series("drawn", [value_hash(list(row)) for row in keys.select(names).iter_rows()], dtype=pl.String)
    turns = keys.with_columns(drawn).sort("drawn").with_columns(turn=pl.int_range(pl.len()).over("qid"))
    return turns.sort("turn", "drawn").head(size).drop("turn", "drawn").sort(names)


def checked(
    answers: pl.DataFrame, contexts: Contexts, passages: PassageTexts, by: Judging, retriever: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return questions about ``answers``, paired with changed questions (SCHEMA), and the changed prompts (PROMPTS).

    The questions use the references at the lowest grade. A check includes only the answers for which the change alters
    a question. The check LENGTH changes nothing and includes all answers.
    """
    lowest = min(by.grades, key=by.grades.__getitem__)
    own = asked_about(answers, contexts, passages, set(), by)[0].filter(references=lowest)
    is_asked = pl.col("prompt_id").is_not_null().any().over(COLUMNS)
    words = answers.select(*COLUMNS, words=pl.col("answer").str.count_matches(r"\S+").cast(pl.Int64))
    tables = [own.filter(is_asked).with_columns(check=pl.lit(LENGTH), changed_prompt_id=pl.lit(None, pl.String))]
    prompts = []
    for check, template in changed_templates(by.template).items():
        changed, questions = asked_about(answers, contexts, passages, set(), replace(by, template=template))
        ids = changed.filter(references=lowest)["prompt_id"]
        paired = own.with_columns(check=pl.lit(check), changed_prompt_id=ids)
        of_answer = (pl.col("prompt_id") != pl.col("changed_prompt_id")).any().over(COLUMNS)
        tables.append(paired.filter(of_answer))
        prompts.append(questions.filter(pl.col("prompt_id").is_in(tables[-1]["changed_prompt_id"].implode())))
    joined = pl.concat(tables).join(words, on=COLUMNS, how="left", maintain_order="left")
    named = joined.with_columns(retriever=pl.lit(retriever, pl.String))
    return named.select(*SCHEMA), pl.concat(prompts).unique("prompt_id", keep="first", maintain_order=True)
