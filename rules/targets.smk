"""Targets that users can request by name.

Input: the outputs of the other rules; existing logs and receipts.
Output: none, except plan and plan_receipt, which the rule `plan` writes without declaring them.
"""

from ragrelay.execution.jobs.stale_files import KEPT


rule fetch_inputs:
    """Download everything that the grid needs: models, ir_datasets collections and Terrier's files."""
    input:
        files.fetched.each([{"fetched": s} for s in downloads.needed]),


rule prefetch:
    """Download everything that the grid needs and build the indexes, so that all other jobs can run offline."""
    input:
        rules.fetch_inputs.input,
        # Indexes are built from the downloads in separate jobs, and the profile decides where.
        retrieval.index_receipts,
        downloads.conversions,
        [path for annex in annexes() for path in annex.prefetched(study)],


rule all_runs:
    """Compute every retriever's run and retrieval measures."""
    input:
        study.grid_paths(files.run),
        study.grid_paths(files.measures),


rule all_prompts:
    """Build the prompts for every cell."""
    input:
        lambda wildcards: generation.all_prompts,


rule all_answers:
    """Generate the answers for every cell."""
    input:
        lambda wildcards: [path for cell in generation.answers_of_retriever for path in study.grid_paths(cell)],


rule all_scores:
    """Score every answer."""
    input:
        study.grid_paths(files.scores),
        study.grid_paths(files.zeroshot_scores),


# No outputs, so that it runs whenever it is requested, because the store may have changed.
rule plan:
    """Estimate the study's cost and count its requests to engines, without starting an engine."""
    input:
        unpack(lambda wildcards: plan.prompts),
        fetched=plan.fetched,
        queries=study.grid_paths(files.queries),
        contexts=study.grid_paths(files.contexts),
        processed=study.grid_paths(files.processed, retriever=retrieval.processed),
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        env("generation")
    threads: 4
    params:
        **plan.params,
        limit=lambda wildcards: snakemake_internals.time_limit(rules.generate_answers),
        at_once=lambda wildcards: snakemake_internals.submitted_at_once(workflow),
    script:
        "../workflow/scripts/execution/plan_generation.py"


rule status:
    """Print the number of generated answers, the speed and the failed jobs. Also works during a run."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/status.log",
    localrule: True
    conda:
        env("analysis")
    params:
        shards=lambda wildcards: plan.shards(rules),
        logs=workflow.pathvars.apply("<logs>"),
        used=lambda wildcards: plan.used(snakemake_internals.requested_resources(workflow)),
        rules=lambda wildcards: snakemake_internals.log_patterns(workflow),
        code=code_of("execution/show_status.py"),
    script:
        "../workflow/scripts/execution/show_status.py"


rule preview:
    """Write a page, outside the results, about the queries whose answers are complete. Also works during a run."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/preview.log",
    localrule: True
    conda:
        env("preview")
    threads: 4
    params:
        parts=plan.previewed_answers,
        previewed=lambda wildcards: plan.previewed,
        study=study.name,
        results=workflow.pathvars.apply("<results>"),
        page=workflow.pathvars.apply("<results>-preview/preview.html"),
        clustered=[name for name in study.grid.datasets if collection.cluster_files(name)],
        code=code_of("execution/preview_study.py"),
    script:
        "../workflow/scripts/execution/preview_study.py"


# Snakemake ends before any job (snakemake_internals.check_submissions).
rule check_cluster:
    """Ask SLURM when a job in each of the study's classes would start, without submitting any jobs."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
        REPORTED_FILES,


# No outputs, so that it runs whenever it is requested.
rule stale:
    """List the files in `results/<study>/` that the current configuration doesn't produce."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/stale.log",
    localrule: True
    conda:
        env("analysis")
    params:
        folder=workflow.pathvars.apply("<results>"),
        patterns=lambda wildcards: snakemake_internals.output_patterns(workflow),
        kept=[*KEPT, *(name for annex in annexes() for name in annex.kept)],
        code=code_of("execution/list_stale.py"),
    script:
        "../workflow/scripts/execution/list_stale.py"


rule check_cache:
    """Read the entire cache, and list damaged files and the leftovers of killed jobs."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/check_cache.log",
    localrule: True
    conda:
        env("analysis")
    params:
        cache_dir=study.cache_dir,
        code=code_of("execution/check_cache.py"),
    script:
        "../workflow/scripts/execution/check_cache.py"


rule cache:
    """List the stores and indexes in the cache with their size, number of files, age and the studies that use them."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/cache.log",
    localrule: True
    conda:
        env("analysis")
    params:
        cache_dir=study.cache_dir,
        results=str(Path(workflow.pathvars.apply("<results>")).parent),
        code=code_of("execution/show_cache.py"),
    script:
        "../workflow/scripts/execution/show_cache.py"


use rule cache as cache_prune with:
    """List the cached files that no study needs, or remove them with `--config prune=remove`."""
    log:
        "<logs>/cache_prune.log",
    localrule: True
    params:
        cache_dir=study.cache_dir,
        results=str(Path(workflow.pathvars.apply("<results>")).parent),
        prune=study.config.get("prune", "list"),
        needed=lambda wildcards: plan.cache_needs(rules, retrieval.index_receipts),
        code=code_of("execution/show_cache.py"),


rule cache_compact:
    """Merge the small files in the cache's stores into a few large ones. Other studies can keep running."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/cache_compact.log",
    localrule: True
    conda:
        env("analysis")
    params:
        cache_dir=study.cache_dir,
        code=code_of("execution/compact_cache.py"),
    script:
        "../workflow/scripts/execution/compact_cache.py"
