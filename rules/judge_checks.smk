"""Checks of judges for bias by position and length: some of all retrievers' answers or passages judged again, changed.

Input: of answers answers, prompts, their passages, references or queries, judged_answers; of passages queries,
contexts, judged_passages_receipt.
Output: judge_checks, passage_checks, passage_checks_scores, tables of the analysis; log-probabilities in cache_dir.
"""

# What the changed questions about answers depend on, and what is asked.
CHECKING = {
    **JUDGING,
    "patterns": lambda wildcards: {
        "answers": files.answers,
        "prompts": files.prompts,
        "contexts": passages_of(wildcards),
    },
    "template": lambda wildcards: whole_judge_template(wildcards.scorer),
    "size": lambda wildcards: study.scorer(wildcards.scorer)["bias_checks"],
}


rule check_judge:
    """Ask a judge again about changed answers, into the store."""
    input:
        unpack(checked_inputs),
        queries=files.queries,
        fetched=lambda wildcards: study.fetched("generators", judge_of(wildcards)),
    output:
        receipt=files.judge_checks_receipt,
        asked=files.judge_checks,
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
    """Compute the scores of a judge's checks."""
    input:
        receipt=files.judge_checks_receipt,
        asked=files.judge_checks,
    output:
        files.judge_checks_scores,
    log:
        "<logs>/score_judge_checks/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/generation.yaml"
    params:
        section="scorers",
        judge=scorer_of,
        cache_dir=study.cache_dir,
        code=code_of("score_judge_checks.py", scorer_module),
    script:
        "../workflow/scripts/score_judge_checks.py"


rule analyse_judge_checks:
    """Test whether a judge's scores follow position or length."""
    input:
        files.judge_checks_scores,
    output:
        **files.made_by("analyse_judge_checks"),
    log:
        "<logs>/analyse_judge_checks/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("analyse_judge_checks.py"),
    script:
        "../workflow/scripts/analyse_judge_checks.py"


rule build_check_prompts:
    """Lay out changed passages as prompts, for the checks of a judge."""
    input:
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        asked=files.passage_checks,
        prompts=files.passage_checks_prompts,
    log:
        "<logs>/build_check_prompts/{dataset}/{source}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        depth=study.config["annotation_depth"],
        template=lambda wildcards: study.whole_template(source_template(wildcards)),
        size=lambda wildcards: source_entry(wildcards)["bias_checks"],
        code=code_of("build_check_prompts.py"),
    script:
        "../workflow/scripts/build_check_prompts.py"


use rule judge_passages as check_passages with:
    input:
        fetched=lambda wildcards: study.fetched("generators", wildcards.judge),
        prompts=[files.passage_checks_prompts],
        judged=files.judged_passages_receipt,
    output:
        receipt=files.passage_checks_receipt,
    log:
        "<logs>/check_passages/{dataset}/{source}/{judge}.log",
    benchmark:
        "<benchmarks>/check_passages/{dataset}/{source}/{judge}.tsv"


use rule score_judge_checks as score_passage_checks with:
    input:
        receipt=files.passage_checks_receipt,
        asked=files.passage_checks,
    output:
        files.passage_checks_scores,
    log:
        "<logs>/score_passage_checks/{dataset}/{source}/{judge}.log",
    params:
        section="annotations",
        judge=source_of,
        cache_dir=study.cache_dir,
        code=code_of("score_judge_checks.py", source_module),


use rule analyse_judge_checks as analyse_passage_checks with:
    input:
        files.passage_checks_scores,
    output:
        **files.made_by("analyse_passage_checks"),
    log:
        "<logs>/analyse_passage_checks/{dataset}/{source}/{judge}.log",
