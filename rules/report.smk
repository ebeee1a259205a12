"""Report: figures and tables of each dataset x generator x scorer, provenance, and one page for the study.

What figures and tables there are: ragrelay/report/outputs.py.
Input: the tables of the analysis, utility, measures, receipt, answers, and what the explorer shows of each query.
Output: provenance, figures, tables, explorer, report.
"""


report: "../workflow/report/workflow.rst"


rule gather_provenance:
    """Record where every result came from, and what was left out."""
    input:
        **{n: study.grid_paths(p) for n, p in LEFT_OUT.items() if n not in OF_FILES},
        of_runs=files.run_doubts.each(RUN_KEYS),
        of_answers=files.left_out_of_answers.each(ANSWER_KEYS),
        of_nuggets=study.grid_paths(
            files.left_out_of_nuggets, scorer=list(study.nuggets_of)
        ),
        of_scores=files.left_out_of_scores.each(JUDGED_KEYS),
        of_labels=files.left_out_of_labels.each(FILED_KEYS),
        receipts=files.receipt.each(RECEIPT_KEYS),
        lengths=study.grid_paths(LENGTHS),
        data=OF_DATA,
    output:
        provenance=files.provenance,
        left_out=files.left_out_counts,
    log:
        "<logs>/gather_provenance.log",
    conda:
        "../envs/analysis.yaml"
    params:
        config=study.selected(),
        primary=PRIMARIES,
        fingerprints=study.fingerprints,
        patterns={"receipts": files.receipt, "lengths": LENGTHS, **LEFT_OUT},
        code=code_of("gather_provenance.py"),
    script:
        "../workflow/scripts/gather_provenance.py"


rule pool_samples:
    """Answer the questions on systems and relay over all generators and datasets."""
    input:
        utility=files.utility.each(SECTIONS),
        retrieval=study.grid_paths(files.measures),
        prompts=list(dict.fromkeys(files.prompts.each(COMPARED_PROMPTS))),
    output:
        **files.made_by("pool_samples"),
    log:
        "<logs>/pool_samples.log",
    conda:
        "../envs/analysis.yaml"
    params:
        sections=SECTIONS,
        patterns={"utility": files.utility, "prompts": files.prompts, **MEASURED},
        kinds={name: study.retriever(name)["kind"] for name in study.grid["retrievers"]},
        margin=study.config["analysis"]["equivalence_margin"],
        code=code_of("pool_samples.py"),
    script:
        "../workflow/scripts/pool_samples.py"


rule draw_figures:
    """Draw the figures of a dataset, generator and scorer."""
    input:
        **{name: SECTION_PATHS[name] for name in FIGURE_SOURCES},
        retrieval=files.measures.each(study.each_retriever),
    output:
        report_files(FIGURES),
    log:
        f"<logs>/draw_figures/{SECTION}.log",
    conda:
        "../envs/report.yaml"
    params:
        **DRAWN,
        grid=GRID,
        of="section",
        code=code_of("draw_figures.py", *modules(FIGURES)),
    script:
        "../workflow/scripts/draw_figures.py"


use rule draw_figures as draw_figures_at with:
    output:
        report_files(FIGURES_AT),
    log:
        f"<logs>/draw_figures_at/{SECTION}_{{depth}}.log",
    wildcard_constraints:
        depth=any_of(f"k{k}" for k in study.grid["k"]),
    params:
        **DRAWN,
        grid=lambda wildcards: GRID | {"k": [int(wildcards.depth.removeprefix("k"))]},
        of="depth",
        code=code_of("draw_figures.py", *modules(FIGURES_AT)),


rule draw_annotations:
    """Write the tables and figures of label sources."""
    input:
        correlation=files.tables["label_correlation"].each(LABELLED),
        leads=files.tables["label_leads"].each(LABELLED),
        within=files.tables["label_within"].each(LABELLED),
        choices=files.tables["label_choices"].each(LABELLED),
        agreement=files.tables["label_agreement"].each(LABELLED),
        confusion=files.tables["label_confusion"].each(LABELLED),
        powered=files.tables["label_powered"].each(LABELLED),
    output:
        report_files(outputs_of("annotations")),
    log:
        "<logs>/draw_annotations/{scorer}.log",
    conda:
        "../envs/report.yaml"
    params:
        kinds={n: d["kind"] for n, d in study.selected()["annotations"].items()},
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("draw_annotations.py", *modules(outputs_of("annotations"))),
    script:
        "../workflow/scripts/draw_annotations.py"


