"""Report: figures and tables of each dataset x generator x scorer, provenance, and one page for the study."""

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
SECTION_PATHS = {
    "utility": f"{ANALYSIS}/utility.csv",
    "correlation": f"{ANALYSIS}/correlation.csv",
    "significance": f"{ANALYSIS}/significance.csv",
    "per_query": "<results>/{dataset}/utility/{scorer}/{generator}.parquet",
    "differences": f"{ANALYSIS}/differences.csv",
    "variance": f"{ANALYSIS}/variance.csv",
    "positions": f"{DESCRIBED_SCORES}/positions.csv",
    "spread": f"{DESCRIBED_SCORES}/spread.csv",
    "lengths": f"{DESCRIBED}/lengths.csv",
    "cost": f"{DESCRIBED}/cost.csv",
}
# No figure shows these.
TABLES_ALONE = ("differences", "variance")
PAGE = ROOT / "workflow" / "report"
PAGE_PARTS = [
    os.path.relpath(path)
    for ending in ("j2", "css", "js")
    for path in sorted(PAGE.glob(f"*.{ending}"))
]
REFERENCE = STUDY.config["analysis"]["reference_retriever"]


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
        **{n: p for n, p in SECTION_PATHS.items() if n not in TABLES_ALONE},
        retrieval=of_retrievers("<results>/{dataset}/retrieval/{retriever}.parquet"),
    output:
        **{name: figure_files(name) for name in FIGURES},
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
        code=code_of("draw_figures.py"),
    script:
        "../workflow/scripts/draw_figures.py"


rule draw_annotations:
    input:
        correlation=per_key(f"{LABELS}/correlation.csv", LABELLED),
        leads=per_key(f"{LABELS}/leads.csv", LABELLED),
    output:
        table=annotation_table("annotations"),
        leads=annotation_table("annotation_leads"),
        figure=annotation_figure("annotations"),
    log:
        "<logs>/draw_annotations/{scorer}.log",
    conda:
        "../envs/report.yaml"
    params:
        over=LABELLED,
        kinds={n: d["kind"] for n, d in STUDY.selected()["annotations"].items()},
        code=code_of("draw_annotations.py"),
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


rule write_report:
    input:
        **{name: per_key(path, SECTIONS) for name, path in SECTION_PATHS.items()},
        **(ACU_SHOWN if ACU else {}),
        context_use=per_key(
            f"{ANALYSIS}/context_use.csv",
            SECTIONS if STUDY.config["context_use"] else [],
        ),
        explorer=per_key(f"<results>/report/explorer/{SECTION}", SECTIONS),
        retrieval=per_key(
            "<results>/{dataset}/retrieval/{retriever}.parquet", RETRIEVAL_KEYS
        ),
        annotations=per_key(ANNOTATION_TABLE, ANNOTATED),
        label_cost=per_key(LABEL_COST, LABELLED if BY_GENERATOR else []),
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
        template=os.path.relpath(PAGE / "page.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        **{name: table_files(name) for name in TABLE_FILES},
        **{name: table1_files(name) for name in TABLE_1},
        left_out=captioned(
            "<results>/report/tables/left_out.csv",
            caption="../workflow/report/left_out.rst",
            category="Tables",
            labels={"table": "left_out"},
        ),
        page=captioned(
            "<results>/report/index.html",
            caption="../workflow/report/page.rst",
            category="Page",
            labels={"page": "all"},
        ),
    log:
        "<logs>/write_report.log",
    conda:
        "../envs/report.yaml"
    params:
        study=STUDY.name,
        sections=SECTIONS,
        grid=GRID,
        retrieval_keys=RETRIEVAL_KEYS,
        annotated=[key["scorer"] for key in ANNOTATED],
        labelled=LABELLED if BY_GENERATOR else [],
        reference_retriever=REFERENCE,
        scored=list(ACU_SCORED.values()),
        claims=list(ACU_SETS),
        code=code_of("write_report.py"),
    script:
        "../workflow/scripts/write_report.py"


rule report_acu:
    input:
        **ACU_SHOWN,
        template=os.path.relpath(PAGE / "acu.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        **{
            name: [acu_file("Figures", name, suffix) for suffix in FIGURE_SUFFIXES]
            for name in ACU_FIGURES
        },
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
        code=code_of("report_acu.py"),
    script:
        "../workflow/scripts/report_acu.py"
