"""Annotation: each passage alone before the generator, labels by several sources, and how they follow the answers.

Input: CANDIDATES, QUERIES, QRELS, REFERENCES, UTILITY.
Output: SINGLE_PROMPTS, SINGLE_ANSWERS, JUDGED, labels of each source, LEFT_OUT_OF_LABELS, LABELS, LABEL_COST.
"""

from ragrelay.annotations.checks import label_cutoffs
from ragrelay.annotations.source import (
    BY_ANSWERS,
    BY_FILE,
    BY_JUDGE,
    BY_PAGES,
    BY_ZEROSHOT,
    SOURCE_KINDS,
)

ANNOTATIONS = STUDY.grid["annotations"]
PARTS = {
    name: SOURCE_KINDS.of(STUDY.config["annotations"][name])
    for name in STUDY.annotation_parts()
}
# Whether any source needs each passage alone before the generator.
BY_GENERATOR = any(source.needs_single_answers for source in PARTS.values())
# The sources whose judges are checked for bias, each with these.
CHECKED_SOURCES = {
    name: source.judges(STUDY.grid["generators"])
    for name, source in PARTS.items()
    if STUDY.config["annotations"][name].get("bias_checks")
}
# What sources' tables come from.
LABEL_JOBS = {
    BY_ANSWERS: LABELS_BY_ANSWERS,
    BY_JUDGE: LABELS_BY_JUDGE,
    BY_ZEROSHOT: SCORES,
    BY_PAGES: LABELS_BY_PAGES,
    BY_FILE: LABELS_BY_FILE,
}
LABEL_CUTOFFS = label_cutoffs(STUDY.grid["k"], STUDY.config["annotation_depth"])
# All cells that labels are compared with, for what they cost.
END_TO_END = [
    cell
    for cell in ALL_CELLS
    if cell["ordering"] == "descending" and cell["k"] in LABEL_CUTOFFS
]


rule build_single_prompts:
    input:
        queries=QUERIES,
        contexts=CANDIDATES,
    output:
        SINGLE_PROMPTS,
    log:
        "<logs>/build_single_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        depth=STUDY.config["annotation_depth"],
        template=lambda wildcards: template_parts(wildcards.template),
        code=code_of("build_single_prompts.py"),
    script:
        "../workflow/scripts/build_single_prompts.py"


# One job for all retrievers.
use rule generate_answers as generate_single_answers with:
    input:
        fetched=fetched_for_generator,
        prompts=single_prompts_of,
        queries=QUERIES,
        # After the grid's own jobs, so that what they share is generated once.
        receipts=lambda wildcards: [
            path
            for pattern in filled(RECEIPT, EACH_RETRIEVER)
            for path in filled(pattern, shard_keys(wildcards.dataset))
        ],
    output:
        receipt=SINGLE_RECEIPT,
    log:
        "<logs>/generate_single_answers/{dataset}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_single_answers/{dataset}/{generator}/shard{shard}.tsv"


rule view_single_answers:
    input:
        prompts=single_prompts_of,
        receipts=receipts_of(SINGLE_RECEIPT),
    output:
        SINGLE_ANSWERS,
    log:
        "<logs>/view_single_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        seeds=STUDY.grid["seeds"],
        fingerprint=fingerprint_of,
        thinking=thinking_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("view_single_answers.py"),
    script:
        "../workflow/scripts/view_single_answers.py"


rule label_passages:
    input:
        **REFERENCE_FILES,
        answers=SINGLE_ANSWERS,
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
    output:
        LABELS_BY_ANSWERS,
    log:
        "<logs>/label_passages/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/label_passages/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        **SCORING,
        code=code_of("label_passages.py", scorer_module),
    script:
        "../workflow/scripts/label_passages.py"


