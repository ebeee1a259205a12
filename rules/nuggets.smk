"""Nuggets: a GPU job per shard has a generator write lists, a CPU job takes them from the stores or from a file.

Input: queries, references or contexts; files of nuggets.
Output: nuggets_receipt, nuggets, left_out_of_nuggets; texts and log-probabilities in cache_dir.
"""

# What decides the lists that a generator writes.
WRITTEN = {
    "passages": lambda wildcards: NUGGETS_OF[wildcards.scorer].passages_read(),
    "limits": lambda wildcards: NUGGETS_OF[wildcards.scorer].limits(),
    "template": lambda wildcards: nugget_template_parts(
        NUGGETS_OF[wildcards.scorer].list_prompt
    ),
    "generator": lambda wildcards: generator_named(nugget_writer(wildcards)),
    "fingerprint": lambda wildcards: likelihoods_of(nugget_writer(wildcards)),
    "cache_dir": study.cache_dir,
}


rule write_nuggets:
    """Have a generator write lists of nuggets, into the store."""
    input:
        fetched=lambda wildcards: study.fetched("generators", nugget_writer(wildcards)),
        queries=files.queries,
        passages=nugget_passages,
    output:
        receipt=files.nuggets_receipt,
    log:
        "<logs>/write_nuggets/{dataset}/{scorer}/shard{shard}.log",
    benchmark:
        "<benchmarks>/write_nuggets/{dataset}/{scorer}/shard{shard}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: lambda wildcards: study.generator(nugget_writer(wildcards))["threads"]
    resources:
        **machine("engine"),
        gpu=lambda wildcards: study.generator(nugget_writer(wildcards))[
            "tensor_parallel_size"
        ],
    params:
        **WRITTEN,
        shards=lambda wildcards: len(study.shards(wildcards.dataset)),
        code=questions_of("write_nuggets.py"),
    script:
        "../workflow/scripts/write_nuggets.py"


rule view_nuggets:
    """Take the lists of nuggets from the store."""
    input:
        queries=files.queries,
        passages=nugget_passages,
        receipts=receipts_of(files.nuggets_receipt),
    output:
        nuggets=files.nuggets,
        left_out=files.left_out_of_nuggets,
    log:
        "<logs>/view_nuggets/{dataset}/{scorer}.log",
    wildcard_constraints:
        scorer=any_of(NUGGETS_WRITTEN_FOR),
    conda:
        "../envs/generation.yaml"
    params:
        **WRITTEN,
        code=code_of("view_nuggets.py"),
    script:
        "../workflow/scripts/view_nuggets.py"


rule read_nuggets:
    """Read lists of nuggets from a file."""
    input:
        file=lambda wildcards: NUGGETS_OF[wildcards.scorer].file(wildcards.dataset),
        queries=files.queries,
    output:
        nuggets=files.nuggets,
        left_out=files.left_out_of_nuggets,
    log:
        "<logs>/read_nuggets/{dataset}/{scorer}.log",
    wildcard_constraints:
        scorer=any_of(name for name in NUGGETS_OF if name not in NUGGETS_WRITTEN_FOR),
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("read_nuggets.py"),
    script:
        "../workflow/scripts/read_nuggets.py"
