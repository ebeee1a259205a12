"""Count questions for which the allowed words have little probability, and warn if there are many."""

import logging
from collections.abc import Sequence

import polars as pl

from ragrelay.base.vocabulary.columns import Column

log = logging.getLogger(__name__)

LITTLE = 0.5
"""The allowed words' total probability (mass) below which a question is counted."""
MANY = 0.1
"""The share of questions with a mass below LITTLE above which there is a warning."""
OTHERWISE = "the judge mostly says something else, so that its shares of these words mean little"
MASS = Column(
    pl.Float64,
    "total probability of the allowed reply words before normalisation; empty if the reply had to begin with a given "
    "text or if nothing was requested",
    "0 to 1",
    optional=True,
)
"""The column ``mass`` of judge tables."""


def mass_counts(masses: pl.Series, words: Sequence[str], judge: str | None = None) -> list[dict[str, object]]:
    """Count the questions whose mass is below LITTLE, and return the count as an entry for left_out.json.

    ``masses``: the allowed words' total probability for each question. Nulls are ignored; if there are only nulls, the
    result is empty. The entry's ``of`` contains the number of questions, their mean mass and, if given, the ``judge``.
    A warning is added and logged if the mean mass is below LITTLE, or if the share of counted questions is above MANY.
    """
    known = masses.drop_nulls()
    if known.is_empty():
        return []
    count, mean = int((known < LITTLE).sum()), float(known.to_numpy().mean())
    what = f"questions in which {' or '.join(words)} have together less than half of the judge's probability"
    named = {} if judge is None else {"judge": judge}
    counted = {"what": what, "count": count, "of": {**named, "questions": known.len(), "mean_mass": round(mean, 4)}}
    if mean >= LITTLE and count <= MANY * known.len():
        return [counted]
    log.warning("%s: %d of %d (mean probability %.2g); %s", what, count, known.len(), mean, OTHERWISE)
    return [{**counted, "warning": OTHERWISE}]
