"""Build the table of predictions for a retriever and generator."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from ragrelay.annexes.prediction.predictor import Predictor, valued
from ragrelay.annexes.prediction.subject import Answer, Query, Subject
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, QID, REASON, number, schema_of, text

COLUMNS = {
    "qid": QID,
    "k": CONTEXT_COLUMNS["k"],
    "ordering": text("order of the passages in the prompt; empty if the value doesn't depend on it"),
    "predictor": text("name of the predictor, as in docs/predictors.md"),
    "value": number("value of the predictor; empty if it can't be computed", "the predictor's"),
    "reason": REASON._replace(about="why there is no value; otherwise empty"),
}
SCHEMA = schema_of(COLUMNS)
Context = tuple[str, int]
"""Ordering and k."""


def predictions(
    queries: Iterable[tuple[Query, Mapping[Context, Sequence[Answer]]]],
    contexts: Sequence[Context],
    predictors: Sequence[Predictor],
) -> pl.DataFrame:
    """Compute every predictor for each query and k, and for each ordering if the value depends on the ordering.

    Returns the columns in SCHEMA. ``queries``: each query with its answers, keyed by ordering and k; ``contexts``:
    every ordering and k in the study. A value that doesn't depend on k is repeated for every k. For imported answers
    and processed texts (``shown``), predictors that use the context also have a row for each ordering.
    """
    frames = [pl.DataFrame(schema=SCHEMA)]
    for query, answers in queries:
        rows = [row for predictor in predictors for row in _rows(predictor, query, answers, contexts)]
        frames.append(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    return pl.concat(frames)


def _rows(
    predictor: Predictor, query: Query, answers: Mapping[Context, Sequence[Answer]], contexts: Sequence[Context]
) -> Iterator[tuple[object, ...]]:
    ks = list(dict.fromkeys(k for _, k in contexts))
    own = query.shown is not None and predictor.of_context
    places: list[tuple[str | None, int]] = list(contexts) if predictor.of_ordering or own else [(None, k) for k in ks]
    same = None if predictor.of_k else valued(predictor, Subject(query, ks[0]))
    for ordering, k in places:
        made = answers.get((ordering, k), ()) if ordering else ()
        if own:
            value, reason = _of_shown(predictor, query, str(ordering), k)
        else:
            value, reason = same or valued(predictor, Subject(query, k, made, ordering))
        yield query.qid, k, ordering, predictor.name, value, reason


def _of_shown(predictor: Predictor, query: Query, ordering: str, k: int) -> tuple[float | None, str | None]:
    """Return the query with the passages that its answers' contexts contain, which may be fewer or more than k."""
    shown = (query.shown or {}).get((ordering, k))
    if shown is None:
        return None, "no answer"
    return valued(predictor, Subject(shown, len(shown.docnos), ordering=ordering))
