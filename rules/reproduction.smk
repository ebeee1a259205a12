"""Reproduction: the study's tables compared with published ones (config key published).

Input: published tables; tables of the analysis, utility, measures; correlations and cost of labels; ACU by stance.
Output: the tables that ragrelay/reproduction/outputs.py lists by rule.
"""


rule compare_published:
    """Compare utility with published tables."""
    input:
        published=lambda wildcards: PUBLISHED["utility"],
        utility=SECTION_PATHS["utility"].each(SECTIONS),
        significance=SECTION_PATHS["significance"].each(SECTIONS),
        per_query=files.utility.each(SECTIONS),
        retrieval=study.grid_paths(files.measures),
    output:
        **files.made_by("compare_published"),
        tex=report_files([o for o in OUTPUTS if o.of == "reproduction"], [{}]),
    log:
        "<logs>/compare_published.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        sections=SECTIONS,
        patterns={"per_query": files.utility, "retrieval": files.measures},
        rankings=[name for name in study.grid["retrievers"] if not judged(name)],
        measure=study.grid["measures"][0],
        code=code_of("compare_published.py", "ragrelay.report.reproduction_latex"),
    script:
        "../workflow/scripts/compare_published.py"


rule compare_published_labels:
    """Compare correlations of label sources with published ones."""
    input:
        published=lambda wildcards: PUBLISHED["labels"],
        correlation=files.tables["label_correlation"].each(
            [s for s in SECTIONS if ANNOTATIONS]
        ),
    output:
        **files.made_by("compare_published_labels"),
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
    """Compare the cost of labels with published figures."""
    input:
        published=lambda wildcards: PUBLISHED["label_cost"],
        cost=files.tables["label_cost"].each(COSTED),
    output:
        **files.made_by("compare_published_cost"),
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
    """Compare ACU by stance with published figures."""
    input:
        published=lambda wildcards: PUBLISHED["claims"],
        usage=files.made_by("analyse_acu")["acu_usage"],
    output:
        **files.made_by("compare_published_claims"),
    log:
        "<logs>/compare_published_claims.log",
    conda:
        "../envs/report.yaml"
    params:
        names=lambda wildcards: PUBLISHED["names"],
        code=code_of("compare_published_claims.py"),
    script:
        "../workflow/scripts/compare_published_claims.py"
