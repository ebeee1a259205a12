"""Annotation: passage labels from several sources, their correlation with utility, and their agreement with people.

eRAG computes labels from answers to single passages; judges are asked questions (rules/asking.smk).
Input: contexts, queries, qrels, references, utility; files of labels and of gold pages.
Output: single_prompts, single_answers, labels of each source, left_out_of_labels, labels, label_values, and tables of labels.
"""

from ragrelay.annexes.labels import files as label_files
from ragrelay.annexes.labels.source import BY_ANSWERS, BY_FILE, BY_PAGES
from ragrelay.annexes.labels.rules import TABLES as LABEL_TABLES, of_study as labels_of

labels = labels_of(study)


wildcard_constraints:
    source=NAME,


rule build_single_prompts:
    """Build a separate prompt for each passage."""
    input:
        queries=files.queries,
        contexts=files.contexts,
    output:
        label_files.single_prompts,
    log:
        "<logs>/build_single_prompts/{dataset}/{template}/{retriever}.log",
    priority: 10
    conda:
        env("analysis")
    params:
        depth=study.settings.annotation_depth,
        template=of_job(generation.template_parts),
        code=code_of("labels/build_single_prompts.py"),
    script:
        "scripts/build_single_prompts.py"


SINGLE_ANSWERED = {
    "fetched": downloads.receipts_of("generator"),
    "single": labels.single_prompts_of,
    "queries": files.queries,
    # Runs after the grid's own jobs, so that answers in both are generated once.
    "receipts": generation.receipts(files.receipt),
}


use rule count_answers as count_single_answers with:
    """Count the single-passage answers missing from the store."""
    input:
        **SINGLE_ANSWERED,
    output:
        missing=temp(count_file(label_files.single_receipt)),
    log:
        "<logs>/count_single_answers/{dataset}/{generator}/shard{shard}.log",


use rule generate_answers as generate_single_answers with:
    """Generate and store answers to the single-passage prompts."""
    input:
        **SINGLE_ANSWERED,
        missing=count_of(label_files.single_receipt),
    output:
        receipt=label_files.single_receipt,
    log:
        "<logs>/generate_single_answers/{dataset}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_single_answers/{dataset}/{generator}/shard{shard}.tsv"


rule view_single_answers:
    """Write the single-passage answers from the store to a file."""
    input:
        prompts=labels.single_prompts_of,
        receipts=generation.receipts(label_files.single_receipt),
    output:
        label_files.single_answers,
    log:
        "<logs>/view_single_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    conda:
        env("analysis")
    params:
        seeds=study.grid.seeds,
        fingerprint=of_job(generation.fingerprint),
        thinking=of_job(generation.thinking),
        cache_dir=study.cache_dir,
        code=code_of("labels/view_single_answers.py"),
    script:
        "scripts/view_single_answers.py"


rule read_single_answers:
    """Read imported single-passage answers from files."""
    input:
        files=lambda wildcards: [
            path for path, _ in generation.given_passages(wildcards.generator, wildcards.dataset)["files"]
        ],
        dataset_files=of_job(collection.files),
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        answers=label_files.single_answers,
        left_out=label_files.left_out_of_labels.at(by=BY_ANSWERS, source="{generator}"),
    log:
        "<logs>/read_single_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(generation.imported),
    priority: 10
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        imported=of_job(generation.given_passages),
        depth=study.settings.annotation_depth,
        code=code_of("labels/read_single_answers.py", of_job(collection.module)),
    script:
        "scripts/read_single_answers.py"


rule count_label_scores:
    """Count the single-passage answers whose scores are missing from the store."""
    input:
        **scoring.reference_files,
        table=label_files.single_answers,
    output:
        missing=temp(count_file(label_files.labels_by_answers)),
    log:
        "<logs>/count_label_scores/{dataset}/{scorer}/{generator}.log",
    conda:
        env("scoring")
    params:
        scorer=of_job(scoring.of_jobs),
        cache_dir=study.cache_dir,
    script:
        RULES.join("../workflow/scripts/scoring/fill_scores.py")


rule label_passages:
    """Label each passage with the score of the answer generated from that passage alone (eRAG)."""
    input:
        **scoring.reference_files,
        answers=label_files.single_answers,
        contexts=files.contexts.each(study.each_retriever),
        missing=count_if_gpu("scoring", label_files.labels_by_answers),
    output:
        label_files.labels_by_answers,
    log:
        "<logs>/label_passages/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/label_passages/{dataset}/{scorer}/{generator}.tsv"
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **with_work(machine("scoring")),
    params:
        **scoring.params,
        code=code_of("labels/label_passages.py", of_job(scoring.module)),
    script:
        "scripts/label_passages.py"


rule label_by_pages:
    """Label each passage by whether it comes from one of the query's gold pages."""
    input:
        dataset_files=of_job(collection.files),
        contexts=files.contexts.each(study.each_retriever),
        queries=files.queries,
        pages=labels.file_of,
    output:
        labels=label_files.labels_by_pages,
        left_out=label_files.left_out_of_labels.at(by=BY_PAGES),
    log:
        "<logs>/label_by_pages/{dataset}/{source}.log",
    priority: 10
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        code=code_of("labels/label_by_pages.py", of_job(collection.module)),
    script:
        "scripts/label_by_pages.py"


