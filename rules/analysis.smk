"""Analysis: utility per query, and its tables: means, correlation with retrieval measures, paired tests, seeds."""

RETRIEVERS = STUDY.grid["retrievers"]
ANALYSIS = "<results>/{dataset}/analysis/{scorer}/{generator}"


rule compute_utility:
    input:
        scores=expand(
            "<results>/{{dataset}}/scores/{{scorer}}/{{generator}}/{retriever}.parquet",
            retriever=["zeroshot", *RETRIEVERS],
        ),
    output:
        "<results>/{dataset}/utility/{scorer}/{generator}.parquet",
    log:
        "<logs>/compute_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        retrievers=["zeroshot", *RETRIEVERS],
        mode=lambda wildcards: STUDY.scorer(wildcards.scorer)["utility"],
        code=code_digest("compute_utility.py"),
    script:
        "../workflow/scripts/compute_utility.py"


rule decompose_variance:
    input:
        scores=expand(
            "<results>/{{dataset}}/scores/{{scorer}}/{{generator}}/{retriever}.parquet",
            retriever=["zeroshot", *RETRIEVERS],
        ),
    output:
        f"{ANALYSIS}/variance.csv",
    log:
        "<logs>/decompose_variance/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        retrievers=["zeroshot", *RETRIEVERS],
        code=code_digest("decompose_variance.py"),
    script:
        "../workflow/scripts/decompose_variance.py"


rule analyse_transmission:
    input:
        utility="<results>/{dataset}/utility/{scorer}/{generator}.parquet",
        retrieval=expand(
            "<results>/{{dataset}}/retrieval/{retriever}.parquet", retriever=RETRIEVERS
        ),
    output:
        utility=f"{ANALYSIS}/utility.csv",
        correlation=f"{ANALYSIS}/correlation.csv",
        significance=f"{ANALYSIS}/significance.csv",
        differences=f"{ANALYSIS}/differences.csv",
    log:
        "<logs>/analyse_transmission/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/analyse_transmission/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        **STUDY.config["analysis"],
        retrievers=RETRIEVERS,
        code=code_digest("analyse_transmission.py"),
    script:
        "../workflow/scripts/analyse_transmission.py"
