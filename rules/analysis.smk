"""Analysis: utility per query, its tables (means, correlation, paired tests, seeds), and what answers are like.

Input: scores, context_use, measures, answers, prompts, qrels.
Output: utility, and the tables that ragrelay/report/outputs.py lists by rule.
"""

RETRIEVERS = STUDY.grid["retrievers"]
# Tables have their rows in this order, which Snakemake does not see in inputs: it compares them as sets.
ORDER = {name: STUDY.grid[name] for name in ("retrievers", "orderings")}
# Contexts and cells of all retrievers, as above those of one; then with zero-shot among them.
RETRIEVER_CONTEXTS = [
    {"retriever": r, **context} for r in RETRIEVERS for context in CONTEXTS
]
RETRIEVER_CELLS = [{"retriever": r, **cell} for r in RETRIEVERS for cell in CELLS]
ALL_CELLS = RETRIEVER_CELLS + [
    {"retriever": "zeroshot", **cell} for cell in ZEROSHOT_CELLS
]
# Keys of the analysis that decide its tables.
ANALYSED = ("resamples", "seed", "reference_retriever", "equivalence_margin")
# What utility is computed of.
JOINED = {"scores": files.scores, "uses": files.context_use, "contexts": files.contexts}


rule compute_utility:
    input:
        scores=files.scores.each(RETRIEVERS_AND_ZEROSHOT),
        uses=files.context_use.each(
            EACH_RETRIEVER if STUDY.config["context_use"] else [],
        ),
        contexts=rankings_of,
    output:
        files.utility,
    log:
        "<logs>/compute_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns=JOINED,
        order=ORDER,
        mode=lambda wildcards: STUDY.scorer(wildcards.scorer)["utility"],
        counted=STUDY.counted_at_zero(),
        code=code_of("compute_utility.py"),
    script:
        "../workflow/scripts/compute_utility.py"


rule decompose_variance:
    input:
        scores=files.scores.each(RETRIEVERS_AND_ZEROSHOT),
    output:
        **files.made_by("decompose_variance"),
    log:
        "<logs>/decompose_variance/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"scores": files.scores},
        order=ORDER,
        mode=lambda wildcards: STUDY.scorer(wildcards.scorer)["utility"],
        code=code_of("decompose_variance.py"),
    script:
        "../workflow/scripts/decompose_variance.py"


rule analyse_transmission:
    input:
        utility=files.utility,
        retrieval=files.measures.each(EACH_RETRIEVER),
        prompts=prompts_with_context(RETRIEVER_CONTEXTS),
        qrels=files.qrels,
    output:
        **files.made_by("analyse_transmission"),
    log:
        "<logs>/analyse_transmission/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/analyse_transmission/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        **{name: STUDY.config["analysis"][name] for name in ANALYSED},
        primary=lambda wildcards: STUDY.primary(wildcards.dataset, wildcards.scorer),
        patterns={"retrieval": files.measures, "prompts": files.prompts},
        kinds={name: STUDY.retriever(name)["kind"] for name in RETRIEVERS},
        code=code_of("analyse_transmission.py"),
    script:
        "../workflow/scripts/analyse_transmission.py"


rule describe_answers:
    input:
        answers=answers_with_context(RETRIEVER_CELLS),
        zeroshot=files.zeroshot_answers.each(ZEROSHOT_CELLS),
    output:
        **files.made_by("describe_answers"),
    log:
        "<logs>/describe_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"answers": files.answers},
        order=ORDER,
        fingerprint=fingerprint_of,
        devices=devices_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("describe_answers.py"),
    script:
        "../workflow/scripts/describe_answers.py"


rule describe_scores:
    input:
        scores=files.scores.each(RETRIEVERS_AND_ZEROSHOT),
        prompts=prompts_with_context(RETRIEVER_CONTEXTS),
        qrels=files.qrels,
        utility=files.utility,
    output:
        **files.made_by("describe_scores"),
    log:
        "<logs>/describe_scores/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"scores": files.scores, "prompts": files.prompts},
        grades=lambda wildcards: STUDY.grades(wildcards.dataset),
        code=code_of("describe_scores.py"),
    script:
        "../workflow/scripts/describe_scores.py"
