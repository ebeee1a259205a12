"""Declare the columns of intermediate files that no report table shows."""

import polars as pl

from ragrelay.base.vocabulary.columns import PROMPT_ID, Column, text
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS
from ragrelay.report.stage_columns import CONTINUATION

CLAIMS = {
    "id": text("the id of the claim–evidence pair"),
    "claim_id": text("the claim's id"),
    "claim": text("the claim"),
    "claimant": text("who made the claim"),
    "claim_date": text("the claim's date, as given"),
    "evidence": text("the evidence"),
    "evidence_source": text("where the evidence was published"),
    "evidence_date": text("the evidence's date, as given"),
    "evidence_stance": text("the evidence's stance towards the claim"),
    "relevant": Column(pl.Boolean, "whether the evidence was judged relevant to the claim"),
    "factcheck_verdict": text("a fact check's verdict, as given"),
    "is_gold": Column(pl.Boolean, "whether the evidence is the data set's gold evidence"),
    "is_factcheck_article": Column(pl.Boolean, "whether the evidence is a fact-checker's article"),
}
CLAIM_PROMPTS = {
    "id": CLAIMS["id"],
    "evidence": Column(pl.Boolean, "whether the evidence is in the prompt"),
    **{name: PROMPT_COLUMNS[name] for name in ("prompt", "system", "prompt_id")},
}
CLAIM_REQUESTS = {
    "template": text("the prompt's template"),
    "id": CLAIMS["id"],
    "evidence": CLAIM_PROMPTS["evidence"],
    "word": text("the word whose probability is requested"),
    "prompt_id": PROMPT_ID,
    "continuation": CONTINUATION,
}
