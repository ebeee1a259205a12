"""Answers judged by a generator: asked about once per dataset, scorer, generator and retriever, then scored.

Input: answers, prompts, contexts (their texts), references or queries, and files of a kind's own.
Output: judged_answers, scores, left_out_of_scores; log-probabilities in cache_dir.
"""

# What a judge's questions depend on, and what is asked.
JUDGING = {
    "patterns": SCORED_FILES,
    "scorer": scorer_of,
    "template": lambda wildcards: judge_template_parts(wildcards.scorer),
    "grades": study.grades_of,
    "near_copy": lambda wildcards: near_copy_of(wildcards.scorer),
    "generator": lambda wildcards: generator_named(judge_of(wildcards)),
    "fingerprint": lambda wildcards: likelihoods_of(judge_of(wildcards)),
    "cache_dir": study.cache_dir,
}


rule judge_answers:
    """Ask a judge about the answers of a retriever, into the store."""
    input:
        unpack(judged_inputs),
        queries=files.queries,
        fetched=lambda wildcards: study.fetched("generators", judge_of(wildcards)),
    output:
        receipt=files.judged_answers_receipt,
        asked=files.judged_answers,
    log:
        "<logs>/judge_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/judge_answers/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    wildcard_constraints:
        retriever=any_of(["zeroshot", *study.grid["retrievers"]]),
        scorer=any_of(study.judged_by),
    conda:
        "../envs/generation.yaml"
    threads: lambda wildcards: judge_definition(wildcards)["threads"]
    resources:
        **machine("engine"),
        gpu=lambda wildcards: judge_definition(wildcards)["tensor_parallel_size"],
    params:
        **JUDGING,
        code=questions_of("judge_answers.py", scorer_module),
    script:
        "../workflow/scripts/judge_answers.py"


rule score_judged_answers:
    """Compute scores from a judge's probabilities."""
    input:
        receipt=files.judged_answers_receipt,
        asked=files.judged_answers,
    output:
        scores=files.scores,
        left_out=files.left_out_of_scores,
    log:
        "<logs>/score_judged_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(["zeroshot", *study.grid["retrievers"]]),
        scorer=any_of(study.judged_by),
    conda:
        "../envs/generation.yaml"
    params:
        scorer=scorer_of,
        cache_dir=study.cache_dir,
        code=code_of("score_judged_answers.py", scorer_module),
    script:
        "../workflow/scripts/score_judged_answers.py"
