"""Declare the columns of files between stages that no table of the report shows."""

import polars as pl

from ragrelay.annexes.prediction.context_perplexity.requests import PLACE
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, DOCNO, QID, SEED, Column, real, text, whole
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS

CONTINUATION = text("hash of the continuation's token ids, its key in the cache")
PROMPT_ID = PROMPT_COLUMNS["prompt_id"]

SINGLE_PROMPTS = {"rank": whole("rank of the one passage of the prompt"), **PROMPT_COLUMNS}
JUDGED_LABELS = {
    "references": text("always empty: the label belongs to no reference set"),
    "qid": QID,
    "docno": DOCNO,
    "label": real(
        "probability of the word for yes, among those for yes and no, from 0 to 1; of a grading judge the "
        "likeliest grade"
    ),
    "gain": Column(pl.Float64, "of a grading judge: the expected grade", optional=True),
}
CONTEXT_USE_REQUESTS = {
    **CONTEXT_COLUMNS,
    "qid": QID,
    "seed": SEED,
    "prompt_id": PROMPT_ID,
    "prompt_id_without": text("hash of the texts of the prompt without context"),
    "continuation": CONTINUATION,
}
RERANKED = {"qid": QID, "docno": DOCNO, "score": real("the reranker's score")}
CONTEXT_REQUESTS = {**PLACE, "prompt_id": PROMPT_ID, "continuation": CONTINUATION}
CLAIMS = {
    "id": text("id of the pair of claim and evidence"),
    "claim_id": text("id of the claim"),
    "claim": text("the claim"),
    "claimant": text("who made the claim"),
    "claim_date": text("date of the claim, as given"),
    "evidence": text("the evidence"),
    "evidence_source": text("where the evidence was published"),
    "evidence_date": text("date of the evidence, as given"),
    "evidence_stance": text("stance of the evidence towards the claim"),
    "relevant": Column(pl.Boolean, "whether the evidence was judged relevant to the claim"),
    "factcheck_verdict": text("verdict of a fact check, as given"),
    "is_gold": Column(pl.Boolean, "whether the evidence is the data set's gold evidence"),
    "is_factcheck_article": Column(pl.Boolean, "whether the evidence is an article of a fact checker"),
}
CLAIM_PROMPTS = {
    "id": CLAIMS["id"],
    "evidence": Column(pl.Boolean, "whether the prompt has the evidence"),
    **{name: PROMPT_COLUMNS[name] for name in ("prompt", "system", "prompt_id")},
}
CLAIM_REQUESTS = {
    "template": text("template of the prompt"),
    "id": CLAIMS["id"],
    "evidence": CLAIM_PROMPTS["evidence"],
    "word": text("the word whose probability is asked for"),
    "prompt_id": PROMPT_ID,
    "continuation": CONTINUATION,
}
PLAN = {
    "dataset": text("dataset, or set of claims; `total` in the last row, where a key that several jobs share counts "
                    "once"),
    "generator": text("generator"),
    "retriever": text("retriever, or `zeroshot`; empty for jobs of all retrievers"),
    "job": text("the rule whose jobs are counted"),
    "cells": whole("cells", "cells"),
    "judged_answers": whole("answers that a judge is asked about, without their baselines", "answers"),
    "prompts": whole("distinct prompts", "prompts"),
    "asked": whole("keys asked for: answers, or likelihoods of given texts", "keys"),
    "cached": whole("of these, in the cache", "keys"),
    "to_make": whole("of these, to be made", "keys"),
    "of_answers_to_come": whole("of those to be made, likelihoods of answers that are not generated yet: at most so "
                                "many", "keys"),
    "requests": whole("requests to the engine", "requests"),
    "prompt_tokens": whole("tokens that the engine gets with them", "tokens"),
    "engine_starts": whole("jobs that have something to make", "jobs"),
    "answer_tokens_estimate": real("estimate of the tokens of the answers to be generated", "tokens"),
    "prefix_shared_tokens_estimate": real("estimate of the prompt tokens that the prefix cache serves", "tokens"),
    "gpu_hours_estimate": real("estimate of the time of the GPUs, from the start of an engine to its end; empty where "
                               "no speed is known", "hours"),
    "disk_bytes_estimate": real("estimate of the room that this takes", "bytes"),
    "answer_tokens_from": text("what the estimate of answer tokens rests on"),
    "tokens_per_second": real("speed of earlier jobs: answer tokens, or prompt tokens where texts are scored",
                              "tokens/s"),
    "tokens_per_second_from": text("where the speed behind the hours is from"),
}  # fmt: skip
