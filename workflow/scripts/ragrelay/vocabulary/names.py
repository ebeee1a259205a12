"""Names that no catalogue entry may have, and what the names of reference sets and measures mean."""

ZEROSHOT = "zeroshot"
"""The name in the place of a retriever for answers without context, at k = 0."""
NO_ORDERING = "none"
"""The name in the place of an ordering for answers without context."""
UNSEEN = "-unseen"
"""Suffix of reference sets without the passages of the query's own context and their near copies."""
UNSCORED = "answers without a score: no context, no sentence or no nuggets to ask about"
"""The name under which answers that a judge could not score are counted."""
SET_BY_DESIGN = ("oracle", "graded", "position")
"""Kinds of retrievers that are no rankings: judgements decide what they retrieve."""
PAPER_NAMES = {
    "P": "precision",
    "Success": "hit ratio",
    "R": "recall",
    "AP": "MAP",
    "RR": "MRR",
    "nDCG": "nDCG",
}
"""The measures that labels are aggregated by, in ir_measures' notation, with the names that the paper of eRAG uses."""
