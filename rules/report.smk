"""Report: figures and tables of each dataset x generator x scorer, provenance, and one page for the study.

What figures and tables there are: ragrelay/report/outputs.py.
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
    ("collection", {"dataset": d}, f"<results>/{{dataset}}/collection/{name}.json")
    for d in STUDY.grid["datasets"]
    for name in ("left_out", "references.left_out")
] + [
    ("contexts", key, "<results>/{dataset}/retrieval/{retriever}.left_out.json")
    for key in RETRIEVAL_KEYS
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
        receipts=per_key(
            "<results>/{dataset}/generated/{generator}/{retriever}/shard{shard}.json",
            RECEIPT_KEYS,
        ),
        left_out=[path for _, key, file in LEFT_OUT for path in per_key(file, [key])],
        answers=[
            path
            for pattern in cell_paths(ANSWERS, CELLS)
            + cell_paths(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS)
            for path in grid_paths(pattern)
        ],
    output:
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
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
        retrieval=of_retrievers(RETRIEVAL),
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
        correlation=per_key(f"{LABELS}/correlation.csv", LABELLED),
        leads=per_key(f"{LABELS}/leads.csv", LABELLED),
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
        queries="<results>/{dataset}/collection/queries.parquet",
        references="<results>/{dataset}/collection/references.parquet",
        prompts=prompts_of(PROMPTS, RETRIEVER_CONTEXTS),
        answers=cell_paths(ANSWERS, ALL_CELLS),
        scores=of_retrievers(
            "<results>/{dataset}/scores/{scorer}/{generator}/{retriever}.parquet",
            ["zeroshot", *RETRIEVERS],
        ),
        contexts=of_retrievers("<results>/{dataset}/contexts/{retriever}.parquet"),
        retrieval=of_retrievers("<results>/{dataset}/retrieval/{retriever}.parquet"),
        utility="<results>/{dataset}/utility/{scorer}/{generator}.parquet",
    output:
        directory(f"<results>/report/explorer/{SECTION}"),
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
        **{name: per_key(path, SECTIONS) for name, path in SECTION_PATHS.items()},
        retrieval=per_key(RETRIEVAL, RETRIEVAL_KEYS),
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
    output:
        *report_files(TABLES["section"], SECTIONS),
        *report_files(TABLES["group"], GROUPS),
        left_out=captioned(
            "<results>/report/tables/left_out.csv",
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
        **{name: per_key(path, SECTIONS) for name, path in SECTION_PATHS.items()},
        **(ACU_SHOWN if ACU else {}),
        retrieval=per_key(RETRIEVAL, RETRIEVAL_KEYS),
        explorer=per_key(f"<results>/report/explorer/{SECTION}", SECTIONS),
        annotations=per_key(ANNOTATION_TABLE, ANNOTATED),
        label_cost=per_key(LABEL_COST, LABELLED if BY_GENERATOR else []),
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
        template=os.path.relpath(PAGE / "page.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        captioned(
            "<results>/report/index.html",
            caption="../workflow/report/page.rst",
            category="Page",
            labels={"page": "all"},
        ),
    log:
        "<logs>/write_page.log",
    conda:
        "../envs/report.yaml"
    params:
        **REPORTED,
        annotated=[key["scorer"] for key in ANNOTATED],
        scored=list(ACU_SCORED.values()),
        claims=list(ACU_SETS),
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
        page=captioned(
            "<results>/report/acu.html",
            caption="../workflow/report/acu_page.rst",
            category="Page",
            labels={"page": "context use"},
        ),
    log:
        "<logs>/report_acu.log",
    conda:
        "../envs/report.yaml"
    params:
        study=STUDY.name,
        scored=list(ACU_SCORED.values()),
        claims=list(ACU_SETS),
        code=code_of("report_acu.py", *modules(outputs_of("claims"))),
    script:
        "../workflow/scripts/report_acu.py"
