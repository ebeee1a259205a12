"""Declare the columns that appear in intermediate files but not in any report table."""

import polars as pl

from ragrelay.base.vocabulary.columns import PROMPT_ID, Column, text
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS
from ragrelay.report.stage_columns import CONTINUATION

CLAIMS = {
    "id": text("id of the claim–evidence pair"),
    "claim_id": text("the claim's id"),
    "claim": text("text of the claim"),
    "claimant": text("person or organisation that made the claim"),
    "claim_date": text("date of the claim, as given in the source"),
    "evidence": text("text of the evidence"),
    "evidence_source": text("place where the evidence was published"),
    "evidence_date": text("date of the evidence, as given in the source"),
    "evidence_stance": text("stance of the evidence towards the claim"),
    "relevant": Column(pl.Boolean, "whether the evidence was judged relevant to the claim"),
    "factcheck_verdict": text("fact check's verdict on the claim, as given in the source"),
    "is_gold": Column(pl.Boolean, "whether the data set marks the evidence as gold evidence"),
    "is_factcheck_article": Column(pl.Boolean, "whether the evidence is a fact-check article"),
}
CLAIM_PROMPTS = {
    "id": CLAIMS["id"],
    "evidence": Column(pl.Boolean, "whether the evidence is in the prompt"),
    **{name: PROMPT_COLUMNS[name] for name in ("prompt", "system", "prompt_id")},
}
CLAIM_REQUESTS = {
    "template": text("name of the prompt template"),
    "id": CLAIMS["id"],
    "evidence": CLAIM_PROMPTS["evidence"],
    "word": text("word whose probability is requested"),
    "prompt_id": PROMPT_ID,
    "continuation": CONTINUATION,
}
