"""Declare the columns of intermediate files that aren't shown in a report table."""

from ragrelay.annexes.prediction.context_perplexity.requests import PLACE
from ragrelay.base.vocabulary.columns import DOCNO, PROMPT_ID, QID, number
from ragrelay.report.stage_columns import CONTINUATION

RERANKED = {"qid": QID, "docno": DOCNO, "score": number("the reranker's score")}
CONTEXT_REQUESTS = {**PLACE, "prompt_id": PROMPT_ID, "continuation": CONTINUATION}
