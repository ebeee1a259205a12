"""Prompts and answers: a GPU job per query shard fills the store, and a CPU job per retriever writes its cells.

For imported answers, a CPU job per retriever writes its cells from the files, without a store.
Input: queries, contexts; answer files, qrels; a GGUF file.
Output: converted; prompts, receipt, answers, left_out_of_answers; answers in cache_dir; imported_contexts and imported_passages for imported answers.

A view depends on the receipts through ancient(), so that changing one retriever doesn't rerun another one's view
(ragrelay/execution/jobs/snakemake_internals.py).

Snakemake compares each file that it needs with every pattern of every rule, so rules that no generator uses list none.
"""

from ragrelay.execution.study.plan import prompt_patterns

PROMPT_FILES = {
    **prompt_patterns(study),
    "with_context": files.prompts,
    "contexts": files.contexts,
}


rule build_prompts:
    """Build prompts from a retriever's contexts, for every ordering and k."""
    input:
        queries=files.queries,
        contexts=files.contexts,
    output:
        prompts=files.prompts.each(study.contexts),
    log:
        "<logs>/build_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        env("analysis")
    params:
        patterns={"prompts": files.prompts},
        template=of_job(generation.template_parts),
        code=code_of("prompting/build_prompts.py"),
    script:
        "../workflow/scripts/prompting/build_prompts.py"


use rule build_prompts as build_zeroshot_prompts with:
    """Build prompts from the queries alone, without passages."""
    input:
        queries=files.queries,
    output:
        prompts=files.zeroshot_prompts,
    log:
        "<logs>/build_prompts/{dataset}/{template}/zeroshot.log",


rule convert_model:
    """Convert a GGUF file's weights to a format that vLLM can load, and store them in the cache."""
    input:
        of_job(downloads.converted_from),
    output:
        receipt=files.converted,
    log:
        "<logs>/convert_model/{generator}.log",
    benchmark:
        "<benchmarks>/convert_model/{generator}.tsv"
    wildcard_constraints:
        generator=NAME,  # it may only be a judge
    priority: 20
    conda:
        env("generation")
    resources:
        **machine("conversion"),
    params:
        conversion=of_job(downloads.conversion),
    script:
        "../workflow/scripts/generation/convert_model.py"


GENERATION = {
    # Derived from the input, so that it doesn't trigger jobs when new annexes add patterns.
    "patterns": lambda wildcards, input: {n: path for n, path in PROMPT_FILES.items() if input.get(n)},
    "generator": of_job(generation.of_jobs),
    "fingerprint": of_job(generation.fingerprint),
    "template": lambda wildcards: generation.template_parts(generation.template_of(wildcards.generator)),
    "seeds": study.grid.seeds,
    "shards": of_job(generation.number_of_shards),
    "cache_dir": study.cache_dir,
}
ANSWERED = {
    "fetched": downloads.receipts_of("generator"),
    "prompts": generation.prompts(files.zeroshot_prompts, study.zeroshot_cells[:1]),
    "with_context": generation.prompts_with_context(study.retriever_contexts),
    "queries": files.queries,
    "contexts": files.contexts.each(study.each_retriever),
    "awaited": [path for annex in annexes() for path in annex.answers_await(study)],
}


rule count_answers:
    """Count the answers missing from the store, so that `generate_answers` requests a GPU only if there are any."""
    input:
        **ANSWERED,
    output:
        missing=temp(count_file(files.receipt)),
    log:
        "<logs>/count_answers/{dataset}/{generator}/shard{shard}.log",
    priority: 5
    conda:
        env("generation")
    params:
        **GENERATION,
    script:
        RULES.join("../workflow/scripts/generation/generate_answers.py")


rule generate_answers:
    """Generate and store the answers to all retrievers' prompts and to the zero-shot prompts."""
    input:
        **ANSWERED,
        missing=count_of(files.receipt),
    output:
        receipt=files.receipt,
    log:
        "<logs>/generate_answers/{dataset}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_answers/{dataset}/{generator}/shard{shard}.tsv"
    priority: 5  # before scores
    conda:
        env("generation")
    threads: of_job(generation.threads)
    resources:
        **ENGINE,
    params:
        **GENERATION,
    script:
        RULES.join("../workflow/scripts/generation/generate_answers.py")


rule view_answers:
    """Write a retriever's answers from the store to files, one file per cell."""
    input:
        prompts=generation.prompts_with_context(study.contexts),
        receipts=following(generation.receipts(files.receipt)),
    output:
        answers=files.answers.each(study.cells if study.asked else []),
        left_out=files.left_out_of_answers,
    log:
        "<logs>/view_answers/{dataset}/{generator}/{retriever}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    priority: 5  # before scores
    conda:
        env("analysis")
    params:
        patterns={"prompts": files.prompts, "answers": files.answers},
        fingerprint=of_job(generation.fingerprint),
        seeds=study.grid.seeds,  # counts what was left out for these
        thinking=of_job(generation.thinking),
        cache_dir=study.cache_dir,
        code=code_of("generation/view_answers.py"),
    script:
        "../workflow/scripts/generation/view_answers.py"


use rule view_answers as view_zeroshot_answers with:
    """Write the zero-shot answers from the store to files, one file per seed."""
    input:
        prompts=generation.prompts(files.zeroshot_prompts, study.zeroshot_cells[:1]),
        receipts=following(generation.receipts(files.receipt)),
    output:
        answers=files.zeroshot_answers.each(study.zeroshot_cells if study.asked else []),
        left_out=files.zeroshot_left_out,
    log:
        "<logs>/view_answers/{dataset}/{generator}/zeroshot.log",


rule read_answers:
    """Read a retriever's imported answers, and the passages in their contexts, from files."""
    input:
        files=of_job(generation.answer_files),
        dataset_files=of_job(collection.files),
        queries=files.queries,
        qrels=files.qrels,
        contexts=files.contexts,
    output:
        answers=files.answers.each(study.cells if generation.imported else []),
        prompts=files.imported_contexts.each(study.contexts if generation.imported else []),
        passages=files.imported_passages,
        left_out=files.left_out_of_answers,
    log:
        "<logs>/read_answers/{dataset}/{generator}/{retriever}.log",
    wildcard_constraints:
        generator=any_of(generation.imported),
    priority: 10
    conda:
        env("retrieval")
    params:
        patterns={"prompts": files.imported_contexts, "answers": files.answers},
        dataset=of_job(collection.of_jobs),
        imported=of_job(lambda generator, dataset: generation.imported[generator].given(dataset, study.grid)),
        code=code_of("generation/read_answers.py", of_job(collection.module)),
    script:
        "../workflow/scripts/generation/read_answers.py"


use rule read_answers as read_zeroshot_answers with:
    """Read imported zero-shot answers from files."""
    input:
        files=of_job(generation.answer_files),
        dataset_files=of_job(collection.files),
        queries=files.queries,
    output:
        answers=files.zeroshot_answers.each(study.zeroshot_cells if generation.imported else []),
        prompts=files.imported_zeroshot,
        left_out=files.zeroshot_left_out,
    log:
        "<logs>/read_answers/{dataset}/{generator}/zeroshot.log",
