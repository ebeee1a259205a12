"""Columns that several tables of interventions share."""

from ragrelay.annexes.interventions.intervention import OF_ARMS
from ragrelay.base.vocabulary.columns import QID, integer, text

CHANGE = {
    "intervention": text("the intervention's name in the configuration"),
    "k": integer("passages in the changed context", "passages"),
    "qid": QID,
    "draw": integer("number of the pair of inserted passages, from 0"),
    "place": integer("the changed passage's position in the prompt, from 1; 0 for the unchanged context"),
    "arm": text("; ".join(f"`{arm}`: {about}" for arm, about in OF_ARMS.items())),
}
"""Columns that name a changed context."""
KEY = list(CHANGE)
