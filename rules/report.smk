"""Report: figures and tables of each dataset x generator x scorer, provenance, and one page for the study."""

from snakemake.io import report as captioned  # a line that starts with "report" is a keyword to Snakemake

SECTIONS = [
    {"dataset": d, "generator": g, "scorer": s, "utility": STUDY.scorer(s)["utility"]}
    for d in STUDY.grid["datasets"]
    for g in STUDY.grid["generators"]
    for s in STUDY.grid["scorers"]
]
RETRIEVAL_KEYS = [{"dataset": d, "retriever": r} for d in STUDY.grid["datasets"] for r in RETRIEVERS]
RECEIPT_KEYS = [
    {"dataset": d, "generator": g, "retriever": r, "shard": str(shard)}
    for d in STUDY.grid["datasets"]
    for g in STUDY.grid["generators"]
    for r in ["zeroshot", *RETRIEVERS]
    for shard in shards(d)
]
STAGES = [("collection", {"dataset": d}) for d in STUDY.grid["datasets"]] + [("contexts", key) for key in RETRIEVAL_KEYS]
GRID = STUDY.grid | {"references": {d: list(STUDY.grades(d)) for d in STUDY.grid["datasets"]}}
REFERENCE = STUDY.config["analysis"]["reference_retriever"]
SECTION = "{dataset}_{generator}_{scorer}"
TABLE_FILES = {
    "table1": ("csv", "table1"),
    "table1_tex": ("tex", "table1"),
    "table1_p_tex": ("p.tex", "table1"),
    "table1_unseen": ("unseen.csv", "table1"),
    "correlation": ("csv", "correlation_table"),
    "significance": ("csv", "significance_table"),
    "copying": ("csv", "copying"),
    "cells": ("csv", "table1"),
}


def per_key(pattern, keys):
    return [re.sub(r"\{(\w+)\}", lambda m: key[m[1]], pattern) for key in keys]


def left_out_file(stage, key):
    name = "left_out" if stage == "collection" else f"{key['retriever']}.left_out"
    return f"<results>/{key['dataset']}/{stage}/{name}.json"


def table_files(name):
    ending, caption = TABLE_FILES[name]
    base = name.removesuffix("_p_tex").removesuffix("_tex").removesuffix("_unseen")
    return [
        captioned(
            per_key(f"<results>/report/tables/{base}_{SECTION}.{ending}", [section])[0],
            caption=f"../workflow/report/{caption}.rst",
            category="Tables",
            labels={"table": name, **{key: section[key] for key in ("dataset", "generator", "scorer")}},
        )
        for section in SECTIONS
    ]


def figure_files(name):
    return [
        captioned(
            f"<results>/report/figures/{name}_{SECTION}.{suffix}",
            caption=f"../workflow/report/{name}.rst",
            category="Figures",
            labels={"figure": name, "dataset": "{dataset}", "generator": "{generator}", "scorer": "{scorer}", "format": suffix},
        )
        for suffix in ("svg", "png", "pdf")
    ]


report: "../workflow/report/workflow.rst"


rule gather_provenance:
    input:
        receipts=per_key("<results>/{dataset}/generated/{generator}/{retriever}/shard{shard}.json", RECEIPT_KEYS),
        left_out=[left_out_file(*stage) for stage in STAGES],
        answers=[
            path
            for pattern in cell_paths(ANSWERS, CELLS) + cell_paths(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS)
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
        root=str(ROOT),
        code=code_digest("gather_provenance.py"),
    script:
        "../workflow/scripts/gather_provenance.py"


rule draw_figures:
    input:
        utility=f"{ANALYSIS}/utility.csv",
        correlation=f"{ANALYSIS}/correlation.csv",
        significance=f"{ANALYSIS}/significance.csv",
        per_query="<results>/{dataset}/utility/{scorer}/{generator}.parquet",
        retrieval=expand("<results>/{{dataset}}/retrieval/{retriever}.parquet", retriever=RETRIEVERS),
    output:
        utility=figure_files("utility"),
        scatter=figure_files("scatter"),
        correlation=figure_files("correlation"),
    log:
        f"<logs>/draw_figures/{SECTION}.log",
    conda:
        "../envs/report.yaml"
    params:
        section=lambda wildcards: next(s for s in SECTIONS if all(s[k] == v for k, v in wildcards.items())),
        grid=GRID,
        retrieval_keys=lambda wildcards: [key for key in RETRIEVAL_KEYS if key["dataset"] == wildcards.dataset],
        code=code_digest("draw_figures.py"),
    script:
        "../workflow/scripts/draw_figures.py"


rule write_report:
    input:
        utility=per_key(f"{ANALYSIS}/utility.csv", SECTIONS),
        correlation=per_key(f"{ANALYSIS}/correlation.csv", SECTIONS),
        significance=per_key(f"{ANALYSIS}/significance.csv", SECTIONS),
        per_query=per_key("<results>/{dataset}/utility/{scorer}/{generator}.parquet", SECTIONS),
        retrieval=per_key("<results>/{dataset}/retrieval/{retriever}.parquet", RETRIEVAL_KEYS),
        provenance="<results>/report/provenance.json",
        left_out="<results>/report/left_out.json",
        template=[str(ROOT / "workflow" / "report" / name) for name in ("page.html.j2", "page.css", "page.js")],
    output:
        **{name: table_files(name) for name in TABLE_FILES},
        left_out=captioned("<results>/report/tables/left_out.csv", caption="../workflow/report/left_out.rst", category="Tables", labels={"table": "left_out"}),
        page=captioned("<results>/report/index.html", caption="../workflow/report/page.rst", category="Page", labels={"page": "all"}),
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
