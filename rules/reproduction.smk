"""Reproduction: the study's tables compared with published ones (config key published).

Input: published tables; tables of the analysis, UTILITY, MEASURES; correlations and cost of labels; ACU by stance.
Output: the tables that ragrelay/reproduction/outputs.py lists by rule.
"""


rule compare_published:
    input:
        published=lambda wildcards: PUBLISHED["utility"],
        utility=filled(SECTION_PATHS["utility"], SECTIONS),
        significance=filled(SECTION_PATHS["significance"], SECTIONS),
        per_query=filled(UTILITY, SECTIONS),
        retrieval=grid_paths(MEASURES),
    output:
        **made_by("compare_published"),
        tex=report_files([o for o in OUTPUTS if o.of == "reproduction"], [{}]),
    log:
        "<logs>/compare_published.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        sections=SECTIONS,
        patterns={"per_query": UTILITY, "retrieval": MEASURES},
        rankings=[name for name in RETRIEVERS if not judged(name)],
        measure=STUDY.grid["measures"][0],
        code=code_of("compare_published.py", "ragrelay.report.reproduction_latex"),
    script:
        "../workflow/scripts/compare_published.py"


rule compare_published_labels:
    input:
        published=lambda wildcards: PUBLISHED["labels"],
        correlation=filled(
            f"{LABELS}/correlation.csv", [s for s in SECTIONS if ANNOTATIONS]
        ),
    output:
        **made_by("compare_published_labels"),
    log:
        "<logs>/compare_published_labels.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        code=code_of("compare_published_labels.py"),
    script:
        "../workflow/scripts/compare_published_labels.py"


rule compare_published_cost:
    input:
        published=lambda wildcards: PUBLISHED["label_cost"],
        cost=filled(LABEL_COST, COSTED),
    output:
        **made_by("compare_published_cost"),
    log:
        "<logs>/compare_published_cost.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        code=code_of("compare_published_cost.py"),
    script:
        "../workflow/scripts/compare_published_cost.py"


rule compare_published_claims:
    input:
        published=lambda wildcards: PUBLISHED["claims"],
        usage=made_by("analyse_acu")["acu_usage"],
    output:
        **made_by("compare_published_claims"),
    log:
        "<logs>/compare_published_claims.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        code=code_of("compare_published_claims.py"),
    script:
        "../workflow/scripts/compare_published_claims.py"
