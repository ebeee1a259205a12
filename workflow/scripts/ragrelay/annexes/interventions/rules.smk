"""Interventions: change one passage in a context, regenerate the answer, and test the difference.

Changed contexts are no retriever's: they are in no table over retrievers.
Input: contexts, queries, qrels, references, clusters, relay; the dataset's passages.
Output: changed_contexts, changed_texts, left_out_of_changes, changed_prompts, changed_receipt, changed_answers,
left_out_of_changed_answers, changed_scores, and the table and figures that
ragrelay/annexes/interventions/outputs.py lists; answers and scores in cache_dir.
"""

from ragrelay.annexes.interventions import files as changed_files
from ragrelay.annexes.interventions import rules as interventions_rules

interventions = interventions_rules.of_study(study)


rule change_contexts:
    """Change one passage at a time in a retriever's contexts."""
    input:
        dataset_files=of_job(collection.files),
        queries=files.queries,
        qrels=files.qrels,
        contexts=files.contexts,
    output:
        contexts=changed_files.changed_contexts,
        texts=changed_files.changed_texts,
        left_out=changed_files.left_out_of_changes,
    log:
        "<logs>/change_contexts/{dataset}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(interventions.retrievers),
    priority: 10
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        definitions=of_job(interventions.of_retriever),
        of_grid=interventions.of_grid,
        lowest=of_job(collection.lowest_grade),
        near_copy=study.settings.near_copy,
        drop_identical_ids=of_job(collection.drop_identical_ids),
        code=code_of("interventions/change_contexts.py", of_job(collection.module), *interventions.modules),
    script:
        "scripts/change_contexts.py"


rule build_changed_prompts:
    """Build prompts from the changed contexts."""
    input:
        queries=files.queries,
        changed=changed_files.changed_contexts,
        contexts=files.contexts,
        texts=changed_files.changed_texts,
    output:
        changed_files.changed_prompts,
    log:
        "<logs>/build_changed_prompts/{dataset}/{template}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(interventions.retrievers),
    priority: 10
    conda:
        env("analysis")
    params:
        template=of_job(generation.template_parts),
        code=code_of("interventions/build_changed_prompts.py"),
    script:
        "scripts/build_changed_prompts.py"


CHANGED_ANSWERED = {
    "fetched": downloads.receipts_of("generator"),
    "changed": generation.prompts(changed_files.changed_prompts, interventions.each_retriever),
    "queries": files.queries,
    # Runs after the grid's own jobs, so that answers in both are generated once.
    "receipts": generation.receipts(files.receipt),
}


use rule count_answers as count_changed_answers with:
    """Count the answers to changed prompts that are missing from the store."""
    input:
        **CHANGED_ANSWERED,
    output:
        missing=temp(count_file(changed_files.changed_receipt)),
    log:
        "<logs>/count_changed_answers/{dataset}/{generator}/shard{shard}.log",
    params:
        leaves_out=True,


use rule generate_answers as generate_changed_answers with:
    """Generate and store answers to the prompts with changed contexts."""
    input:
        **CHANGED_ANSWERED,
        missing=count_of(changed_files.changed_receipt),
    output:
        receipt=changed_files.changed_receipt,
    log:
        "<logs>/generate_changed_answers/{dataset}/{generator}/shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_changed_answers/{dataset}/{generator}/shard{shard}.tsv"
    params:
        leaves_out=True,


rule view_changed_answers:
    """Write the answers to changed prompts from the store to a file."""
    input:
        prompts=lambda wildcards: changed_files.changed_prompts.at(template=generation.template_of(wildcards.generator)),
        receipts=following(generation.receipts(changed_files.changed_receipt)),
    output:
        answers=changed_files.changed_answers,
        left_out=changed_files.left_out_of_changed_answers,
    log:
        "<logs>/view_changed_answers/{dataset}/{generator}/{retriever}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
        retriever=any_of(interventions.retrievers),
    conda:
        env("analysis")
    params:
        seeds=study.grid.seeds,
        fingerprint=of_job(generation.fingerprint),
        thinking=of_job(generation.thinking),
        cache_dir=study.cache_dir,
        leaves_out=of_job(interventions.leaves_out),
        code=code_of("interventions/view_changed_answers.py"),
    script:
        "scripts/view_changed_answers.py"


rule count_changed_scores:
    """Count the answers to changed prompts whose scores are missing from the store."""
    input:
        **scoring.reference_files,
        table=changed_files.changed_answers,
    output:
        missing=temp(count_file(changed_files.changed_scores)),
    log:
        "<logs>/count_changed_scores/{dataset}/{scorer}/{generator}/{retriever}.log",
    wildcard_constraints:
        scorer=any_of(scoring.computed),
        retriever=any_of(interventions.retrievers),
    conda:
        env("scoring")
    params:
        scorer=of_job(scoring.of_jobs),
        cache_dir=study.cache_dir,
    script:
        RULES.join("../workflow/scripts/scoring/fill_scores.py")


rule score_changed_answers:
    """Score the answers to changed prompts."""
    input:
        **scoring.reference_files,
        answers=changed_files.changed_answers,
        passages=[files.contexts, changed_files.changed_texts],
        missing=count_if_gpu("scoring", changed_files.changed_scores),
    output:
        changed_files.changed_scores,
    log:
        "<logs>/score_changed_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_changed_answers/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    wildcard_constraints:
        scorer=any_of(scoring.computed),
        retriever=any_of(interventions.retrievers),
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **with_work(machine("scoring")),
    params:
        **scoring.params,
        code=code_of("interventions/score_changed_answers.py", of_job(scoring.module)),
    script:
        "scripts/score_changed_answers.py"


rule analyse_interventions:
    """Test the effect of a single relevant passage on P, and compare the resulting slope with relay's slope."""
    input:
        scores=interventions.of_retrievers(changed_files.changed_scores),
        changed=interventions.of_retrievers(changed_files.changed_contexts),
        relay=files.tables["relay"],
        queries=files.queries,
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("analyse_interventions"),
    log:
        "<logs>/analyse_interventions/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={
            "scores": changed_files.changed_scores,
            "changed": changed_files.changed_contexts,
        },
        definitions=interventions.definitions,
        references=of_job(study.reference_sets),
        orderings=study.grid.orderings,
        measure=study.grid.measures[0],
        margin=study.settings.analysis.equivalence_margin,
        code=code_of("interventions/analyse_interventions.py", *interventions.modules),
    script:
        "scripts/analyse_interventions.py"


rule draw_interventions:
    """Draw the effect of a single relevant passage by its position in the prompt."""
    input:
        **files.made_by("analyse_interventions"),
    output:
        reported.paths(reported.outputs("interventions", "figure")),
    log:
        "<logs>/draw_interventions/{dataset}_{generator}_{scorer}.log",
    conda:
        env("report")
    params:
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("interventions/draw_interventions.py", *reported.modules("interventions")),
    script:
        "scripts/draw_interventions.py"
