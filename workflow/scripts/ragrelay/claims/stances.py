"""The stances of evidence towards its claim, and the words that a model may answer with."""

WORDS = ("True", "None", "False")
INSUFFICIENT = (-1, 1, -1)
DIRECTIONS: dict[str, tuple[int, int, int]] = {
    "supports": (1, -1, -1),
    "insufficient-supports": (1, 1, -1),
    "insufficient-neutral": INSUFFICIENT,
    "insufficient-contradictory": INSUFFICIENT,
    "insufficient-refutes": (-1, 1, 1),
    "refutes": (-1, -1, 1),
    "not_applicable": INSUFFICIENT,
}
"""D(t, S): whether evidence of a stance should raise (1) or lower (-1) the probability of each of WORDS.

Source: Hagström et al., A Reality Check on Context Utilisation for RAG, ACL 2025, the definition of ACU.
"""
STANCES = tuple(DIRECTIONS)
MEANT = {"supports": "True", "refutes": "False"}
"""The word that evidence of a stance implies; all others imply ``None``."""
LEANS = {"supports": "True", "insufficient-supports": "True", "refutes": "False", "insufficient-refutes": "False"}
"""The word that evidence of a stance speaks for, sufficient or not."""


def contradicts(stance: str, said: str) -> bool | None:
    """Whether evidence of ``stance`` contradicts the model's prediction without it (``said``); None for not_applicable.

    It does where the model said True and the evidence speaks for False, or the other way round, sufficiently or not.
    It does not where the model said None or the evidence leans to no side.

    Source: the authors' notebook of Hagström et al., ACL 2025 (``memory_conflict``).
    """
    if stance == "not_applicable":
        return None
    return said != "None" and LEANS.get(stance, said) != said
