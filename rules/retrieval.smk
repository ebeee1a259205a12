"""Retrieval: indexes, runs, contexts and retrieval measures."""

from ragrelay.collection.catalogued import corpus_name

CORPORA = {
    corpus_name(name, STUDY.dataset(name)): name for name in STUDY.grid["datasets"]
}
# Kind and definition of each index that a retriever needs.
INDEXES = {
    index_name(index): (definition["kind"], index)
    for definition in map(STUDY.retriever, STUDY.needed_retrievers())
    if (index := RETRIEVER_KINDS.of(definition).index_definition())
}


def indexing_module(wildcards):
    return RETRIEVER_KINDS.module({"kind": INDEXES[wildcards.index][0]})


def retriever_module(wildcards):
    return RETRIEVER_KINDS.module(STUDY.retriever(wildcards.retriever))


rule index_corpus:
    input:
        dataset_files=lambda wildcards: dataset_files(CORPORA[wildcards.corpus]),
        # The dataset is checked before anything is built on it; the index doesn't depend on its queries.
        checked=ancient(
            lambda wildcards: f"<results>/{CORPORA[wildcards.corpus]}/collection/queries.parquet"
        ),
    output:
        receipt="<results>/indexes/{corpus}/{index}.json",
    log:
        "<logs>/index_corpus/{corpus}/{index}.log",
    benchmark:
        "<benchmarks>/index_corpus/{corpus}/{index}.tsv"
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    threads: 2
    params:
        dataset=lambda wildcards: STUDY.dataset(CORPORA[wildcards.corpus]),
        kind=lambda wildcards: INDEXES[wildcards.index][0],
        index=lambda wildcards: INDEXES[wildcards.index][1],
        cache_dir=STUDY.cache_dir,
        code=code_of("index_corpus.py", indexing_module),
    script:
        "../workflow/scripts/index_corpus.py"


rule build_run:
    input:
        unpack(run_inputs),
    output:
        run="<results>/{dataset}/runs/{retriever}.run.gz",
    log:
        "<logs>/build_run/{dataset}/{retriever}.log",
    benchmark:
        "<benchmarks>/build_run/{dataset}/{retriever}.tsv"
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    threads: 2
    params:
        dataset=lambda wildcards: STUDY.dataset(wildcards.dataset),
        definition=lambda wildcards: STUDY.retriever(wildcards.retriever),
        cache_dir=STUDY.cache_dir,
        code=code_of("build_run.py", retriever_module),
    script:
        "../workflow/scripts/build_run.py"


rule build_contexts:
    input:
        dataset_files=lambda wildcards: dataset_files(wildcards.dataset),
        queries="<results>/{dataset}/collection/queries.parquet",
        qrels="<results>/{dataset}/collection/qrels.parquet",
        run="<results>/{dataset}/runs/{retriever}.run.gz",
    output:
        contexts="<results>/{dataset}/contexts/{retriever}.parquet",
        left_out="<results>/{dataset}/contexts/{retriever}.left_out.json",
    log:
        "<logs>/build_contexts/{dataset}/{retriever}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        dataset=lambda wildcards: STUDY.dataset(wildcards.dataset),
        depth=STUDY.config["context_depth"],
        ks=sorted(STUDY.grid["k"]),
        code=code_of("build_contexts.py"),
    script:
        "../workflow/scripts/build_contexts.py"


rule measure_retrieval:
    input:
        contexts="<results>/{dataset}/contexts/{retriever}.parquet",
        qrels="<results>/{dataset}/collection/qrels.parquet",
    output:
        values="<results>/{dataset}/retrieval/{retriever}.parquet",
    log:
        "<logs>/measure_retrieval/{dataset}/{retriever}.log",
    conda:
        "../envs/retrieval.yaml"
    params:
        measures=STUDY.grid["measures"],
        ks=sorted(STUDY.grid["k"]),
        code=code_of("measure_retrieval.py"),
    script:
        "../workflow/scripts/measure_retrieval.py"
