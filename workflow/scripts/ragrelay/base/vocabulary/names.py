"""Define names that catalogue entries may not have, and names of reference sets, kinds and measures."""

ZEROSHOT = "zeroshot"
"""The retriever's name in rows for answers without context (k = 0)."""
NO_ORDERING = "none"
"""The ordering's name in rows for answers without context."""
UNSEEN = "-unseen"
"""Suffix of reference sets that leave out the passages in the query's own context and their near copies."""
UNSCORED = "answers without a score: no context, no sentence or no nuggets to ask about"
"""The name for the count of answers that a judge could not score."""
WITHOUT_JUDGE = "@without-"
"""Joins the panel's name and the left-out judge's name to name a panel's part. Entries' names can't contain an @."""
SET_BY_DESIGN = ("oracle", "graded", "position")
"""Kinds of retrievers that don't rank, because judgements determine which passages they retrieve."""
NOT_RELAYED = (*SET_BY_DESIGN, "processed")
"""Kinds of retrievers that relay leaves out: the above, and those that change another retriever's texts."""
PAPER_NAMES = {
    "P": "precision",
    "Success": "hit ratio",
    "R": "recall",
    "AP": "MAP",
    "RR": "MRR",
    "nDCG": "nDCG",
}
"""Measures that aggregate labels: ir_measures' name → the eRAG paper's name."""
