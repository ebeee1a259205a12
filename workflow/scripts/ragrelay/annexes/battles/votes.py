"""Build a judge's prompts about pairs of answers, and convert the judge's replies to votes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.base.io.characters import composed
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, QID, SEED, integer, number, schema_of, text
from ragrelay.generation.likelihoods.mass import MASS
from ragrelay.prompting.layout import prompt_id
from ragrelay.questions.judging.templates import JudgeTemplate
from ragrelay.scoring.reference_sets import QueryReferences

WORDS = ["first", "second", "tie"]
WORTH = {True: (1.0, 0.0, 0.5), False: (0.0, 1.0, 0.5)}
"""The retriever's score for each vote in WORDS, keyed by whether the retriever's answer is shown first."""
KEY = ["retriever", "against", "ordering", "k", "qid", "seed"]
PAIR = {
    "retriever": CONTEXT_COLUMNS["retriever"],
    "against": text("name of the opponent; `zeroshot` for answers without a context"),
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "qid": QID,
    "seed": SEED,
}
ASKED_COLUMNS = {
    **PAIR,
    "number": integer("0 if the retriever’s answer is shown first, 1 if it is shown second"),
    "given": number("retriever’s score if the judge doesn’t need to be asked, because identical answers tie and an "
                    "empty answer loses; otherwise empty"),
    "prompt_id": text("hash of the question's texts, under which the cache stores the likelihoods of the reply words; "
        "empty if nothing was asked"),
    "mass": MASS,
}  # fmt: skip
VOTES = {
    **PAIR,
    "score_first": number("retriever’s score when its answer is shown first (1 for a win, .5 for a tie, 0 for a loss), "
                          "averaged over assessors; empty if there is no vote", "0 to 1"),
    "score_second": number("retriever’s score when its answer is shown second; empty if there is no vote", "0 to 1"),
    "score": number("retriever’s mean score over both orders, or the score in the only order that people saw; empty if "
        "a reply can’t be read", "0 to 1"),
    "asked": integer("1 if the judge was asked, 0 if it wasn’t (identical or empty answers)"),
}  # fmt: skip
QUESTIONS = {"prompt_id": pl.String, "prompt": pl.String, "system": pl.String}


def asked_pairs(
    pairs: pl.DataFrame,
    queries: Mapping[str, str],
    references: Mapping[str, QueryReferences] | None,
    best: int,
    template: JudgeTemplate,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Build two prompts for each pair of answers, one for each order of the two answers.

    Args:
        pairs: The pairs of answers: columns KEY, answer (the retriever's) and other (the opponent's).
        queries: Query texts, keyed by qid.
        references: References, keyed by qid (queries without any are left out); None if the judge sees no references.
        best: Maximum number of references that the judge sees.
        template: The judge's template.

    Returns:
        Two rows per pair (columns ASKED_COLUMNS), and the distinct prompts (columns QUESTIONS).
    """
    rows, prompts = list[tuple[Any, ...]](), dict[str, tuple[str, str]]()
    for *key, answer, other in pairs.select(*KEY, "answer", "other").sort(KEY).iter_rows():
        qid = key[KEY.index("qid")]
        if references is not None and qid not in references:
            continue
        given = _unasked(answer, other)
        texts: dict[str, str | Sequence[str]] = {"query": queries[qid]}
        if references is not None:
            texts["references"] = _best(references[qid], best)
        for number_, (first, second) in enumerate(((answer, other), (other, answer))):
            name = None
            if given is None:
                prompt = template.render({**texts, "first": first, "second": second})
                name = prompt_id(prompt, template.system)
                prompts[name] = (prompt, template.system)
            rows.append((*key, number_, given, name))
    distinct = [(name, *parts) for name, parts in prompts.items()]
    asked = pl.DataFrame(rows, schema=schema_of(ASKED_COLUMNS), orient="row")
    return asked, pl.DataFrame(distinct, schema=QUESTIONS, orient="row")


def _unasked(answer: str, other: str) -> float | None:
    """Return the score if the answers are identical or one is empty, otherwise None."""
    texts = [composed(text).strip() for text in (answer, other)]
    if texts[0] == texts[1]:
        return 0.5
    return None if all(texts) else float(bool(texts[0]))


def _best(references: QueryReferences, best: int) -> list[str]:
    order = sorted(range(len(references.texts)), key=lambda place: -references.labels[place])
    return [references.texts[place] for place in order[:best]]


def read_votes(asked: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Read each pair's votes.

    Args:
        asked: The prompts for each pair of answers (columns ASKED_COLUMNS).
        shares: The replies: columns prompt_id and shares (each word's share of the total probability of WORDS).

    Returns:
        A row per pair (columns VOTES). A vote is the most probable word, or null if there are no probabilities."""
    vote = pl.col("shares").list.arg_max().cast(pl.Int64)
    scores = [
        pl.when(pl.col("number") == 1 - is_first).then(vote.replace_strict(dict(enumerate(worth)), default=None))
        for is_first, worth in WORTH.items()
    ]
    voted = asked.join(shares, on="prompt_id", how="left", maintain_order="left").with_columns(
        score=pl.coalesce("given", *scores)
    )
    of_order = [pl.col("score").filter(number=number_).first() for number_ in (0, 1)]
    table = voted.group_by(KEY, maintain_order=True).agg(
        score_first=of_order[0],
        score_second=of_order[1],
        score=(of_order[0] + of_order[1]) / 2,
        asked=pl.col("given").is_null().any().cast(pl.Int64),
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in schema_of(VOTES).items())


def joined_answers(frame: pl.DataFrame, other: pl.DataFrame, retriever: str, against: str) -> Iterator[pl.DataFrame]:
    """Yield two tables of answer pairs: first pairs of real answers, then pairs that contain the plan's placeholders.

    Args:
        frame: The retriever's answers: columns qid, ordering, k, seed, answer and certain (false for placeholders).
        other: The opponent's answers.
        retriever: The retriever.
        against: The opponent's name. A zero-shot answer is paired with retrievers' answers for every ordering and k.

    Yields:
        KEY, answer, other.
    """
    by = ["qid", "seed"] if (other["k"] == 0).all() else ["qid", "ordering", "k", "seed"]
    met = frame.join(other.select(*by, other="answer", other_certain="certain"), on=by, maintain_order="left")
    named = met.with_columns(retriever=pl.lit(retriever), against=pl.lit(against))
    for certain in (True, False):
        is_certain = (pl.col("certain") & pl.col("other_certain")) == certain
        yield named.filter(is_certain).select(*KEY, "answer", "other")
