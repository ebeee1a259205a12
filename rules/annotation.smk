"""Annotation: each passage alone before the generator, labels by several sources, and how they follow the answers.

Input: contexts, queries, qrels, references, utility.
Output: single_prompts, single_answers, judged_passages_receipt, labels of each source, left_out_of_labels, labels, label_cost.
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

ANNOTATIONS = study.grid["annotations"]
# Whether any source needs each passage alone before the generator.
BY_GENERATOR = any(
    source.needs_single_answers for source in study.source_parts.values()
)
# What sources' tables come from.
LABEL_JOBS = {
    BY_ANSWERS: files.labels_by_answers,
    BY_JUDGE: files.labels_by_judge,
    BY_ZEROSHOT: files.scores,
    BY_PAGES: files.labels_by_pages,
    BY_FILE: files.labels_by_file,
}
LABEL_CUTOFFS = label_cutoffs(study.grid["k"], study.config["annotation_depth"])
# All cells that labels are compared with, for what they cost.
END_TO_END = [
    cell
    for cell in ALL_CELLS
    if cell["ordering"] == "descending" and cell["k"] in LABEL_CUTOFFS
]


rule build_single_prompts:
    """Lay out each passage alone as a prompt."""
    input:
        queries=files.queries,
        contexts=files.contexts,
    output:
        files.single_prompts,
    log:
        "<logs>/build_single_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        depth=study.config["annotation_depth"],
        template=lambda wildcards: study.template_parts(wildcards.template),
        code=code_of("build_single_prompts.py"),
    script:
        "../workflow/scripts/build_single_prompts.py"


# One job for all retrievers.
use rule generate_answers as generate_single_answers with:
    input:
        fetched=study.fetched_for_generator,
        prompts=lambda wildcards: study.single_prompts(
            study.template_of(wildcards.generator)
        ),
        queries=files.queries,
        # After the grid's own jobs, so that what they share is generated once.
        receipts=lambda wildcards: [
            path
            for pattern in files.receipt.each(study.each_retriever)
            for path in pattern.each(study.shard_keys(wildcards.dataset))
        ],
    output:
        receipt=files.single_receipt,
    log:
        "<logs>/generate_single_answers/{dataset}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_single_answers/{dataset}/{generator}/shard{shard}.tsv"


rule view_single_answers:
    """Write the answers to single passages from the store."""
    input:
        prompts=lambda wildcards: study.single_prompts(
            study.template_of(wildcards.generator)
        ),
        receipts=study.receipts_of(files.single_receipt),
    output:
        files.single_answers,
    log:
        "<logs>/view_single_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    conda:
        "../envs/analysis.yaml"
    params:
        seeds=study.grid["seeds"],
        fingerprint=study.fingerprint_of,
        thinking=study.thinking_of,
        cache_dir=study.cache_dir,
        code=code_of("view_single_answers.py"),
    script:
        "../workflow/scripts/view_single_answers.py"


rule read_single_answers:
    """Read imported answers to single passages from their files."""
    input:
        files=lambda wildcards: [
            path for path, _ in study.passage_answers(wildcards)["files"]
        ],
        dataset_files=lambda wildcards: study.dataset_files(wildcards.dataset),
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        answers=files.single_answers,
        left_out=files.left_out_of_labels.at(by=BY_ANSWERS, source="{generator}"),
    log:
        "<logs>/read_single_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.imported_generators),
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        dataset=study.dataset_of,
        brought=study.passage_answers,
        depth=study.config["annotation_depth"],
        code=code_of("read_single_answers.py", study.dataset_module),
    script:
        "../workflow/scripts/read_single_answers.py"


rule label_passages:
    """Label each passage by the score of the answer that it leads to alone (eRAG)."""
    input:
        **REFERENCE_FILES,
        answers=files.single_answers,
        contexts=files.contexts.each(study.each_retriever),
    output:
        files.labels_by_answers,
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
        code=code_of("label_passages.py", study.scorer_module),
    script:
        "../workflow/scripts/label_passages.py"


rule label_by_pages:
    """Label passages by whether they are of a query's gold pages."""
    input:
        dataset_files=lambda wildcards: study.dataset_files(wildcards.dataset),
        contexts=files.contexts.each(study.each_retriever),
        queries=files.queries,
        pages=lambda wildcards: study.source_parts[wildcards.source].file(
            wildcards.dataset
        ),
    output:
        labels=files.labels_by_pages,
        left_out=files.left_out_of_labels.at(by=BY_PAGES),
    log:
        "<logs>/label_by_pages/{dataset}/{source}.log",
    priority: 10
    conda:
        "../envs/retrieval.yaml"
    params:
        dataset=study.dataset_of,
        code=code_of("label_by_pages.py", study.dataset_module),
    script:
        "../workflow/scripts/label_by_pages.py"


rule label_by_file:
    """Read labels of passages from a file."""
    input:
        labels=lambda wildcards: study.source_parts[wildcards.source].file(
            wildcards.dataset
        ),
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        labels=files.labels_by_file,
        left_out=files.left_out_of_labels.at(by=BY_FILE),
    log:
        "<logs>/label_by_file/{dataset}/{source}.log",
    priority: 10
    conda:
        "../envs/analysis.yaml"
    params:
        depth=study.config["annotation_depth"],
        code=code_of("label_by_file.py"),
    script:
        "../workflow/scripts/label_by_file.py"


rule measure_labels:
    """Compute retrieval measures from the labels of every source."""
    input:
        unpack(made_labels),
        contexts=files.contexts.each(study.each_retriever),
        queries=files.queries,
        qrels=files.qrels,
    output:
        labels=files.labels,
        values=files.label_values,
    log:
        "<logs>/measure_labels/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/scoring.yaml"
    params:
        patterns={"contexts": files.contexts, **LABEL_JOBS},
        order=ORDER,
        annotations=study.source_definitions,
        names=ANNOTATIONS,
        references=all_reference_sets,
        measures=study.grid["annotation_measures"],
        ks=LABEL_CUTOFFS,
        depth=study.config["annotation_depth"],
        lowest_grade=lowest_grade_of,
        code=code_of("measure_labels.py", *source_modules()),
    script:
        "../workflow/scripts/measure_labels.py"


rule correlate_labels:
    """Correlate the measures of every source of labels with utility."""
    input:
        values=files.label_values,
        utility=files.utility,
    output:
        correlation=files.tables["label_correlation"],
        leads=files.tables["label_leads"],
        within=files.tables["label_within"],
        choices=files.tables["label_choices"],
    log:
        "<logs>/correlate_labels/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/correlate_labels/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        resamples=study.config["analysis"]["resamples"],
        seed=study.config["analysis"]["seed"],
        kinds={name: study.retriever(name)["kind"] for name in study.grid["retrievers"]},
        constant=[
            name for name, source in study.source_parts.items() if source.constant
        ],
        code=code_of("correlate_labels.py"),
    script:
        "../workflow/scripts/correlate_labels.py"


rule describe_label_cost:
    """Compare what labels by answers cost with answers from whole contexts."""
    input:
        single=files.single_answers,
        answers=files.answers.each(END_TO_END),
    output:
        files.tables["label_cost"],
    log:
        "<logs>/describe_label_cost/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"answers": files.answers},
        fingerprint=study.fingerprint_of,
        devices=study.devices_of,
        cache_dir=study.cache_dir,
        code=code_of("describe_label_cost.py"),
    script:
        "../workflow/scripts/describe_label_cost.py"
