"""Checks of judges for bias by position and length: some of all retrievers' answers or passages judged again, changed.

Input: of answers ANSWERS, PROMPTS, their passages, REFERENCES or QUERIES, JUDGED_ANSWERS; of passages QUERIES,
CANDIDATES, JUDGED.
Output: JUDGE_CHECKS, PASSAGE_CHECKS, CHECKED_PASSAGES, tables of the analysis; log-probabilities in cache_dir.
"""

# What the changed questions about answers depend on, and what is asked.
CHECKING = {
    **JUDGING,
    "patterns": lambda wildcards: {
        "answers": ANSWERS,
        "prompts": PROMPTS,
        "contexts": passages_of(wildcards),
    },
    "template": lambda wildcards: whole_judge_template(wildcards.scorer),
    "size": lambda wildcards: STUDY.scorer(wildcards.scorer)["bias_checks"],
}


rule check_judge:
    input:
        unpack(checked_inputs),
        queries=QUERIES,
        fetched=lambda wildcards: fetched("generators", judge_of(wildcards)),
    output:
        receipt=f"{JUDGE_CHECKS}/receipt.json",
        asked=f"{JUDGE_CHECKS}/asked.parquet",
    log:
        "<logs>/check_judge/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/check_judge/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: lambda wildcards: judge_definition(wildcards)["threads"]
    resources:
        **machine("engine"),
        gpu=lambda wildcards: judge_definition(wildcards)["tensor_parallel_size"],
    params:
        **CHECKING,
        code=questions_of("check_judge.py", scorer_module),
    script:
        "../workflow/scripts/check_judge.py"


rule score_judge_checks:
    input:
        receipt=f"{JUDGE_CHECKS}/receipt.json",
        asked=f"{JUDGE_CHECKS}/asked.parquet",
    output:
        f"{JUDGE_CHECKS}/scores.parquet",
    log:
        "<logs>/score_judge_checks/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/generation.yaml"
    params:
        section="scorers",
        judge=scorer_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("score_judge_checks.py", scorer_module),
    script:
        "../workflow/scripts/score_judge_checks.py"


rule analyse_judge_checks:
    input:
        f"{JUDGE_CHECKS}/scores.parquet",
    output:
        **made_by("analyse_judge_checks"),
    log:
        "<logs>/analyse_judge_checks/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("analyse_judge_checks.py"),
    script:
        "../workflow/scripts/analyse_judge_checks.py"


rule build_check_prompts:
    input:
        queries=QUERIES,
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
    output:
        asked=f"{PASSAGE_CHECKS}/asked.parquet",
        prompts=f"{PASSAGE_CHECKS}/prompts.parquet",
    log:
        "<logs>/build_check_prompts/{dataset}/{source}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        depth=STUDY.config["annotation_depth"],
        template=lambda wildcards: whole_template(source_template(wildcards)),
        size=lambda wildcards: source_entry(wildcards)["bias_checks"],
        code=code_of("build_check_prompts.py"),
    script:
        "../workflow/scripts/build_check_prompts.py"


use rule judge_passages as check_passages with:
    input:
        fetched=lambda wildcards: fetched("generators", wildcards.judge),
        prompts=[f"{PASSAGE_CHECKS}/prompts.parquet"],
        judged=JUDGED,
    output:
        receipt=f"{CHECKED_PASSAGES}/receipt.json",
    log:
        "<logs>/check_passages/{dataset}/{source}/{judge}.log",
    benchmark:
        "<benchmarks>/check_passages/{dataset}/{source}/{judge}.tsv"


use rule score_judge_checks as score_passage_checks with:
    input:
        receipt=f"{CHECKED_PASSAGES}/receipt.json",
        asked=f"{PASSAGE_CHECKS}/asked.parquet",
    output:
        f"{CHECKED_PASSAGES}/scores.parquet",
    log:
        "<logs>/score_passage_checks/{dataset}/{source}/{judge}.log",
    params:
        section="annotations",
        judge=source_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("score_judge_checks.py", source_module),


use rule analyse_judge_checks as analyse_passage_checks with:
    input:
        f"{CHECKED_PASSAGES}/scores.parquet",
    output:
        **made_by("analyse_passage_checks"),
    log:
        "<logs>/analyse_passage_checks/{dataset}/{source}/{judge}.log",
