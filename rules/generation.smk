"""Generation: a GPU job per retriever and shard fills the store; a CPU job per retriever writes its cells from it.

Answers that are brought along need neither: a CPU job per retriever writes its cells from their files.
Input: PROMPTS, QUERIES, CANDIDATES; files of answers, QRELS.
Output: RECEIPT, ANSWERS, LEFT_OUT_OF_ANSWERS; answers in cache_dir; OWN_CONTEXTS, PASSAGES of those brought along.

Snakemake looks through every pattern of a rule for every file that it needs: a rule that no generator uses lists none.
"""


rule generate_answers:
    input:
        fetched=fetched_for_generator,
        prompts=prompts_with_context(CONTEXTS),
        queries=QUERIES,
        contexts=CANDIDATES,
    output:
        receipt=RECEIPT,
    log:
        "<logs>/generate_answers/{dataset}/{generator}/{retriever}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_answers/{dataset}/{generator}/{retriever}/shard{shard}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: threads_of
    resources:
        **ENGINE,
    params:
        generator=generator_of,
        fingerprint=fingerprint_of,
        template=lambda wildcards: template_parts(template_of(wildcards.generator)),
        seeds=STUDY.grid["seeds"],
        shards=lambda wildcards: len(shards(wildcards.dataset)),
        cache_dir=STUDY.cache_dir,
    script:
        "../workflow/scripts/generate_answers.py"


use rule generate_answers as generate_zeroshot_answers with:
    input:
        fetched=fetched_for_generator,
        prompts=prompts_of(ZEROSHOT_PROMPTS, ZEROSHOT_CELLS[:1]),
        queries=QUERIES,
    output:
        receipt=ZEROSHOT_RECEIPT,
    log:
        "<logs>/generate_answers/{dataset}/{generator}/zeroshot/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_answers/{dataset}/{generator}/zeroshot/shard{shard}.tsv"


rule view_answers:
    input:
        prompts=prompts_with_context(CONTEXTS),
        receipts=receipts_of(RECEIPT),
    output:
        answers=filled(ANSWERS, CELLS if MADE else []),
        left_out=LEFT_OUT_OF_ANSWERS,
    log:
        "<logs>/view_answers/{dataset}/{generator}/{retriever}.log",
    wildcard_constraints:
        generator=any_of(MADE),
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": PROMPTS, "answers": ANSWERS},
        fingerprint=fingerprint_of,
        thinking=thinking_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("view_answers.py"),
    script:
        "../workflow/scripts/view_answers.py"


use rule view_answers as view_zeroshot_answers with:
    input:
        prompts=prompts_of(ZEROSHOT_PROMPTS, ZEROSHOT_CELLS[:1]),
        receipts=receipts_of(ZEROSHOT_RECEIPT),
    output:
        answers=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS if MADE else []),
        left_out=fill(LEFT_OUT_OF_ANSWERS, **ZEROSHOT),
    log:
        "<logs>/view_answers/{dataset}/{generator}/zeroshot.log",


rule read_answers:
    input:
        files=answer_inputs,
        dataset_files=lambda wildcards: dataset_files(wildcards.dataset),
        queries=QUERIES,
        qrels=QRELS,
        contexts=CANDIDATES,
    output:
        answers=filled(ANSWERS, CELLS if BROUGHT else []),
        prompts=filled(OWN_CONTEXTS, CONTEXTS if BROUGHT else []),
        passages=PASSAGES,
        left_out=LEFT_OUT_OF_ANSWERS,
    log:
        "<logs>/read_answers/{dataset}/{generator}/{retriever}.log",
    wildcard_constraints:
        generator=any_of(BROUGHT),
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        patterns={"prompts": OWN_CONTEXTS, "answers": ANSWERS},
        dataset=dataset_of,
        brought=answers_brought,
        code=code_of("read_answers.py", dataset_module),
    script:
        "../workflow/scripts/read_answers.py"


use rule read_answers as read_zeroshot_answers with:
    input:
        files=answer_inputs,
        dataset_files=lambda wildcards: dataset_files(wildcards.dataset),
        queries=QUERIES,
    output:
        answers=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS if BROUGHT else []),
        prompts=fill(OWN_CONTEXTS, **ZEROSHOT),
        left_out=fill(LEFT_OUT_OF_ANSWERS, **ZEROSHOT),
    log:
        "<logs>/read_answers/{dataset}/{generator}/zeroshot.log",
