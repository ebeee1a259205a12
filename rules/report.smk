"""Report: figures and tables for each dataset x generator x scorer, provenance, and one page for the study.

ragrelay/report/outputs.py lists the figures and tables.
Input: the analysis tables, utility, measures, receipts, answers, and the explorer's data for each query.
Output: provenance, figures, tables, explorer, report.
"""

from ragrelay.execution.study.reported import EXPLORED, LEFT_OUT, LENGTHS, MEASURED, OF_SECTION


report: "../workflow/report/workflow.rst"


rule gather_provenance:
    """Record the provenance of all results, and count the items that were left out."""
    input:
        **reported.left_out_files,
        **reported.records,
        receipts=reported.receipts,
        lengths=study.grid_paths(LENGTHS),
        data=reported.data,
    output:
        provenance=files.provenance,
        left_out=files.left_out_counts,
    log:
        "<logs>/gather_provenance.log",
    conda:
        env("analysis")
    params:
        config=study.selected(),
        primary=[{key: one[key] for key in ("dataset", "scorer", "primary")} for one in study.sections],
        fingerprints=study.fingerprints,
        stages={name: stage for name, (stage, _, _) in reported.left_out_of_annexes.items()},
        hashes=reported.hashes,
        records=list(reported.records),
        patterns={
            "receipts": files.receipt,
            "lengths": LENGTHS,
            **LEFT_OUT,
            **{f"of_{name}": pattern for name, (_, pattern, _) in reported.left_out_of_annexes.items()},
        },
        # The second argument keeps this from triggering reruns, because the profile doesn't affect results.
        used=lambda wildcards, output: plan.used(snakemake_internals.requested_resources(workflow)),
        code=code_of("report/gather_provenance.py", *reported.hashes),
    script:
        "../workflow/scripts/report/gather_provenance.py"


rule pool_samples:
    """Average retriever differences and relay over all generators and datasets."""
    input:
        utility=files.utility.each(study.sections_with_parts),
        retrieval=study.grid_paths(files.measures),
        prompts=reported.compared_prompts,
        clusters=collection.all_clusters,
    output:
        **files.made_by("pool_samples"),
    log:
        "<logs>/pool_samples.log",
    conda:
        env("analysis")
    params:
        sections=study.sections_with_parts,
        patterns={"utility": files.utility, "prompts": files.prompts, "clusters": files.clusters, **MEASURED},
        kinds=study.retriever_kinds,
        margins=study.margins,
        code=code_of("analysis/pool_samples.py"),
    script:
        "../workflow/scripts/analysis/pool_samples.py"


rule draw_figures:
    """Draw the figures for a dataset, generator and scorer."""
    input:
        **reported.drawn_patterns,
        retrieval=files.measures.each(study.each_retriever),
    output:
        reported.paths(reported.outputs("section", "figure")),
    log:
        f"<logs>/draw_figures/{OF_SECTION}.log",
    priority: 1  # the slowest of the last jobs
    conda:
        env("report")
    params:
        **reported.drawn,
        grid=reported.grid,
        of="section",
        code=code_of("report/draw_figures.py", *reported.modules("section", kind="figure")),
    script:
        "../workflow/scripts/report/draw_figures.py"


use rule draw_figures as draw_figures_at with:
    """Draw the figures for a single k."""
    output:
        reported.paths(reported.outputs("depth")),
    log:
        f"<logs>/draw_figures_at/{OF_SECTION}_{{depth}}.log",
    wildcard_constraints:
        depth=any_of(f"k{k}" for k in study.grid.k),
    params:
        **reported.drawn,
        grid=of_job(lambda depth: reported.grid | {"k": [int(depth.removeprefix("k"))]}),
        of="depth",
        code=code_of("report/draw_figures.py", *reported.modules("depth")),


rule explore_queries:
    """Write the data for the page's query explorer."""
    input:
        queries=files.queries,
        references=files.references,
        prompts=generation.prompts_with_context(study.retriever_contexts),
        answers=generation.answers_with_context(study.retriever_cells),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
        scores=files.scores.each(study.retrievers_and_zeroshot),
        contexts=of_job(lambda generator: generation.passages(generator).each(study.each_retriever)),
        retrieval=files.measures.each(study.each_retriever),
        utility=files.utility,
        effects=lambda wildcards: [
            path for annex in annexes() for path in annex.explored(study, dict(wildcards.items()))
        ],
        blocks=lambda wildcards: [
            path for annex in annexes() for path in annex.explored_blocks(study, dict(wildcards.items()))
        ],
    output:
        directory(files.explorer),
    log:
        f"<logs>/explore_queries/{OF_SECTION}.log",
    conda:
        env("report")
    params:
        patterns=of_job(lambda generator: {**EXPLORED, "contexts": generation.passages(generator)}),
        code=code_of("report/explore_queries.py"),
    script:
        "../workflow/scripts/report/explore_queries.py"


rule write_tables:
    """Write the report's tables."""
    input:
        **reported.section_files,
        retrieval=study.grid_paths(files.measures),
        provenance=files.provenance,
        left_out=files.left_out_counts,
    output:
        *reported.section_tables,
        left_out=reported.left_out_table,
    log:
        "<logs>/write_tables.log",
    conda:
        env("report")
    params:
        **reported.of_study,
        patterns=reported.section_patterns | MEASURED,
        code=code_of("report/write_tables.py", *reported.modules("section", "group", kind="table")),
    script:
        "../workflow/scripts/report/write_tables.py"


rule write_page:
    """Write the report's page."""
    input:
        **reported.section_files,
        **reported.page_inputs,
        retrieval=study.grid_paths(files.measures),
        explorer=files.explorer.each(study.sections),
        asked=asked_tables,
        provenance=files.provenance,
        left_out=files.left_out_counts,
        template=reported.template("page"),
        page_parts=reported.page_parts,
    output:
        reported.page(files.report, "../workflow/report/page.rst", "all"),
        facts=files.facts,
    log:
        "<logs>/write_page.log",
    conda:
        env("report")
    params:
        **reported.of_study,
        judges=scoring.judged_by | {name: ", ".join(panel.of) for name, panel in scoring.panels.items()},
        prompts=reported.prompt_words,
        annexes=reported.annex_parts,
        questions=shown_questions,
        patterns=reported.page_patterns,
        notices=reported.notices(study.used_generators()) + reported.judge_notices,
        code=code_of("report/write_page.py", *reported.page_modules),
    script:
        "../workflow/scripts/report/write_page.py"


# Everything that users read: a deleted file is recreated even if all files based on it exist. No captions, because
# Snakemake would look them up again, relative to the rule that has them as inputs.
REPORTED_FILES = [*map(str, [files.report, *rules.write_page.input, *rules.write_tables.output]), *reported.figures]
