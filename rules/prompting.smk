"""Prompting: every ordering and k of a retriever's contexts, laid out by a template."""

PROMPTS = "<results>/{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet"
ZEROSHOT_PROMPTS = "<results>/{dataset}/prompts/{template}/zeroshot/none/k0.parquet"


rule build_prompts:
    input:
        queries="<results>/{dataset}/collection/queries.parquet",
        contexts="<results>/{dataset}/contexts/{retriever}.parquet",
    output:
        cell_paths(PROMPTS, CONTEXTS),
    log:
        "<logs>/build_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        contexts=CONTEXTS,
        template=lambda wildcards: template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
    script:
        "../workflow/scripts/build_prompts.py"


use rule build_prompts as build_zeroshot_prompts with:
    input:
        queries="<results>/{dataset}/collection/queries.parquet",
    output:
        ZEROSHOT_PROMPTS,
    log:
        "<logs>/build_prompts/{dataset}/{template}/zeroshot.log",
    params:
        contexts=[{"ordering": "none", "k": 0}],
        template=lambda wildcards: template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