rule judge_passages:
    input:
        fetched=lambda wildcards: fetched("generators", wildcards.judge),
        prompts=judged_prompts,
    output:
        receipt=JUDGED,
    log:
        "<logs>/judge_passages/{dataset}/{source}/{judge}.log",
    benchmark:
        "<benchmarks>/judge_passages/{dataset}/{source}/{judge}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: lambda wildcards: STUDY.generator(wildcards.judge)["threads"]
    resources:
        **machine("engine"),
        gpu=lambda wildcards: STUDY.generator(wildcards.judge)["tensor_parallel_size"],
    params:
        words=lambda wildcards: PARTS[wildcards.source].words(),
        begins=lambda wildcards: PARTS[wildcards.source].begins(),
        generator=lambda wildcards: generator_named(wildcards.judge),
        fingerprint=lambda wildcards: likelihoods_of(wildcards.judge),
        cache_dir=STUDY.cache_dir,
        code=questions_of("judge_passages.py"),
    script:
        "../workflow/scripts/judge_passages.py"


rule label_by_judge:
    input:
        prompts=judged_prompts,
        receipt=JUDGED,
    output:
        LABELS_BY_JUDGE,
    log:
        "<logs>/label_by_judge/{dataset}/{source}/{judge}.log",
    conda:
        "../envs/generation.yaml"
    params:
        source=source_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("label_by_judge.py", source_module),
    script:
        "../workflow/scripts/label_by_judge.py"


rule label_by_pages:
    input:
        dataset_files=lambda wildcards: dataset_files(wildcards.dataset),
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
        queries=QUERIES,
        pages=lambda wildcards: PARTS[wildcards.source].file(wildcards.dataset),
    output:
        labels=LABELS_BY_PAGES,
        left_out=fill(LEFT_OUT_OF_LABELS, by=BY_PAGES),
    log:
        "<logs>/label_by_pages/{dataset}/{source}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        dataset=dataset_of,
        code=code_of("label_by_pages.py", dataset_module),
    script:
        "../workflow/scripts/label_by_pages.py"


rule label_by_file:
    input:
        labels=lambda wildcards: PARTS[wildcards.source].file(wildcards.dataset),
        queries=QUERIES,
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
    output:
        labels=LABELS_BY_FILE,
        left_out=fill(LEFT_OUT_OF_LABELS, by=BY_FILE),
    log:
        "<logs>/label_by_file/{dataset}/{source}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        depth=STUDY.config["annotation_depth"],
        code=code_of("label_by_file.py"),
    script:
        "../workflow/scripts/label_by_file.py"


rule measure_labels:
    input:
        unpack(made_labels),
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
        queries=QUERIES,
        qrels=QRELS,
    output:
        labels=f"{LABELS}/labels.parquet",
        values=f"{LABELS}/values.parquet",
    log:
        "<logs>/measure_labels/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/scoring.yaml"
    params:
        patterns={"contexts": CANDIDATES, **LABEL_JOBS},
        order=ORDER,
        annotations=source_definitions(),
        names=ANNOTATIONS,
        references=all_reference_sets,
        measures=STUDY.grid["annotation_measures"],
        ks=LABEL_CUTOFFS,
        depth=STUDY.config["annotation_depth"],
        lowest_grade=lowest_grade_of,
        code=code_of("measure_labels.py", *source_modules()),
    script:
        "../workflow/scripts/measure_labels.py"


rule correlate_labels:
    input:
        values=f"{LABELS}/values.parquet",
        utility=UTILITY,
    output:
        correlation=f"{LABELS}/correlation.csv",
        leads=f"{LABELS}/leads.csv",
        within=f"{LABELS}/within.csv",
        choices=f"{LABELS}/choices.csv",
    log:
        "<logs>/correlate_labels/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/correlate_labels/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        resamples=STUDY.config["analysis"]["resamples"],
        seed=STUDY.config["analysis"]["seed"],
        kinds={name: STUDY.retriever(name)["kind"] for name in RETRIEVERS},
        constant=[name for name, source in PARTS.items() if source.constant],
        code=code_of("correlate_labels.py"),
    script:
        "../workflow/scripts/correlate_labels.py"


rule describe_label_cost:
    input:
        single=SINGLE_ANSWERS,
        answers=filled(ANSWERS, END_TO_END),
    output:
        LABEL_COST,
    log:
        "<logs>/describe_label_cost/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"answers": ANSWERS},
        fingerprint=fingerprint_of,
        devices=devices_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("describe_label_cost.py"),
    script:
        "../workflow/scripts/describe_label_cost.py"
