"""How short an answer is."""

from typing import Any

from pydantic import Field
from ragrelay.extend import PairScorer

from a_lab.words import words


class Brevity(PairScorer):
    """1 for an answer with at most ``most`` words, and less for longer answers."""

    most: int = Field(20, ge=1, description="Maximum words in a short answer.")

    def decisive(self) -> dict[str, object]:
        """Return the kind and its key."""
        return {"kind": "brevity", "most": self.most}

    def pair(self) -> Any:
        """Return the function that scores an answer against a reference."""
        return lambda answer, reference: min(1.0, self.most / max(1, words(answer)))
