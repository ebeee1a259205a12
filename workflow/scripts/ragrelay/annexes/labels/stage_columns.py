"""Declare the columns of intermediate files that no report table shows."""

import polars as pl

from ragrelay.base.vocabulary.columns import DOCNO, QID, Column, integer, number, text
from ragrelay.generation.likelihoods.mass import MASS
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

SINGLE_PROMPTS = {"rank": integer("rank of the prompt's only passage"), **PROMPT_COLUMNS}
JUDGED_LABELS = {
    "references": text("always empty, because the label doesn't depend on a reference set"),
    "qid": QID,
    "docno": DOCNO,
    "label": number(
        "probability of yes as a share of yes and no, from 0 to 1; for a grading judge, the likeliest grade"
    ),
    "gain": Column(pl.Float64, "for a grading judge, the expected grade", optional=True),
    "mass": MASS,
}
