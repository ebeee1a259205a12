"""Define names that no catalogue entry may have, and the names of reference sets, kinds and measures."""

ZEROSHOT = "zeroshot"
"""Stands in for the retriever of answers without context, at k = 0."""
NO_ORDERING = "none"
"""Stands in for the ordering of answers without context."""
UNSEEN = "-unseen"
"""Suffix of reference sets that leave out the passages of the query's own context and their near copies."""
UNSCORED = "answers without a score: no context, no sentence or no nuggets to ask about"
"""The name for the count of answers that a judge could not score."""
WITHOUT_JUDGE = "@without-"
"""Joins a panel's name and the left-out judge's into the name of a panel's part. No entry's name has an @."""
SET_BY_DESIGN = ("oracle", "graded", "position")
"""Kinds of retrievers that don't rank: judgements decide what they retrieve."""
NOT_RELAYED = (*SET_BY_DESIGN, "processed")
"""Kinds of retrievers that relay leaves out: besides these, those that show another's ranking with changed texts."""
PAPER_NAMES = {
    "P": "precision",
    "Success": "hit ratio",
    "R": "recall",
    "AP": "MAP",
    "RR": "MRR",
    "nDCG": "nDCG",
}
"""Measures that aggregate labels: ir_measures' notation → the name in the eRAG paper."""
