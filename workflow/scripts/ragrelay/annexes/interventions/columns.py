"""Columns shared by several tables about interventions."""

from ragrelay.annexes.interventions.intervention import OF_ARMS
from ragrelay.base.vocabulary.columns import QID, integer, text

CHANGE = {
    "intervention": text("name of the intervention in the configuration"),
    "k": integer("number of passages in the changed context", "passages"),
    "qid": QID,
    "draw": integer("number of the draw that selected the inserted passages, counted from 0"),
    "place": integer("position of the changed passage in the prompt, counted from 1; 0 for the unchanged context"),
    "arm": text("version of the context: " + "; ".join(f"`{arm}`, {about}" for arm, about in OF_ARMS.items())),
}
"""Columns that identify a changed context."""
KEY = list(CHANGE)
