"""Declare the columns that appear in intermediate files but not in any report table."""

import polars as pl

from ragrelay.base.vocabulary.columns import DOCNO, QID, Column, integer, number, text
from ragrelay.generation.likelihoods.mass import MASS
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

SINGLE_PROMPTS = {"rank": integer("rank of the prompt's passage"), **PROMPT_COLUMNS}
JUDGED_LABELS = {
    "references": text("always empty, because the label doesn't depend on a reference set"),
    "qid": QID,
    "docno": DOCNO,
    "label": number("probability of yes divided by the probability of yes or no, from 0 to 1; for a judge that grades, "
        "the likeliest grade"),
    "gain": Column(pl.Float64, "for a judge that grades: the expected grade", optional=True),
    "mass": MASS,
}  # fmt: skip
