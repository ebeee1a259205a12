"""Prompting: every ordering and k of a retriever's contexts, laid out by a template.

Input: QUERIES, CANDIDATES.
Output: PROMPTS.
"""


rule build_prompts:
    input:
        queries=QUERIES,
        contexts=CANDIDATES,
    output:
        prompts=filled(PROMPTS, CONTEXTS),
    log:
        "<logs>/build_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": PROMPTS},
        template=lambda wildcards: template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
    script:
        "../workflow/scripts/build_prompts.py"


use rule build_prompts as build_zeroshot_prompts with:
    input:
        queries=QUERIES,
    output:
        prompts=ZEROSHOT_PROMPTS,
    log:
        "<logs>/build_prompts/{dataset}/{template}/zeroshot.log",
    params:
        patterns={"prompts": PROMPTS},
        template=lambda wildcards: template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
