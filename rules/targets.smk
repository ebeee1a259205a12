"""Targets: what a user can ask for by name."""


rule fetch_inputs:
    """Everything that the grid takes from elsewhere: models, ir_datasets collections, Terrier."""
    input:
        files.fetched.each([{"fetched": s} for s in study.sources]),


rule prefetch:
    """Downloads, and the indexes of the grid's retrievers: what jobs on nodes without internet need."""
    input:
        rules.fetch_inputs.input,
        # Built from what was fetched, by jobs of their own: the profile says where.
        index_receipts(),
        [
            files.claims.at(claims=name)
            for name in study.selected()["claims"]
            if not claim_files(name)
        ],


rule all_runs:
    """The run of each retriever and its retrieval measures."""
    input:
        study.grid_paths(files.run),
        study.grid_paths(files.measures),


rule all_prompts:
    """The prompts of every cell."""
    input:
        lambda wildcards: [
            path
            for generator in study.asked_generators()
            for pattern in files.prompts.each(study.contexts)
            + [files.zeroshot_prompts]
            for path in study.grid_paths(
                pattern, template=[study.template_of(generator)]
            )
        ],


rule all_answers:
    """The answers of every cell."""
    input:
        lambda wildcards: [
            path
            for pattern in files.answers.each(study.cells)
            + files.zeroshot_answers.each(study.zeroshot_cells)
            for path in study.grid_paths(pattern)
        ],


rule all_scores:
    """The scores of every answer."""
    input:
        study.grid_paths(files.scores),
        study.grid_paths(files.zeroshot_scores),


rule export:
    """Every answer in the formats of other programs, the tables as Parquet with a data card, and an RO-Crate."""
    input:
        study.grid_paths(files.exported_parquet),
        rules.export_tables.output,
        rules.describe_results.output,


rule erag:
    """The report, with labels of passages by the grid's annotation sources."""
    input:
        annotated(files.annotation_tables["annotations"]),
        REPORTED_FILES,


rule compare:
    """A page that compares two finished studies (config key compare)."""
    input:
        files.comparison.at(pair=COMPARED),


rule reproduce:
    """The report, with the study's tables compared with published ones (config key published)."""
    input:
        lambda wildcards: reproduction_results(),


rule predict:
    """What predicts utility and answer quality without judgements: a page and its tables, of a finished study."""
    input:
        lambda wildcards: prediction_results(),


rule acu:
    """Context use of claims (config key acu): its tables, figures and page."""
    input:
        lambda wildcards: acu_results(),


# Ends before any job (snakemake_internals.check_submissions).
rule check_cluster:
    """What the study's jobs would ask of SLURM, and its answer to each class of them, with the expected start."""
    input:
        without_lock,
        REPORTED_FILES,


# Without outputs, so that it runs whenever it is asked for.
rule stale:
    """List the files of results/<study>/ that the present configuration does not make, e.g. of a removed retriever."""
    input:
        without_lock,
    log:
        "<logs>/stale.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        folder=workflow.pathvars.apply("<results>"),
        patterns=lambda wildcards: output_patterns(),
        code=code_of("list_stale.py"),
    script:
        "../workflow/scripts/list_stale.py"


# Without outputs, too.
rule check_cache:
    """Read the whole cache, and list what is damaged in it and what killed jobs left there."""
    input:
        without_lock,
    log:
        "<logs>/check_cache.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        cache_dir=study.cache_dir,
        code=code_of("check_cache.py"),
    script:
        "../workflow/scripts/check_cache.py"
