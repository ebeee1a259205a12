"""Checks of judges for bias by position and length; rules/asking.smk asks them.

Input: judge_checks_scores, passage_checks_scores; queries, contexts.
Output: passage_checks, passage_checks_prompts, tables of the analysis.
"""


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
        template=lambda wildcards: study.whole_template(
            study.source(wildcards.source)["prompt"]
        ),
        size=lambda wildcards: study.source(wildcards.source)["bias_checks"],
        code=code_of("build_check_prompts.py"),
    script:
        "../workflow/scripts/build_check_prompts.py"


use rule analyse_judge_checks as analyse_passage_checks with:
    input:
        files.passage_checks_scores,
    output:
        **files.made_by("analyse_passage_checks"),
    log:
        "<logs>/analyse_passage_checks/{dataset}/{source}/{judge}.log",
