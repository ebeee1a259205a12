"""Scoring: references encoded once per dataset and scorer, each distinct answer once, a retriever's cells in one job.

Input: ANSWERS, PROMPTS, CANDIDATES (their texts, for near copies), REFERENCES or gold answers.
Output: ENCODED, SCORES; scores in cache_dir.
"""

# What answers are scored with, and by.
REFERENCE_FILES = {"references": references_of, "encoded": ENCODED}
SCORED_FILES = {"answers": ANSWERS, "prompts": PROMPTS, "zeroshot": ANSWERS}
SCORING = {
    "scorer": scorer_of,
    "grades": grades_of,
    "near_copy": STUDY.config["near_copy"],
    "cache_dir": STUDY.cache_dir,
}


rule encode_references:
    input:
        fetched=fetched_for_scorer,
        references=references_of,
    output:
        ENCODED,
    log:
        "<logs>/encode_references/{dataset}/{scorer}.log",
    benchmark:
        "<benchmarks>/encode_references/{dataset}/{scorer}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        scorer=scorer_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("encode_references.py", scorer_module),
    script:
        "../workflow/scripts/encode_references.py"


rule score_answers:
    input:
        **REFERENCE_FILES,
        answers=answers_with_context(CELLS),
        prompts=prompts_with_context(CONTEXTS),
        zeroshot=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
        contexts=lambda wildcards: [passages_of(wildcards)],
    output:
        SCORES,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    wildcard_constraints:
        scorer=any_of(MEASURED_BY),
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        **SCORING,
        patterns=SCORED_FILES,
        code=code_of("score_answers.py", scorer_module),
    script:
        "../workflow/scripts/score_answers.py"


use rule score_answers as score_zeroshot_answers with:
    input:
        **REFERENCE_FILES,
        answers=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
        prompts=prompts_of(ZEROSHOT_PROMPTS, ZEROSHOT_CELLS[:1]),
        zeroshot=[],
        contexts=[],
    output:
        ZEROSHOT_SCORES,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.tsv"
    params:
        **SCORING,
        patterns=SCORED_FILES,
        code=code_of("score_answers.py", scorer_module),
