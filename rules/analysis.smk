"""Analysis: utility per query, tables based on it (means, correlation, paired tests, seeds), and answers' properties.

Input: scores (including those of a panel's judges), context_use, contexts, measures, answers, prompts, qrels.
Output: utility, and the tables that ragrelay/report/outputs.py lists for each rule.
"""


rule compute_utility:
    """Compute P, P₀ and utility for each query in every cell."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
        uses=files.context_use.each(study.each_retriever if study.settings.context_use else []),
        contexts=of_job(scoring.rankings),
    output:
        files.utility,
    log:
        "<logs>/compute_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={"scores": files.scores, "uses": files.context_use, "contexts": files.contexts},
        order=study.order,
        mode=of_job(scoring.utility_mode),
        counted=study.counted_at_zero(),
        code=code_of("analysis/compute_utility.py"),
    script:
        "../workflow/scripts/analysis/compute_utility.py"


rule decompose_variance:
    """Split the variance of P in each cell into components due to queries and seeds."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
    output:
        **files.made_by("decompose_variance"),
    log:
        "<logs>/decompose_variance/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={"scores": files.scores},
        order=study.order,
        mode=of_job(scoring.utility_mode),
        code=code_of("analysis/decompose_variance.py"),
    script:
        "../workflow/scripts/analysis/decompose_variance.py"


rule analyse_transmission:
    """Test relay and the differences between retrievers, and correlate retrieval measures with utility and P."""
    input:
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
        prompts=generation.prompts_with_context(study.retriever_contexts),
        rankings=files.contexts.each(study.each_retriever),
        qrels=files.qrels,
        # For single seeds. They don't come from decompose_variance, which SLURM profiles run in a later group.
        scores=files.scores.each(study.each_retriever),
        answers=generation.answers_with_context(study.primary_cells),
        clusters=of_job(collection.clusters),
        parts=of_job(scoring.tables_of_parts),
    output:
        **files.made_by("analyse_transmission"),
    log:
        "<logs>/analyse_transmission/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/analyse_transmission/{dataset}/{scorer}/{generator}.tsv"
    conda:
        env("analysis")
    params:
        reference_retriever=study.settings.analysis.reference_retriever,
        equivalence_margin=of_job(study.margin),
        draws=study.draws,
        primary=of_job(study.primary),
        patterns={
            "retrieval": files.measures,
            "prompts": files.prompts,
            "rankings": files.contexts,
            "scores": files.scores,
            "answers": files.answers,
            "parts": files.analysis_table,
        },
        kinds=study.retriever_kinds,
        relevant=of_job(collection.lowest_grade),
        tables=files.modules_of("analyse_transmission"),
        code=code_of("analysis/analyse_transmission.py", *files.modules_of("analyse_transmission").values()),
    script:
        "../workflow/scripts/analysis/analyse_transmission.py"


rule compare_judges:
    """Measure the agreement between a panel's judges, and show the panel's results with each judge left out in turn."""
    input:
        systems=of_job(lambda scorer: scoring.with_parts(files.tables["systems"], scorer)),
        relay=of_job(lambda scorer: scoring.with_parts(files.tables["relay"], scorer)),
        scores=of_job(scoring.scores_of_judges),
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("compare_judges"),
    log:
        "<logs>/compare_judges/{dataset}/{scorer}/{generator}.log",
    wildcard_constraints:
        scorer=any_of(scoring.panels),
    conda:
        env("analysis")
    params:
        judges=of_job(lambda scorer: scoring.averaged[scorer]),
        primary=of_job(study.primary),
        references=of_job(lambda dataset, scorer: next(iter(study.reference_sets(dataset, scorer)))),
        patterns={"systems": files.tables["systems"], "relay": files.tables["relay"], "scores": files.scores},
        code=code_of("analysis/compare_judges.py"),
    script:
        "../workflow/scripts/analysis/compare_judges.py"


rule describe_answers:
    """Summarise how long the answers are, how they end, and what they cost."""
    input:
        answers=generation.answers_with_context(study.retriever_cells),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        **files.made_by("describe_answers"),
    log:
        "<logs>/describe_answers/{dataset}/{generator}.log",
    priority: 5  # before scores, because it fails if all answers are missing
    conda:
        env("analysis")
    params:
        patterns={"answers": files.answers},
        order=study.order,
        fingerprint=of_job(generation.fingerprint),
        devices=of_job(generation.devices),
        cache_dir=study.cache_dir,
        code=code_of("analysis/describe_answers.py"),
    script:
        "../workflow/scripts/analysis/describe_answers.py"


rule describe_scores:
    """Summarise how scores vary between seeds, and how utility depends on the position of a relevant passage."""
    input:
        scores=files.scores.each(study.retrievers_and_zeroshot),
        prompts=generation.prompts_with_context(study.retriever_contexts),
        qrels=files.qrels,
        utility=files.utility,
    output:
        **files.made_by("describe_scores"),
    log:
        "<logs>/describe_scores/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={"scores": files.scores, "prompts": files.prompts},
        grades=of_job(study.grades),
        code=code_of("analysis/describe_scores.py"),
    script:
        "../workflow/scripts/analysis/describe_scores.py"


rule split_utility:
    """Split utility by whether the context was good and whether the answer used it."""
    input:
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
    output:
        **files.made_by("split_utility"),
    log:
        "<logs>/split_utility/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        draws=study.draws,
        patterns={"retrieval": files.measures},
        measure=study.grid.measures[0],
        code=code_of("analysis/split_utility.py"),
    script:
        "../workflow/scripts/analysis/split_utility.py"
