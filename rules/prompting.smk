"""Prompting: every ordering and k of a retriever's contexts, laid out by a template.

Input: queries, contexts.
Output: prompts.
"""


rule build_prompts:
    """Lay out the contexts of a retriever as prompts, for every ordering and k."""
    input:
        queries=files.queries,
        contexts=files.contexts,
    output:
        prompts=files.prompts.each(study.contexts),
    log:
        "<logs>/build_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": files.prompts},
        template=lambda wildcards: study.template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
    script:
        "../workflow/scripts/build_prompts.py"


use rule build_prompts as build_zeroshot_prompts with:
    input:
        queries=files.queries,
    output:
        prompts=files.zeroshot_prompts,
    log:
        "<logs>/build_prompts/{dataset}/{template}/zeroshot.log",
    params:
        patterns={"prompts": files.prompts},
        template=lambda wildcards: study.template_parts(wildcards.template),
        code=code_of("build_prompts.py"),
