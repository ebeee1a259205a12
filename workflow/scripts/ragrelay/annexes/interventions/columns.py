"""Columns that several tables of interventions share."""

from ragrelay.annexes.interventions.intervention import OF_ARMS
from ragrelay.base.vocabulary.columns import QID, integer, text

CHANGE = {
    "intervention": text("name of the intervention in the configuration"),
    "k": integer("passages of the context that is changed", "passages"),
    "qid": QID,
    "draw": integer("number of the pair of passages that are put in, from 0"),
    "place": integer("place in the prompt of what is changed, from 1; 0 for the context as it was"),
    "arm": text("; ".join(f"`{arm}`: {about}" for arm, about in OF_ARMS.items())),
}
"""Columns that name a changed context."""
KEY = list(CHANGE)