rule explore_queries:
    """Write the query explorer's data."""
    input:
        queries=files.queries,
        references=files.references,
        prompts=study.prompts_with_context(RETRIEVER_CONTEXTS),
        answers=study.answers_with_context(RETRIEVER_CELLS),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
        scores=files.scores.each(study.retrievers_and_zeroshot),
        contexts=lambda wildcards: study.passages_of(wildcards.generator).each(
            study.each_retriever
        ),
        retrieval=files.measures.each(study.each_retriever),
        utility=files.utility,
    output:
        directory(files.explorer),
    log:
        f"<logs>/explore_queries/{SECTION}.log",
    conda:
        "../envs/report.yaml"
    params:
        patterns=lambda wildcards: EXPLORED
        | {"contexts": study.passages_of(wildcards.generator)},
        code=code_of("explore_queries.py"),
    script:
        "../workflow/scripts/explore_queries.py"


rule write_tables:
    """Write the report's tables."""
    input:
        **SECTION_FILES,
        retrieval=study.grid_paths(files.measures),
        provenance=files.provenance,
        left_out=files.left_out_counts,
    output:
        *SECTION_TABLES,
        *report_files(TABLES["group"], GROUPS),
        left_out=captioned(
            files.left_out_table,
            caption="../workflow/report/left_out.rst",
            category="Tables",
            labels={"table": "left_out"},
        ),
    log:
        "<logs>/write_tables.log",
    conda:
        "../envs/report.yaml"
    params:
        **REPORTED,
        patterns=SECTION_PATHS | MEASURED,
        code=code_of("write_tables.py", *modules(sum(TABLES.values(), []))),
    script:
        "../workflow/scripts/write_tables.py"


rule write_page:
    """Write the report's page."""
    input:
        **SECTION_FILES,
        **BESIDES,
        **{name: path.each(ANNOTATED) for name, path in files.annotation_tables.items()},
        **OF_LABELS,
        retrieval=study.grid_paths(files.measures),
        explorer=files.explorer.each(SECTIONS),
        provenance=files.provenance,
        left_out=files.left_out_counts,
        template=os.path.relpath(PAGE / "page.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        captioned_page(files.report, "page", "all"),
    log:
        "<logs>/write_page.log",
    conda:
        "../envs/report.yaml"
    params:
        **REPORTED,
        **ON_JUDGES,
        patterns=ON_PAGE,
        notices=notices_of(study.used_generators()) + judge_notices(),
        code=code_of("write_page.py", *modules(OUTPUTS)),
    script:
        "../workflow/scripts/write_page.py"


# All that a study is read in: what is deleted of it is made again, although what was made from it is there.
# Without captions, which Snakemake would look up again, from the place of the rule that has them as inputs.
REPORTED_FILES = [
    *map(str, [files.report, *rules.write_page.input, *rules.write_tables.output]),
    *map(str, report_files(FIGURES, SECTIONS)),
    *map(str, report_files(FIGURES_AT, AT_DEPTH) if AT_DEPTH else []),
    *map(str, report_files(outputs_of("annotations"), ANNOTATED)),
]


rule report_predictions:
    """Write the page of predictions."""
    input:
        **PREDICTED_TABLES,
        quality_left_out=(
            study.grid_paths(files.left_out_of_quality)
            if ASKED_FOR["passage_quality"]
            else []
        ),
        template=os.path.relpath(PAGE / "predict.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        *report_files(outputs_of("prediction", "figure"), SECTIONS),
        page=captioned_page(files.predict_report, "predict_page", "prediction"),
    log:
        "<logs>/report_predictions.log",
    conda:
        "../envs/prediction.yaml"
    params:
        patterns=PREDICTED | {"quality_left_out": files.left_out_of_quality},
        study=study.name,
        sections=SECTIONS,
        rankings=[name for name in study.grid["retrievers"] if not judged(name)],
        notices=notices_of(study.grid["generators"]),
        code=code_of("report_predictions.py", *modules(outputs_of("prediction"))),
    script:
        "../workflow/scripts/report_predictions.py"


rule report_acu:
    """Write the page of a claims study."""
    input:
        **ACU_SHOWN,
        **{n: path for n, path in REPRODUCED.items() if n == "reproduced_claims"},
        template=os.path.relpath(PAGE / "acu.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        *report_files(outputs_of("claims", "figure"), [{}]),
        page=captioned_page(files.acu_report, "acu_page", "context use"),
    log:
        "<logs>/report_acu.log",
    conda:
        "../envs/report.yaml"
    params:
        patterns=ACU_PATTERNS,
        study=study.name,
        notices=notices_of({u["generator"] for u in ACU_UNITS}),
        code=code_of(
            "report_acu.py",
            *modules(outputs_of("claims") + outputs_of("reproduction")),
        ),
    script:
        "../workflow/scripts/report_acu.py"
