"""Exchange: comparison with published tables and with another study, and export to other programs.

Input: published tables, another study's page; the tables of the analysis, utility, measures; answers, prompts, queries.
Output: the tables that ragrelay/annexes/reproduction/outputs.py and ragrelay/annexes/compare/outputs.py list by rule; comparison; exported files.
"""

from ragrelay.workflow.study.reported import EXPORTED, PAPERS


rule compare_published:
    """Compare utility with published tables."""
    input:
        published=reported.published_file("utility"),
        utility=files.tables["utility"].each(study.sections),
        significance=files.tables["significance"].each(study.sections),
        per_query=files.utility.each(study.sections),
        retrieval=study.grid_paths(files.measures),
    output:
        **files.made_by("compare_published"),
        tex=reported.published_latex,
    log:
        "<logs>/compare_published.log",
    conda:
        "../envs/report.yaml"
    params:
        names=reported.published.get("names"),
        sections=study.sections,
        patterns={"per_query": files.utility, "retrieval": files.measures},
        rankings=prediction.rankings,
        measure=study.grid.measures[0],
        code=code_of("compare_published.py", "ragrelay.annexes.reproduction.latex"),
    script:
        "../workflow/scripts/compare_published.py"


for kind, (name, does, ours) in reported.compared.items():

    rule:
        name:
            name
        input:
            published=reported.published_file(kind),
            ours=ours,
        output:
            **files.made_by(name),
        log:
            f"<logs>/{name}.log",
        conda:
            "../envs/report.yaml"
        params:
            kind=kind,
            names=reported.published.get("names"),
            code=code_of("compare_published_table.py"),
        script:
            "../workflow/scripts/compare_published_table.py"

    getattr(rules, name).rule.docstring = does


rule list_published_rows:
    """List the tables and figures of the papers that the study is compared with."""
    input:
        rows=PAPERS,
    output:
        **files.made_by("list_published_rows"),
    log:
        "<logs>/list_published_rows.log",
    conda:
        "../envs/report.yaml"
    params:
        published=reported.published_files,
        code=code_of("list_published_rows.py"),
    script:
        "../workflow/scripts/list_published_rows.py"


rule compare_studies:
    """Write the page that compares two studies."""
    input:
        unpack(comparison.pages),
        template=reported.template("compare"),
        page_parts=reported.page_parts,
    output:
        **comparison.made,
    log:
        "<logs>/compare_studies.log",
    conda:
        "../envs/report.yaml"
    params:
        before=lambda wildcards, input: str(Path(input.before).parents[1]),
        after=lambda wildcards, input: str(Path(input.after).parents[1]),
        pairs=comparison.pairs,
        code=code_of("compare_studies.py", *reported.modules("comparison")),
    script:
        "../workflow/scripts/compare_studies.py"


rule export_answers:
    """Export a generator's answers in the formats of other programs."""
    input:
        queries=files.queries,
        prompts=study.prompts_of(files.prompts, study.all_cells),
        answers=files.answers.each(study.all_cells),
        passages=study.passages_of_retrievers,
    output:
        trec_rag=files.exported_trec_rag.each(study.all_cells),
        pyterrier=files.exported_pyterrier.each(study.all_cells),
        jsonl=files.exported_jsonl,
        parquet=files.exported_parquet,
    log:
        "<logs>/export_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": files.prompts, "answers": files.answers, **EXPORTED},
        about=reported.exported_about,
        code=code_of("export_answers.py"),
    script:
        "../workflow/scripts/export_answers.py"


rule export_tables:
    """Export the analysis tables as Parquet, with a data card."""
    input:
        *reported.section_files.values(),
        study.grid_paths(files.measures),
        *reported.pooled.values(),
    output:
        tables=reported.exported_tables,
        card=files.data_card,
    log:
        "<logs>/export_tables.log",
    conda:
        "../envs/report.yaml"
    params:
        study=study.name,
        code=code_of("export_tables.py"),
    script:
        "../workflow/scripts/export_tables.py"


rule describe_results:
    """Describe the results as an RO-Crate."""
    input:
        files.report,
        files.provenance,
        files.left_out_counts,
        *rules.export_tables.output,
        study.grid_paths(files.exported_parquet),
        study.grid_paths(files.exported_jsonl),
        asked_tables,
    output:
        files.crate,
    log:
        "<logs>/describe_results.log",
    conda:
        "../envs/report.yaml"
    params:
        study=study.name,
        questions=shown_questions,
        code=code_of("describe_results.py"),
    script:
        "../workflow/scripts/describe_results.py"
