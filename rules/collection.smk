"""Collection: what is fetched, and queries, judgements and references of a dataset as tables.

Input: what the grid takes from elsewhere; a dataset's files, or its id in ir_datasets.
Output: fetched; queries, qrels, references, and counts of what was left out.
"""

# Run files that joined a dataset after it was prepared, or have changed since: before any job, in a dry run too.
if workflow.is_main_process:
    with on_terminal():
        for dataset in study.grid["datasets"]:
            queries = workflow.pathvars.apply(files.queries.at(dataset=dataset))
            if Path(queries).exists():
                check_joined_runs(
                    study.run_files(dataset),
                    study.dataset_named(dataset),
                    study.cache_dir,
                )


# One job per source, which the jobs that use it depend on: a new one is no reason to run any other.
rule fetch_input:
    """Fetch a model, a collection of ir_datasets or Terrier's files, on the submitting machine."""
    output:
        receipt=files.fetched,
    log:
        "<logs>/fetch_input/{fetched}.log",
    priority: 20
    # On the submitting machine, which reaches hubs where compute nodes may not.
    localrule: True
    conda:
        "../envs/retrieval.yaml"
    params:
        # Its name says all that decides it: what is derived from output is no reason to run again.
        source=lambda wildcards, output: study.sources[wildcards.fetched],
    script:
        "../workflow/scripts/fetch_input.py"


rule prepare_collection:
    """Write a dataset's judged queries and its judgements as tables."""
    input:
        fetched=lambda wildcards: study.fetched("datasets", wildcards.dataset),
        dataset_files=lambda wildcards: study.dataset_files(wildcards.dataset),
    output:
        queries=files.queries,
        qrels=files.qrels,
        left_out=files.left_out_of_collection,
    log:
        "<logs>/prepare_collection/{dataset}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        definition=study.dataset_of,
        # Seen to be right before any engine starts. The outputs don't depend on it, and what is derived from output
        # is no reason to run again.
        checked=lambda wildcards, output: {
            "runs": study.run_files(wildcards.dataset),
            "grades": study.grades(wildcards.dataset),
            "answers": all_brought(wildcards.dataset),
            "passages": study.all_passage_answers(wildcards.dataset),
        },
        cache_dir=study.cache_dir,
        code=code_of("prepare_collection.py", study.dataset_module),
    script:
        "../workflow/scripts/prepare_collection.py"


rule prepare_references:
    """Collect the passages that are judged at or above the lowest grade."""
    input:
        dataset_files=lambda wildcards: study.dataset_files(wildcards.dataset),
        queries=files.queries,
        qrels=files.qrels,
    output:
        references=files.references,
        left_out=files.left_out_of_references,
    log:
        "<logs>/prepare_references/{dataset}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        definition=study.dataset_of,
        grades=lambda wildcards: study.grades(wildcards.dataset),
        code=code_of("prepare_references.py", study.dataset_module),
    script:
        "../workflow/scripts/prepare_references.py"
