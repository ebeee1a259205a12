"""Analysis: utility per query, its tables (means, correlation, paired tests, seeds), and what answers are like.

Input: scores, context_use, measures, answers, prompts, qrels.
Output: utility, and the tables that ragrelay/report/outputs.py lists by rule.
"""

# Tables have their rows in this order, which Snakemake does not see in inputs: it compares them as sets.
ORDER = {name: study.grid[name] for name in ("retrievers", "orderings")}
# Contexts and cells of all retrievers, as above those of one; then with zero-shot among them.
RETRIEVER_CONTEXTS = [
    {"retriever": r, **context}
    for r in study.grid["retrievers"]
    for context in study.contexts
]
RETRIEVER_CELLS = [
    {"retriever": r, **cell} for r in study.grid["retrievers"] for cell in study.cells
]
ALL_CELLS = RETRIEVER_CELLS + [
    {"retriever": "zeroshot", **cell} for cell in study.zeroshot_cells
]
# Cells of the primary comparison; each dataset and scorer has its own references alone.
PRIMARY = study.primary(study.grid["datasets"][0])
COMPARED_CELLS = [
    cell
    for cell in RETRIEVER_CELLS
    if PRIMARY
    and cell["retriever"] in (PRIMARY["retriever"], PRIMARY["reference"])
    and (cell["ordering"], cell["k"]) == (PRIMARY["ordering"], PRIMARY["k"])
]
# Keys of the analysis that decide its tables.
ANALYSED = ("resamples", "seed", "reference_retriever", "equivalence_margin")
# What utility is computed of.
JOINED = {"scores": files.scores, "uses": files.context_use, "contexts": files.contexts}


rule compute_utility:
    """Compute how much better each query's answer is than the zero-shot answer, in every cell."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
        uses=files.context_use.each(
            study.each_retriever if study.config["context_use"] else [],
        ),
        contexts=study.rankings_of,
    output:
        files.utility,
    log:
        "<logs>/compute_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns=JOINED,
        order=ORDER,
        mode=lambda wildcards: study.scorer(wildcards.scorer)["utility"],
        counted=study.counted_at_zero(),
        code=code_of("compute_utility.py"),
    script:
        "../workflow/scripts/compute_utility.py"


rule decompose_variance:
    """Split the variance of P into parts of queries, retrievers and seeds."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
    output:
        **files.made_by("decompose_variance"),
    log:
        "<logs>/decompose_variance/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"scores": files.scores},
        order=ORDER,
        mode=lambda wildcards: study.scorer(wildcards.scorer)["utility"],
        code=code_of("decompose_variance.py"),
    script:
        "../workflow/scripts/decompose_variance.py"


rule analyse_transmission:
    """Test the three questions, and correlate retrieval measures with utility and P."""
    input:
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
        prompts=study.prompts_with_context(RETRIEVER_CONTEXTS),
        rankings=files.contexts.each(study.each_retriever),
        qrels=files.qrels,
        # Their single seeds. Not a table of decompose_variance, which SLURM profiles have in a later group.
        scores=files.scores.each(study.each_retriever),
        # Of the primary pair, for their lengths.
        answers=study.answers_with_context(COMPARED_CELLS),
    output:
        **files.made_by("analyse_transmission"),
    log:
        "<logs>/analyse_transmission/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/analyse_transmission/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        **{name: study.config["analysis"][name] for name in ANALYSED},
        primary=lambda wildcards: study.primary(wildcards.dataset, wildcards.scorer),
        patterns={
            "retrieval": files.measures,
            "prompts": files.prompts,
            "rankings": files.contexts,
            "scores": files.scores,
            "answers": files.answers,
        },
        kinds={name: study.retriever(name)["kind"] for name in study.grid["retrievers"]},
        relevant=lambda wildcards: min(study.grades(wildcards.dataset).values()),
        code=code_of("analyse_transmission.py"),
    script:
        "../workflow/scripts/analyse_transmission.py"


rule describe_answers:
    """Describe the answers' lengths, ends and cost."""
    input:
        answers=study.answers_with_context(RETRIEVER_CELLS),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        **files.made_by("describe_answers"),
    log:
        "<logs>/describe_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"answers": files.answers},
        order=ORDER,
        fingerprint=study.fingerprint_of,
        devices=study.devices_of,
        cache_dir=study.cache_dir,
        code=code_of("describe_answers.py"),
    script:
        "../workflow/scripts/describe_answers.py"


rule describe_scores:
    """Describe the spread of scores over seeds, and utility by position of the relevant passage."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
        prompts=study.prompts_with_context(RETRIEVER_CONTEXTS),
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
        grades=lambda wildcards: study.grades(wildcards.dataset),
        code=code_of("describe_scores.py"),
    script:
        "../workflow/scripts/describe_scores.py"
