"""Define reserved names, such as ``zeroshot``, and the names of reference sets, kinds and measures."""

ZEROSHOT = "zeroshot"
"""Replaces the retriever's name in rows for answers without context (k = 0)."""
NO_ORDERING = "none"
"""Replaces the ordering's name in rows for answers without context."""
UNSEEN = "-unseen"
"""Suffix of reference sets that leave out the passages in the query's own context and their near copies."""
UNSCORED = "answers without a score: no context, no sentence or no nuggets to ask about"
"""Describes the count of answers that a judge couldn't score."""
WITHOUT_JUDGE = "@without-"
"""Joins the names of a panel and of the judge left out, to name a panel's part. Entries' names can't contain @."""
SET_BY_DESIGN = ("oracle", "graded", "position")
"""Kinds of retrievers that don't rank: judgements determine which passages they retrieve."""
NOT_RELAYED = (*SET_BY_DESIGN, "processed")
"""Kinds of retrievers for which relay isn't computed: SET_BY_DESIGN and the kind that edits other retrievers' texts."""
PAPER_NAMES = {
    "P": "precision",
    "Success": "hit ratio",
    "R": "recall",
    "AP": "MAP",
    "RR": "MRR",
    "nDCG": "nDCG",
}
"""Measures that aggregate labels. Maps the name in ir_measures to the name in the eRAG paper."""
