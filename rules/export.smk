"""Export: a study's answers in the formats of other programs, its tables as Parquet with a data card, and an RO-Crate.

Input: answers, prompts, queries, the passages of the contexts; the tables of the analysis, utility, measures.
Output: exported files.
"""

EXPORTED = {
    "trec_rag": files.exported_trec_rag,
    "pyterrier": files.exported_pyterrier,
    "jsonl": files.exported_jsonl,
    "parquet": files.exported_parquet,
}
# Of the whole study, where it has several sections.
POOLED = files.made_by("pool_samples") if SEVERAL else {}
EXPORTED_TABLES = [
    files.exported_table.at(name=name) for name in [*SECTION_PATHS, *MEASURED, *POOLED]
]


rule export_answers:
    """Export a generator's answers in the formats of other programs."""
    input:
        queries=files.queries,
        prompts=study.prompts_of(files.prompts, ALL_CELLS),
        answers=files.answers.each(ALL_CELLS),
        passages=lambda wildcards: study.passages_of(wildcards.generator).each(
            study.each_retriever
        ),
    output:
        trec_rag=files.exported_trec_rag.each(ALL_CELLS),
        pyterrier=files.exported_pyterrier.each(ALL_CELLS),
        jsonl=files.exported_jsonl,
        parquet=files.exported_parquet,
    log:
        "<logs>/export_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": files.prompts, "answers": files.answers, **EXPORTED},
        about=lambda wildcards: {
            "team_id": "ragrelay",
            "run_desc": f"study {study.name}, generator {wildcards.generator}",
        },
        code=code_of("export_answers.py"),
    script:
        "../workflow/scripts/export_answers.py"


rule export_tables:
    """Export the analysis tables as Parquet, with a data card."""
    input:
        *sum(SECTION_FILES.values(), []),
        study.grid_paths(files.measures),
        *POOLED.values(),
    output:
        tables=EXPORTED_TABLES,
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
    output:
        files.crate,
    log:
        "<logs>/describe_results.log",
    conda:
        "../envs/report.yaml"
    params:
        study=study.name,
        code=code_of("describe_results.py"),
    script:
        "../workflow/scripts/describe_results.py"
