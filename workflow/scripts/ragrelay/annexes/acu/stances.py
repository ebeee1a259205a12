"""Define the stances of evidence towards a claim, and the words with which a model may answer."""

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
"""D(t, S): whether evidence with stance S should raise (1) or lower (-1) the probability of each word t of WORDS.

From the definition of ACU in Hagström et al., A Reality Check on Context Utilisation for RAG, ACL 2025.
"""
STANCES = tuple(DIRECTIONS)
MEANT = {"supports": "True", "refutes": "False"}
"""Each stance with the word that it implies; all other stances imply ``None``."""
LEANS = {"supports": "True", "insufficient-supports": "True", "refutes": "False", "insufficient-refutes": "False"}
"""Each stance with the word that it supports, sufficiently or not."""


def contradicts(stance: str, prediction: str) -> bool | None:
    """Return whether evidence contradicts a ``prediction`` made without evidence, or None for stance not_applicable.

    The prediction True is contradicted by refuting evidence, and False by supporting evidence, even if the evidence is
    insufficient. The prediction None is never contradicted, and neutral or contradictory evidence contradicts nothing.
    The definition follows ``memory_conflict`` in the notebook by Hagström et al., ACL 2025.
    """
    if stance == "not_applicable":
        return None
    return prediction != "None" and LEANS.get(stance, prediction) != prediction
