"""Retrieval: downloads, collections as tables, indexes, runs, contexts and retrieval measures.

Input: downloads; a dataset's files, or its id in ir_datasets; imported run files.
Output: fetched; queries, qrels, subtopics, clusters, references; index, run, run_doubts, contexts, skipped, processed, measures; counts of the data left out.
"""

from ragrelay.retrieval.processor import PROCESSOR_KINDS

if workflow.is_main_process:
    with on_terminal():
        retrieval.check_joined()


# There is one job per download, and only the jobs that use it depend on it, so a new download triggers no others.
rule fetch_input:
    """Download a model, an ir_datasets collection or Terrier's files on the submitting machine."""
    output:
        receipt=files.fetched,
    log:
        "<logs>/fetch_input/{fetched}.log",
    priority: 20
    localrule: True
    conda:
        env("retrieval")
    params:
        # The output's name identifies the download. Params derived from output never trigger a job.
        download=lambda wildcards, output: downloads.needed[wildcards.fetched],
    script:
        "../workflow/scripts/execution/fetch_input.py"


rule prepare_collection:
    """Write tables of a dataset's judged queries and their judgements."""
    input:
        fetched=downloads.receipts_of("dataset"),
        dataset_files=of_job(collection.files),
    output:
        queries=files.queries,
        qrels=files.qrels,
        left_out=files.left_out_of_collection,
    log:
        "<logs>/prepare_collection/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(name for name in study.grid.datasets if name not in collection.judged_subtopics),
    priority: 10
    conda:
        env("retrieval")
    params:
        definition=of_job(collection.of_jobs),
        drop_identical_ids=of_job(collection.drop_identical_ids),
        # Checked before any engine starts. A param derived from output never triggers a job.
        checked=collection.checked_files,
        cache_dir=study.cache_dir,
        code=code_of("collection/prepare_collection.py", of_job(collection.module)),
    script:
        "../workflow/scripts/collection/prepare_collection.py"


rule prepare_judged_subtopics:
    """Write a dataset's judged queries and their judgements, with each passage's highest label over all subtopics."""
    input:
        fetched=downloads.receipts_of("dataset"),
        dataset_files=of_job(collection.files),
    output:
        queries=files.queries,
        qrels=files.qrels,
        left_out=files.left_out_of_collection,
    log:
        "<logs>/prepare_judged_subtopics/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(collection.judged_subtopics),
    priority: 10
    conda:
        env("retrieval")
    params:
        definition=of_job(collection.of_jobs),
        drop_identical_ids=of_job(collection.drop_identical_ids),
        checked=collection.checked_files,
        cache_dir=study.cache_dir,
        code=code_of("collection/prepare_judged_subtopics.py", of_job(collection.module)),
    script:
        "../workflow/scripts/collection/prepare_judged_subtopics.py"


rule prepare_subtopics:
    """List which passages are relevant to which subtopics of a query."""
    input:
        queries=files.queries,
        qrels=files.qrels,
        subtopics=of_job(collection.subtopic_files),
    output:
        files.subtopics,
    log:
        "<logs>/prepare_subtopics/{dataset}.log",
    priority: 10
    conda:
        env("retrieval")
    params:
        subtopics=of_job(collection.subtopics),
        definition=of_job(collection.of_jobs),
        code=code_of("collection/prepare_subtopics.py", of_job(collection.module)),
    script:
        "../workflow/scripts/collection/prepare_subtopics.py"


rule prepare_clusters:
    """Read the file that assigns a dataset's queries to clusters."""
    input:
        queries=files.queries,
        clusters=of_job(collection.cluster_files),
    output:
        files.clusters,
    log:
        "<logs>/prepare_clusters/{dataset}.log",
    priority: 10
    conda:
        env("retrieval")
    params:
        code=code_of("collection/prepare_clusters.py"),
    script:
        "../workflow/scripts/collection/prepare_clusters.py"


rule prepare_references:
    """Collect the references: all passages judged at the lowest reference grade or higher."""
    input:
        dataset_files=of_job(collection.files),
        queries=files.queries,
        qrels=files.qrels,
    output:
        references=files.references,
        left_out=files.left_out_of_references,
    log:
        "<logs>/prepare_references/{dataset}.log",
    priority: 10
    conda:
        env("retrieval")
    params:
        definition=of_job(collection.of_jobs),
        grades=of_job(study.grades),
        code=code_of("collection/prepare_references.py", of_job(collection.module)),
    script:
        "../workflow/scripts/collection/prepare_references.py"


INDEXING = {
    "dataset": of_job(lambda corpus: collection.of_jobs(retrieval.corpora[corpus])),
    "kind": of_job(lambda index: study.retriever(retrieval.indexes[index])["kind"]),
    "index": of_job(lambda index: retrieval.kind(retrieval.indexes[index]).index_definition()),
    "cache_dir": study.cache_dir,
    "code": code_of(
        "retrieval/index_corpus.py",
        of_job(lambda index: retrieval.module(retrieval.indexes[index])),
        of_job(lambda corpus: collection.module(retrieval.corpora[corpus])),
    ),
}


rule count_indexes:
    """Check whether an index is missing, so that `index_corpus` requests a GPU only if it has to build one."""
    input:
        unpack(retrieval.index_inputs),
    output:
        missing=temp(count_file(files.index)),
    log:
        "<logs>/count_indexes/{corpus}/{index}.log",
    priority: 10
    conda:
        env("retrieval")
    params:
        **INDEXING,
    script:
        "../workflow/scripts/retrieval/index_corpus.py"


