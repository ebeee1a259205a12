"""Utility by whether the context was good and used, where the configuration asks for it; rules/asking.smk scores answers.

Input: utility, measures.
Output: context_use_split, a table of the analysis.
"""


rule split_utility:
    """Split utility by whether the context was good and used."""
    input:
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
    output:
        **files.made_by("split_utility"),
    log:
        "<logs>/split_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"retrieval": files.measures},
        measure=study.grid["measures"][0],
        resamples=study.config["analysis"]["resamples"],
        seed=study.config["analysis"]["seed"],
        code=code_of("split_utility.py"),
    script:
        "../workflow/scripts/split_utility.py"
