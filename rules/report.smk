"""Report: figures and tables of each dataset x generator x scorer, provenance, and one page for the study.

What figures and tables there are: ragrelay/report/outputs.py.
Input: the tables of the analysis, UTILITY, MEASURES, RECEIPT, ANSWERS, and what the explorer shows of each query.
Output: PROVENANCE, figures, tables, EXPLORER, REPORT.
"""

SECTIONS = [
    {
        "dataset": d,
        "generator": g,
        "scorer": s,
        "utility": STUDY.scorer(s)["utility"],
        "references": list(STUDY.reference_sets(d, s)),
    }
    for d in STUDY.grid["datasets"]
    for g in STUDY.grid["generators"]
    for s in STUDY.grid["scorers"]
]
DATASETS = [{"dataset": d} for d in STUDY.grid["datasets"]]
RETRIEVAL_KEYS = [
    {"dataset": d, "retriever": r} for d in STUDY.grid["datasets"] for r in RETRIEVERS
]
RECEIPT_KEYS = [
    {"dataset": d, "generator": g, "retriever": r, "shard": str(shard)}
    for d in STUDY.grid["datasets"]
    for g in STUDY.grid["generators"]
    for r in ["zeroshot", *RETRIEVERS]
    for shard in shards(d)
]
# Counts of what was left out: stage, key and file.
LEFT_OUT = [
    (stage, key, fill(pattern, **key))
    for stage, pattern, keys in [
        ("collection", LEFT_OUT_OF_COLLECTION, DATASETS),
        ("collection", LEFT_OUT_OF_REFERENCES, DATASETS),
        ("contexts", LEFT_OUT_OF_CONTEXTS, RETRIEVAL_KEYS),
    ]
    for key in keys
]
GRID = STUDY.grid | {
    "references": {d: list(STUDY.grades(d)) for d in STUDY.grid["datasets"]}
}
# Of each scorer with annotation sources, over what its tables go.
ANNOTATED = [{"scorer": s} for s in STUDY.grid["scorers"] if ANNOTATIONS]
LABELLED = [
    {"dataset": d, "generator": g}
    for d in STUDY.grid["datasets"]
    for g in STUDY.grid["generators"]
]

# Paths of the tables that a section's outputs are made from.
SECTION_PATHS = {
    name: f"<results>/{TABLE_SOURCES[name].path}"
    for name in dict.fromkeys(need for o in outputs_of("section") for need in o.needs)
}
RETRIEVAL = SECTION_PATHS.pop("retrieval")
FIGURES = outputs_of("section", "figure")
FIGURE_SOURCES = [
    n for n in SECTION_PATHS if any(n in figure.needs for figure in FIGURES)
]
TABLES = {
    "section": outputs_of("section", "table"),
    "group": outputs_of("group", "table"),
}
GROUPS = list({(s["generator"], s["scorer"]): s for s in SECTIONS}.values())
PAGE = ROOT / "workflow" / "report"
PAGE_PARTS = [
    os.path.relpath(path)
    for ending in ("j2", "css", "js")
    for path in sorted(PAGE.glob(f"*.{ending}"))
]
# What both the tables and the page are of.
REPORTED = {
    "study": STUDY.name,
    "sections": SECTIONS,
    "grid": GRID,
    "retrieval_keys": RETRIEVAL_KEYS,
    "reference_retriever": STUDY.config["analysis"]["reference_retriever"],
    "sources": list(SECTION_PATHS),
}


report: "../workflow/report/workflow.rst"


rule gather_provenance:
    input:
        receipts=filled(RECEIPT, RECEIPT_KEYS),
        left_out=[path for _, _, path in LEFT_OUT],
        answers=answer_files(),
    output:
        provenance=PROVENANCE,
        left_out=LEFT_OUT_COUNTS,
    log:
        "<logs>/gather_provenance.log",
    conda:
        "../envs/analysis.yaml"
    params:
        config=STUDY.selected(),
        fingerprints=FINGERPRINTS,
        receipts=RECEIPT_KEYS,
        stages=[stage for stage, _, _ in LEFT_OUT],
        stage_keys=[key for _, key, _ in LEFT_OUT],
        code=code_of("gather_provenance.py"),
    script:
        "../workflow/scripts/gather_provenance.py"


