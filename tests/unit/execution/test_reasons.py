"""Snakemake's reasons for a job name the changed part of a param, and only a few files."""

from ragrelay.execution.jobs.reasons import changed_params, shortened_reason

REST = "1" * 8_000


def test_a_change_in_a_long_param_is_shown_with_its_surroundings():
    before = {f"{{'retrievers': ['bm25', 'dense'], 'k': [1, 3], 'rest': '{REST}'}}", "'same'"}
    now = {f"{{'retrievers': ['bm25', 'dense'], 'k': [1, 5], 'rest': '{REST}'}}", "'same'"}
    said = changed_params(before - now, now - before)
    assert "'k': [1, [3 → 5]], 'rest': '111" in said
    assert len(said) < 200


def test_code_comes_last_and_is_named():
    said = changed_params(
        {"'0123456789abcdef'", "{'k1': 0.9, 'b': 0.4}"}, {"'fedcba9876543210'", "{'k1': 1.2, 'b': 0.4}"}
    )
    assert said == "{'k1': [0.9 → 1.2], 'b': 0.4}; code"


def test_values_without_a_counterpart_are_cut():
    assert changed_params({REST}, set()) == f"no longer {REST[:120]}…"
    assert changed_params(set(), {"'new'"}) == "new 'new'"


def test_a_list_of_files_keeps_the_first_three():
    files = ", ".join(f"results/{place}.csv" for place in range(200))
    reason = f"Missing output files: {files}; Params have changed since last execution: [1 → 2]"
    assert shortened_reason(reason) == (
        "Missing output files: results/0.csv, results/1.csv, results/2.csv and 197 more; "
        "Params have changed since last execution: [1 → 2]"
    )
    assert (
        shortened_reason("Input files updated by another job: a, b, c") == "Input files updated by another job: a, b, c"
    )
    assert shortened_reason("Forced execution") == "Forced execution"
