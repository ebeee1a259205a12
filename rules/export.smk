"""Export: a study's answers in the formats of other programs, and its tables as Parquet with a data card.

Input: ANSWERS, PROMPTS, QUERIES, the passages of the contexts; the tables of the analysis, UTILITY, MEASURES.
Output: EXPORTED files.
"""

EXPORTED_TABLES = [
    f"<results>/export/tables/{name}.parquet" for name in [*SECTION_PATHS, *MEASURED]
]


rule export_answers:
    input:
        queries=QUERIES,
        prompts=prompts_of(PROMPTS, ALL_CELLS),
        answers=filled(ANSWERS, ALL_CELLS),
        passages=lambda wildcards: filled(passages_of(wildcards), EACH_RETRIEVER),
    output:
        trec_rag=filled(EXPORTED["trec_rag"], ALL_CELLS),
        pyterrier=filled(EXPORTED["pyterrier"], ALL_CELLS),
        jsonl=EXPORTED["jsonl"],
        parquet=EXPORTED["parquet"],
    log:
        "<logs>/export_answers/{dataset}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        patterns={"prompts": PROMPTS, "answers": ANSWERS, **EXPORTED},
        about=lambda wildcards: {
            "team_id": "ragrelay",
            "run_desc": f"study {STUDY.name}, generator {wildcards.generator}",
        },
        code=code_of("export_answers.py"),
    script:
        "../workflow/scripts/export_answers.py"


rule export_tables:
    input:
        *sum(SECTION_FILES.values(), []),
        grid_paths(MEASURES),
    output:
        tables=EXPORTED_TABLES,
        card=DATA_CARD,
    log:
        "<logs>/export_tables.log",
    conda:
        "../envs/report.yaml"
    params:
        study=STUDY.name,
        code=code_of("export_tables.py"),
    script:
        "../workflow/scripts/export_tables.py"