rule label_by_file:
    """Read passage labels from a file."""
    input:
        labels=labels.file_of,
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        labels=label_files.labels_by_file,
        left_out=label_files.left_out_of_labels.at(by=BY_FILE),
    log:
        "<logs>/label_by_file/{dataset}/{source}.log",
    priority: 10
    conda:
        env("analysis")
    params:
        depth=study.settings.annotation_depth,
        code=code_of("labels/label_by_file.py"),
    script:
        "scripts/label_by_file.py"


rule measure_labels:
    """Compute retrieval measures from each annotation source's labels."""
    input:
        unpack(labels.made),
        contexts=files.contexts.each(study.each_retriever),
        queries=files.queries,
        qrels=files.qrels,
    output:
        labels=label_files.labels,
        values=label_files.label_values,
    log:
        "<logs>/measure_labels/{dataset}/{scorer}/{generator}.log",
    conda:
        env("scoring")
    params:
        patterns={"contexts": files.contexts, **LABEL_TABLES},
        order=study.order,
        annotations=labels.source_definitions,
        names=labels.names,
        references=labels.reference_sets_of,
        measures=study.config["grid"]["annotation_measures"],
        ks=labels.cutoffs,
        limits=of_job(
            lambda dataset: {
                "depth": study.settings.annotation_depth,
                "lowest_grade": collection.lowest_grade(dataset),
            }
        ),
        code=code_of("labels/measure_labels.py", *labels.modules),
    script:
        "scripts/measure_labels.py"


rule correlate_labels:
    """Correlate retrieval measures, computed from each annotation source's labels, with utility and P."""
    input:
        values=label_files.label_values,
        utility=files.utility,
    output:
        **files.made_by("correlate_labels"),
    log:
        "<logs>/correlate_labels/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/correlate_labels/{dataset}/{scorer}/{generator}.tsv"
    conda:
        env("analysis")
    params:
        draws=study.draws,
        kinds=study.retriever_kinds,
        constant=labels.constant,
        code=code_of("labels/correlate_labels.py"),
    script:
        "scripts/correlate_labels.py"


rule describe_label_cost:
    """Compare the cost of labels from single-passage answers with the cost of end-to-end answers."""
    input:
        single=label_files.single_answers,
        answers=files.answers.each(
            cell for cell in study.all_cells if cell["ordering"] == "descending" and cell["k"] in labels.cutoffs
        ),
        contexts=files.contexts.each(study.each_retriever),
    output:
        **files.made_by("describe_label_cost"),
    log:
        "<logs>/describe_label_cost/{dataset}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={"answers": files.answers},
        fingerprint=of_job(generation.fingerprint),
        devices=of_job(generation.devices),
        cache_dir=study.cache_dir,
        code=code_of("labels/describe_label_cost.py"),
    script:
        "scripts/describe_label_cost.py"


rule measure_agreement:
    """Compare labels with human labels, and combine both in prediction-powered estimates."""
    input:
        unpack(labels.made),
        labels=label_files.labels,
        values=label_files.label_values,
        utility=files.utility,
        qrels=files.qrels,
    output:
        **files.made_by("measure_agreement"),
    log:
        "<logs>/measure_agreement/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        **labels.agreement,
        lowest_grade=of_job(collection.lowest_grade),
        code=code_of("labels/measure_agreement.py", *labels.modules),
    script:
        "scripts/measure_agreement.py"


rule build_check_prompts:
    """Build prompts with changed passages for a judge's bias checks."""
    input:
        queries=files.queries,
        contexts=files.contexts.each(study.each_retriever),
    output:
        asked=label_files.passage_checks,
        prompts=label_files.passage_checks_prompts,
    log:
        "<logs>/build_check_prompts/{dataset}/{source}.log",
    conda:
        env("analysis")
    params:
        template=of_job(lambda source: generation.whole_template(labels.source(source)["prompt"])),
        sample=labels.checked_of,
        code=code_of("labels/build_check_prompts.py"),
    script:
        "scripts/build_check_prompts.py"


use rule analyse_judge_checks as analyse_passage_checks with:
    """Test whether a judge's labels depend on the order of the judge's input or the length of the passage."""
    input:
        label_files.passage_checks_scores,
    output:
        **files.made_by("analyse_passage_checks"),
    log:
        "<logs>/analyse_passage_checks/{dataset}/{source}/{judge}.log",


rule draw_annotations:
    """Write the report's tables and figures about annotation sources."""
    input:
        **labels.label_tables,
    output:
        reported.paths(reported.outputs("annotations")),
    log:
        "<logs>/draw_annotations/{scorer}.log",
    conda:
        env("report")
    params:
        kinds={n: d["kind"] for n, d in study.selected()["annotations"].items()},
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("labels/draw_annotations.py", *reported.modules("annotations")),
    script:
        "scripts/draw_annotations.py"


rule erag:
    """Write the report with a comparison of the grid's annotation sources."""
    input:
        labels.asked_for(label_files.annotation_tables["annotations"]),
        REPORTED_FILES,