rule index_corpus:
    """Build an index of a corpus in the cache."""
    input:
        unpack(retrieval.index_inputs),
        missing=count_if_gpu("index", files.index),
    output:
        receipt=files.index,
    log:
        "<logs>/index_corpus/{corpus}/{index}.log",
    benchmark:
        "<benchmarks>/index_corpus/{corpus}/{index}.tsv"
    priority: 10
    conda:
        env("retrieval")
    threads: cores("index")
    resources:
        **with_work(machine("index")),
    params:
        **INDEXING,
    script:
        "../workflow/scripts/retrieval/index_corpus.py"


rule build_run:
    """Rank passages for every query, or read the rankings from a run file."""
    input:
        unpack(retrieval.run_inputs),
    output:
        run=files.run,
        doubts=files.run_doubts,
    log:
        "<logs>/build_run/{dataset}/{retriever}.log",
    benchmark:
        "<benchmarks>/build_run/{dataset}/{retriever}.tsv"
    priority: 10
    conda:
        env("retrieval")
    threads: cores("retrieval", of_job(lambda retriever: retrieval.kind(retriever).threads))
    resources:
        **machine("retrieval"),
    params:
        dataset=of_job(collection.of_jobs),
        definition=of_job(lambda retriever: study.retriever(retriever)),
        drop_identical_ids=of_job(collection.drop_identical_ids),
        metadata=of_job(retrieval.metadata),
        cache_dir=study.cache_dir,
        code=code_of("retrieval/build_run.py", of_job(retrieval.module), of_job(collection.module)),
    script:
        "../workflow/scripts/retrieval/build_run.py"


rule build_contexts:
    """Collect the texts of each query's top passages, at most `context_depth` per query."""
    input:
        dataset_files=of_job(collection.files),
        queries=files.queries,
        qrels=files.qrels,
        run=files.run,
        passages=of_job(retrieval.brought),
    output:
        contexts=files.contexts,
        skipped=files.skipped,
    log:
        "<logs>/build_contexts/{dataset}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(name for name in study.needed_retrievers() if name not in retrieval.processed),
    priority: 10
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        depth=study.settings.context_depth,
        code=code_of("retrieval/build_contexts.py", of_job(collection.module)),
    script:
        "../workflow/scripts/retrieval/build_contexts.py"


PROCESSING = {
    "definition": of_job(retrieval.processor),
    "ks": sorted(study.grid.k),
    "cache_dir": study.cache_dir,
    "code": code_of(
        "retrieval/process_contexts.py",
        of_job(lambda retriever: PROCESSOR_KINDS.module(retrieval.processor(retriever))),
    ),
}


rule count_processed_texts:
    """Check whether any texts still need processing, so that `process_contexts` requests a GPU only if needed."""
    input:
        unpack(retrieval.unprocessed_inputs),
    output:
        missing=temp(count_file(files.processed)),
    log:
        "<logs>/count_processed_texts/{dataset}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(retrieval.processed),
    priority: 10
    conda:
        env("retrieval")
    params:
        **PROCESSING,
    script:
        "../workflow/scripts/retrieval/process_contexts.py"


rule process_contexts:
    """Apply a processor to a retriever's contexts at every k, and store the resulting texts in the cache."""
    input:
        unpack(retrieval.unprocessed_inputs),
        missing=count_if_gpu("processing", files.processed),
    output:
        contexts=files.contexts,
        skipped=files.skipped,
        receipt=files.processed,
    log:
        "<logs>/process_contexts/{dataset}/{retriever}.log",
    benchmark:
        "<benchmarks>/process_contexts/{dataset}/{retriever}.tsv"
    wildcard_constraints:
        retriever=any_of(retrieval.processed),
    priority: 10
    conda:
        env("retrieval")
    threads: cores("processing", of_job(lambda retriever: PROCESSOR_KINDS.of(retrieval.processor(retriever)).threads))
    resources:
        **with_work(machine("processing")),
    params:
        **PROCESSING,
    script:
        "../workflow/scripts/retrieval/process_contexts.py"


rule measure_retrieval:
    """Compute retrieval measures for each query at every k."""
    input:
        contexts=files.contexts,
        skipped=files.skipped,
        queries=files.queries,
        qrels=files.qrels,
        subtopics=of_job(collection.measured_subtopics),
        runs=of_job(lambda retriever, dataset: retrieval.kind(retriever).files(dataset)),
    output:
        values=files.measures,
        left_out=files.left_out_of_contexts,
    log:
        "<logs>/measure_retrieval/{dataset}/{retriever}.log",
    conda:
        env("retrieval")
    params:
        measures=study.grid.measures,
        ks=sorted(study.grid.k),
        relevant=of_job(collection.lowest_grade),
        subtopic_level=of_job(collection.subtopic_level),
        ranked_by=of_job(lambda retriever: study.retriever(retriever).get("ranked_by")),
        empty=of_job(study.empty_rankings),
        identical_ids=of_job(lambda dataset: collection.drop_identical_ids(dataset) is None),
        code=code_of("retrieval/measure_retrieval.py"),
    script:
        "../workflow/scripts/retrieval/measure_retrieval.py"
