"""Retrieval: indexes, runs, contexts and retrieval measures.

Input: a dataset's passages, queries, qrels; other retrievers' run, or imported run files.
Output: index, run, run_doubts, contexts, skipped, measures.
"""

CORPORA = {
    DATASET_KINDS.of(study.dataset(name)).corpus(name): name
    for name in study.grid["datasets"]
}
# Indexes by name: a retriever that each is built for.
INDEXES = {
    index_name(index): name
    for name in study.needed_retrievers()
    if (index := RETRIEVER_KINDS.of(study.retriever(name)).index_definition())
}


rule index_corpus:
    """Build an index of a corpus, in the cache."""
    input:
        passages=lambda wildcards: study.passage_files(CORPORA[wildcards.corpus]),
        fetched=lambda wildcards: study.fetched("datasets", CORPORA[wildcards.corpus])
        + study.fetched("retrievers", INDEXES[wildcards.index]),
    output:
        receipt=files.index,
    log:
        "<logs>/index_corpus/{corpus}/{index}.log",
    benchmark:
        "<benchmarks>/index_corpus/{corpus}/{index}.tsv"
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    threads: cores("index", 2)
    resources:
        **machine("index"),
    params:
        dataset=lambda wildcards: study.dataset_named(CORPORA[wildcards.corpus]),
        kind=lambda wildcards: study.retriever(INDEXES[wildcards.index])["kind"],
        index=lambda wildcards: index_definition(wildcards.index),
        cache_dir=study.cache_dir,
        code=code_of("index_corpus.py", indexing_module, corpus_module),
    script:
        "../workflow/scripts/index_corpus.py"


rule build_run:
    """Rank passages for every query, or read the ranking from a run file."""
    input:
        unpack(run_inputs),
    output:
        run=files.run,
        doubts=files.run_doubts,
    log:
        "<logs>/build_run/{dataset}/{retriever}.log",
    benchmark:
        "<benchmarks>/build_run/{dataset}/{retriever}.tsv"
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    threads: cores("retrieval", retriever_threads)
    resources:
        **machine("retrieval"),
    params:
        dataset=study.dataset_of,
        definition=lambda wildcards: study.retriever(wildcards.retriever),
        metadata=run_metadata,
        cache_dir=study.cache_dir,
        code=code_of("build_run.py", retriever_module, study.dataset_module),
    script:
        "../workflow/scripts/build_run.py"


rule build_contexts:
    """Take each query's best passages with text, to `context_depth`."""
    input:
        dataset_files=lambda wildcards: study.dataset_files(wildcards.dataset),
        queries=files.queries,
        qrels=files.qrels,
        run=files.run,
    output:
        contexts=files.contexts,
        skipped=files.skipped,
    log:
        "<logs>/build_contexts/{dataset}/{retriever}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        dataset=study.dataset_of,
        depth=study.config["context_depth"],
        code=code_of("build_contexts.py", study.dataset_module),
    script:
        "../workflow/scripts/build_contexts.py"


rule measure_retrieval:
    """Compute retrieval measures of every query at every k."""
    input:
        contexts=files.contexts,
        skipped=files.skipped,
        queries=files.queries,
        qrels=files.qrels,
    output:
        values=files.measures,
        left_out=files.left_out_of_contexts,
    log:
        "<logs>/measure_retrieval/{dataset}/{retriever}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        measures=study.grid["measures"],
        ks=sorted(study.grid["k"]),
        relevant=lambda wildcards: min(study.grades(wildcards.dataset).values()),
        zeros=lambda wildcards: wildcards.retriever in study.counted_at_zero(),
        code=code_of("measure_retrieval.py"),
    script:
        "../workflow/scripts/measure_retrieval.py"