rule draw_figures:
    input:
        **{name: SECTION_PATHS[name] for name in FIGURE_SOURCES},
        retrieval=filled(RETRIEVAL, EACH_RETRIEVER),
    output:
        report_files(FIGURES),
    log:
        f"<logs>/draw_figures/{SECTION}.log",
    conda:
        "../envs/report.yaml"
    params:
        section=lambda wildcards: next(
            s for s in SECTIONS if all(s[k] == v for k, v in wildcards.items())
        ),
        grid=GRID,
        retrieval_keys=lambda wildcards: [
            key for key in RETRIEVAL_KEYS if key["dataset"] == wildcards.dataset
        ],
        sources=FIGURE_SOURCES,
        code=code_of("draw_figures.py", *modules(FIGURES)),
    script:
        "../workflow/scripts/draw_figures.py"


rule draw_annotations:
    input:
        correlation=filled(f"{LABELS}/correlation.csv", LABELLED),
        leads=filled(f"{LABELS}/leads.csv", LABELLED),
        within=filled(f"{LABELS}/within.csv", LABELLED),
    output:
        report_files(outputs_of("annotations")),
    log:
        "<logs>/draw_annotations/{scorer}.log",
    conda:
        "../envs/report.yaml"
    params:
        kinds={n: d["kind"] for n, d in STUDY.selected()["annotations"].items()},
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("draw_annotations.py", *modules(outputs_of("annotations"))),
    script:
        "../workflow/scripts/draw_annotations.py"


rule explore_queries:
    input:
        queries=QUERIES,
        references=REFERENCES,
        prompts=prompts_of(PROMPTS, RETRIEVER_CONTEXTS),
        answers=filled(ANSWERS, ALL_CELLS),
        scores=filled(SCORES, RETRIEVERS_AND_ZEROSHOT),
        contexts=filled(CANDIDATES, EACH_RETRIEVER),
        retrieval=filled(MEASURES, EACH_RETRIEVER),
        utility=UTILITY,
    output:
        directory(EXPLORER),
    log:
        f"<logs>/explore_queries/{SECTION}.log",
    conda:
        "../envs/report.yaml"
    params:
        retrievers=RETRIEVERS,
        contexts=RETRIEVER_CONTEXTS,
        cells=ALL_CELLS,
        code=code_of("explore_queries.py"),
    script:
        "../workflow/scripts/explore_queries.py"


rule write_tables:
    input:
        **{name: filled(path, SECTIONS) for name, path in SECTION_PATHS.items()},
        retrieval=filled(RETRIEVAL, RETRIEVAL_KEYS),
        provenance=PROVENANCE,
        left_out=LEFT_OUT_COUNTS,
    output:
        *report_files(TABLES["section"], SECTIONS),
        *report_files(TABLES["group"], GROUPS),
        left_out=captioned(
            LEFT_OUT_TABLE,
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
        code=code_of("write_tables.py", *modules(sum(TABLES.values(), []))),
    script:
        "../workflow/scripts/write_tables.py"


rule write_page:
    input:
        **{name: filled(path, SECTIONS) for name, path in SECTION_PATHS.items()},
        **(ACU_SHOWN if ACU else {}),
        **{name: filled(path, ANNOTATED) for name, path in ANNOTATION_TABLES.items()},
        retrieval=filled(RETRIEVAL, RETRIEVAL_KEYS),
        explorer=filled(EXPLORER, SECTIONS),
        label_cost=filled(LABEL_COST, LABELLED if BY_GENERATOR else []),
        provenance=PROVENANCE,
        left_out=LEFT_OUT_COUNTS,
        template=os.path.relpath(PAGE / "page.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        captioned_page(REPORT, "page", "all"),
    log:
        "<logs>/write_page.log",
    conda:
        "../envs/report.yaml"
    params:
        **REPORTED,
        **ACU_KEYS,
        notices=notices_of(STUDY.used_generators()),
        annotated=[key["scorer"] for key in ANNOTATED],
        code=code_of("write_page.py", *modules(OUTPUTS)),
    script:
        "../workflow/scripts/write_page.py"


rule report_acu:
    input:
        **ACU_SHOWN,
        template=os.path.relpath(PAGE / "acu.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        *report_files(outputs_of("claims", "figure"), [{}]),
        page=captioned_page(ACU_REPORT, "acu_page", "context use"),
    log:
        "<logs>/report_acu.log",
    conda:
        "../envs/report.yaml"
    params:
        **ACU_KEYS,
        study=STUDY.name,
        notices=notices_of({u["generator"] for u in ACU_UNITS}),
        code=code_of("report_acu.py", *modules(outputs_of("claims"))),
    script:
        "../workflow/scripts/report_acu.py"
