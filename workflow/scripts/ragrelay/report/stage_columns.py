"""Declare the columns of plan.csv and of the intermediate files that no report table shows."""

from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, PROMPT_ID, QID, SEED, integer, number, text

CONTINUATION = text("hash of the continuation's token ids, which identifies it in the cache")

CONTEXT_USE_REQUESTS = {
    **CONTEXT_COLUMNS,
    "qid": QID,
    "seed": SEED,
    "prompt_id": PROMPT_ID,
    "prompt_id_without": text("prompt_id of the prompt without context"),
    "continuation": CONTINUATION,
}
PLAN = {
    "dataset": text("name of the dataset or set of claims; `total` in the last row, where a key that several jobs "
                    "share counts once"),
    "generator": text("name of the generator"),
    "retriever": text("name of the retriever; empty for jobs that serve all retrievers"),
    "job": text("name of the rule whose jobs the row counts"),
    "cells": integer("cells that these jobs write", "cells"),
    "judged_answers": integer("answers that a judge scores, not counting their baselines", "answers"),
    "prompts": integer("distinct prompts in these jobs", "prompts"),
    "asked": integer("keys that the jobs request, each for an answer or for the likelihood of a given text", "keys"),
    "cached": integer("requested keys that are already in the cache", "keys"),
    "to_make": integer("requested keys that are not in the cache", "keys"),
    "of_answers_to_come": integer("likelihoods of answers that haven't been generated yet, at most",
    "keys"),
    "requests": integer("requests that the engine will get", "requests"),
    "prompt_tokens": integer("prompt tokens in these requests", "tokens"),
    "engine_starts": integer("jobs that start an engine, because they request keys that are not in the cache", "jobs"),
    "answer_tokens_estimate": number("estimated number of tokens in the answers to be generated", "tokens"),
    "prefix_shared_tokens_estimate": number("estimated number of prompt tokens from the prefix cache", "tokens"),
    "gpu_hours_estimate": number("estimated GPU time from each engine's start to its end; empty if no speed is "
                                 "known", "hours"),
    "disk_bytes_estimate": number("estimated disk space for the results that are not in the cache yet", "bytes"),
    "answer_tokens_from": text("what the estimated number of answer tokens is based on"),
    "tokens_per_second": number("speed of earlier jobs in answer tokens, or in prompt tokens for jobs that score given "
                                "texts",
                                "tokens/s"),
    "tokens_per_second_from": text("where this speed comes from"),
}  # fmt: skip
