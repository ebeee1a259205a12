"""Collection: what is fetched for a study, and queries, judgements and references of a dataset as tables."""


rule fetch_inputs:
    output:
        receipt="<results>/fetched.json",
    log:
        "<logs>/fetch_inputs.log",
    priority: 20
    conda:
        "../envs/retrieval.yaml"
    params:
        sources=SOURCES,
    script:
        "../workflow/scripts/fetch_inputs.py"


rule prepare_collection:
    input:
        # Every job stands on a collection: nothing is submitted before what it needs of hubs is there.
        fetched=ancient(FETCHED),
        dataset_files=lambda wildcards: dataset_files(wildcards.dataset),
        # Run files brought along are checked here too, before any engine starts; the tables don't depend on them.
        runs=ancient(lambda wildcards: run_files(wildcards.dataset)),
    output:
        queries="<results>/{dataset}/collection/queries.parquet",
        qrels="<results>/{dataset}/collection/qrels.parquet",
        references="<results>/{dataset}/collection/references.parquet",
        left_out="<results>/{dataset}/collection/left_out.json",
    log:
        "<logs>/prepare_collection/{dataset}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        definition=lambda wildcards: STUDY.dataset(wildcards.dataset),
        grades=lambda wildcards: STUDY.grades(wildcards.dataset),
        code=code_of("prepare_collection.py"),
    script:
        "../workflow/scripts/prepare_collection.py"
