"""Context use of answers, where the configuration asks for it: scored with and without their contexts.

Input: answers, prompts; utility, measures.
Output: context_use; log-probabilities in cache_dir.
"""


rule score_context_use:
    """Score answers with and without their contexts by their generator, into the store."""
    input:
        fetched=fetched_for_generator,
        answers=study.answers_with_context(study.cells),
        prompts=study.prompts_with_context(study.contexts),
        zeroshot_prompts=study.prompts_of(
            files.zeroshot_prompts, study.zeroshot_cells[:1]
        ),
    output:
        receipt=files.context_use_receipt,
        asked=files.context_use_requests,
    log:
        "<logs>/score_context_use/{dataset}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_context_use/{dataset}/{generator}/{retriever}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: study.threads_of
    resources:
        **ENGINE,
    params:
        patterns={"answers": files.answers},
        generator=generator_of,
        fingerprint=lambda wildcards: likelihoods_of(wildcards.generator),
        cache_dir=study.cache_dir,
        code=questions_of("score_context_use.py"),
    script:
        "../workflow/scripts/score_context_use.py"


rule compute_context_use:
    """Compute how much more likely answers are with their contexts."""
    input:
        receipt=files.context_use_receipt,
        asked=files.context_use_requests,
        answers=study.answers_with_context(study.cells),
        zeroshot_answers=files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        files.context_use,
    log:
        "<logs>/compute_context_use/{dataset}/{generator}/{retriever}.log",
    conda:
        "../envs/generation.yaml"
    params:
        patterns={"answers": files.answers},
        fingerprint=lambda wildcards: likelihoods_of(wildcards.generator),
        cache_dir=study.cache_dir,
        code=code_of("compute_context_use.py"),
    script:
        "../workflow/scripts/compute_context_use.py"


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
