"""Declare the columns of plan.csv, and of intermediate files that no report table shows."""

from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, PROMPT_ID, QID, SEED, integer, number, text

CONTINUATION = text("hash of the continuation's token ids, its key in the cache")

CONTEXT_USE_REQUESTS = {
    **CONTEXT_COLUMNS,
    "qid": QID,
    "seed": SEED,
    "prompt_id": PROMPT_ID,
    "prompt_id_without": text("hash of the texts in the prompt without context"),
    "continuation": CONTINUATION,
}
PLAN = {
    "dataset": text("dataset or set of claims; `total` in the last row, where a key that several jobs share counts "
        "once"),
    "generator": text("generator"),
    "retriever": text("retriever; empty for jobs that serve all retrievers"),
    "job": text("the rule whose jobs are counted"),
    "cells": integer("cells", "cells"),
    "judged_answers": integer("answers that a judge scores, not counting their baselines", "answers"),
    "prompts": integer("distinct prompts", "prompts"),
    "asked": integer("keys requested: answers, or likelihoods of given texts", "keys"),
    "cached": integer("keys that the cache already has", "keys"),
    "to_make": integer("keys that the cache lacks", "keys"),
    "of_answers_to_come": integer("missing likelihoods of answers that aren't generated yet; an upper bound",
    "keys"),
    "requests": integer("requests to the engine", "requests"),
    "prompt_tokens": integer("prompt tokens in these requests", "tokens"),
    "engine_starts": integer("jobs with missing keys", "jobs"),
    "answer_tokens_estimate": number("estimate of the tokens in the answers to be generated", "tokens"),
    "prefix_shared_tokens_estimate": number("estimate of the prompt tokens that the prefix cache serves", "tokens"),
    "gpu_hours_estimate": number("estimate of GPU time, from an engine's start to its end; empty if no speed is "
                                 "known", "hours"),
    "disk_bytes_estimate": number("estimate of the disk space that the missing keys need", "bytes"),
    "answer_tokens_from": text("the basis for the estimate of answer tokens"),
    "tokens_per_second": number("speed of earlier jobs: answer tokens, or prompt tokens if texts are scored",
                                "tokens/s"),
    "tokens_per_second_from": text("the source of the speed that the hours are based on"),
}  # fmt: skip
