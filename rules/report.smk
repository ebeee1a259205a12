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
STAGES = [("collection", {"dataset": d}) for d in STUDY.grid["datasets"]] + [
    ("contexts", key) for key in RETRIEVAL_KEYS
]
GRID = STUDY.grid | {
    "references": {d: list(STUDY.grades(d)) for d in STUDY.grid["datasets"]}
}
REFERENCE = STUDY.config["analysis"]["reference_retriever"]


report: "../workflow/report/workflow.rst"


rule gather_provenance:
    input:
        receipts=per_key(
            "<results>/{dataset}/generated/{generator}/{retriever}/shard{shard}.json",
            RECEIPT_KEYS,
        ),
        left_out=[left_out_file(*stage) for stage in STAGES],
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
        stages=[stage for stage, _ in STAGES],
        stage_keys=[key for _, key in STAGES],
        code=code_digest("gather_provenance.py"),
    script:
        "../workflow/scripts/gather_provenance.py"


rule draw_figures:
    input:
        utility=f"{ANALYSIS}/utility.csv",
        correlation=f"{ANALYSIS}/correlation.csv",
        significance=f"{ANALYSIS}/significance.csv",
        per_query="<results>/{dataset}/utility/{scorer}/{generator}.parquet",
        retrieval=expand(
            "<results>/{{dataset}}/retrieval/{retriever}.parquet", retriever=RETRIEVERS
        ),
    output:
        utility=figure_files("utility"),
        scatter=figure_files("scatter"),
        correlation=figure_files("correlation"),
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
        code=code_digest("draw_figures.py"),
    script:
        "../workflow/scripts/draw_figures.py"


rule write_report:
    input:
        utility=per_key(f"{ANALYSIS}/utility.csv", SECTIONS),
        correlation=per_key(f"{ANALYSIS}/correlation.csv", SECTIONS),
        significance=per_key(f"{ANALYSIS}/significance.csv", SECTIONS),
        differences=per_key(f"{ANALYSIS}/differences.csv", SECTIONS),
        variance=per_key(f"{ANALYSIS}/variance.csv", SECTIONS),
        per_query=per_key(
            "<results>/{dataset}/utility/{scorer}/{generator}.parquet", SECTIONS
        ),
        retrieval=per_key(
            "<results>/{dataset}/retrieval/{retriever}.parquet", RETRIEVAL_KEYS
        ),
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
        template=[
            os.path.relpath(ROOT / "workflow" / "report" / name)
            for name in ("page.html.j2", "page.css", "page.js")
        ],
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
        reference_retriever=REFERENCE,
        code=code_digest("write_report.py"),
    script:
        "../workflow/scripts/write_report.py"
