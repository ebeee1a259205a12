"""Declare the columns of plan.csv, and of files between stages that no table of the report shows."""

from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, PROMPT_ID, QID, SEED, integer, number, text

CONTINUATION = text("hash of the continuation's token ids, its key in the cache")

CONTEXT_USE_REQUESTS = {
    **CONTEXT_COLUMNS,
    "qid": QID,
    "seed": SEED,
    "prompt_id": PROMPT_ID,
    "prompt_id_without": text("hash of the texts of the prompt without context"),
    "continuation": CONTINUATION,
}
PLAN = {
    "dataset": text("dataset, or set of claims; `total` in the last row, where a key that several jobs share counts "
                    "once"),
    "generator": text("generator"),
    "retriever": text("retriever; empty for jobs of all retrievers"),
    "job": text("the rule whose jobs are counted"),
    "cells": integer("cells", "cells"),
    "judged_answers": integer("answers that a judge is asked about, without their baselines", "answers"),
    "prompts": integer("distinct prompts", "prompts"),
    "asked": integer("keys asked for: answers, or likelihoods of given texts", "keys"),
    "cached": integer("keys that the cache already has", "keys"),
    "to_make": integer("keys still to be made", "keys"),
    "of_answers_to_come": integer("of those to be made, likelihoods of answers that are not generated yet: at most so "
                                  "many", "keys"),
    "requests": integer("requests to the engine", "requests"),
    "prompt_tokens": integer("tokens that the engine gets with them", "tokens"),
    "engine_starts": integer("jobs that have something to make", "jobs"),
    "answer_tokens_estimate": number("estimate of the tokens of the answers to be generated", "tokens"),
    "prefix_shared_tokens_estimate": number("estimate of the prompt tokens that the prefix cache serves", "tokens"),
    "gpu_hours_estimate": number("estimate of the time of the GPUs, from the start of an engine to its end; empty "
                                 "where no speed is known", "hours"),
    "disk_bytes_estimate": number("estimate of the room that this takes", "bytes"),
    "answer_tokens_from": text("what the estimate of answer tokens rests on"),
    "tokens_per_second": number("speed of earlier jobs: answer tokens, or prompt tokens where texts are scored",
                                "tokens/s"),
    "tokens_per_second_from": text("where the speed behind the hours is from"),
}  # fmt: skip
