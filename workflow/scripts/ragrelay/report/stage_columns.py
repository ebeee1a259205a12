"""Declare the columns of plan.csv and of intermediate files that aren't shown in the report."""

from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, PROMPT_ID, QID, SEED, integer, number, text

CONTINUATION = text(
    "hash of the token ids of the continuation, the text whose log-probability is requested; together with "
    "`prompt_id`, it identifies the log-probability in the cache"
)

CONTEXT_USE_REQUESTS = {
    **CONTEXT_COLUMNS,
    "qid": QID,
    "seed": SEED,
    "prompt_id": PROMPT_ID,
    "prompt_id_without": text("`prompt_id` of the prompt without context"),
    "continuation": CONTINUATION,
}
PLAN = {
    "dataset": text("name of the dataset or set of claims; `total` in the last row, which counts a key once even if "
    "several jobs request it"), "generator": text("name of the generator"),
    "retriever": text("name of the retriever; empty for jobs that serve all retrievers"),
    "job": text("name of the rule whose jobs the row summarises"),
    "cells": integer("number of cells for which the jobs write results", "cells"),
    "judged_answers": integer("number of answers that a judge scores, not counting the zero-shot answers used for "
    "comparison", "answers"), "prompts": integer("number of distinct prompts in the jobs' requests", "prompts"),
    "asked": integer("number of keys that the jobs request; each key stands for an answer or for the likelihood of a "
    "given text", "keys"), "cached": integer("number of requested keys that are already in the cache", "keys"),
    "to_make": integer("number of requested keys that are not yet in the cache", "keys"),
    "of_answers_to_come": integer("maximum number of requested likelihoods for answers that haven't been generated yet",
    "keys"), "requests": integer("number of requests that will be sent to the engine", "requests"),
    "prompt_tokens": integer("number of prompt tokens in the requests to the engine", "tokens"),
    "engine_starts": integer("number of jobs that start an engine because they request keys that are not yet in the "
    "cache", "jobs"),
    "answer_tokens_estimate": number("estimated number of tokens in the answers to be generated", "tokens"),
    "prefix_shared_tokens_estimate": number("estimated number of prompt tokens that come from the prefix "
    "cache", "tokens"),
    "gpu_hours_estimate": number("estimated GPU time, including engine starts; empty if no speed is known", "hours"),
    "disk_bytes_estimate": number("estimated disk space for the results that are not yet in the cache", "bytes"),
    "answer_tokens_from": text("basis of the estimated number of answer tokens"),
    "tokens_per_second": number("speed of earlier jobs: answer tokens per second or, for jobs that score given texts, "
    "prompt tokens per second", "tokens/s"),
    "tokens_per_second_from": text("source of the speed in `tokens_per_second`"),
}  # fmt: skip  # fmt: skip
