"""Comparison with published tables.

Input: published tables; the tables of the analysis, of labels and of claims, utility, measures.
Output: the tables listed by rule in ragrelay/annexes/reproduction/outputs.py.
"""

from ragrelay.annexes.reproduction.rules import PAPERS, Published

published = Published(study, reported)


rule compare_published:
    """Compare the study's utility with published tables."""
    input:
        published=published.file("utility"),
        utility=files.tables["utility"].each(study.sections),
        significance=files.tables["significance"].each(study.sections),
        per_query=files.utility.each(study.sections),
        retrieval=study.grid_paths(files.measures),
    output:
        **files.made_by("compare_published"),
        tex=published.latex,
    log:
        "<logs>/compare_published.log",
    conda:
        env("report")
    params:
        names=published.given.get("names"),
        sections=study.sections,
        patterns={"per_query": files.utility, "retrieval": files.measures},
        rankings=retrieval.rankings,
        measure=study.grid.measures[0],
        code=code_of("reproduction/compare_published.py", "ragrelay.annexes.reproduction.latex"),
    script:
        "scripts/compare_published.py"


for kind, (name, does, ours) in published.compared.items():

    rule:
        name:
            name
        input:
            published=published.file(kind),
            ours=ours,
        output:
            **files.made_by(name),
        log:
            f"<logs>/{name}.log",
        conda:
            env("report")
        params:
            kind=kind,
            names=published.given.get("names"),
            code=code_of("reproduction/compare_published_table.py"),
        script:
            "scripts/compare_published_table.py"

    getattr(rules, name).rule.docstring = does


rule list_published_rows:
    """List the published tables and figures that the study is compared with."""
    input:
        rows=PAPERS,
    output:
        **files.made_by("list_published_rows"),
    log:
        "<logs>/list_published_rows.log",
    conda:
        env("report")
    params:
        published=published.files,
        code=code_of("reproduction/list_published_rows.py"),
    script:
        "scripts/list_published_rows.py"


rule reproduce:
    """Write the report with the study's tables next to published tables (configuration key `published`)."""
    input:
        lambda wildcards: published.results(REPORTED_FILES),
