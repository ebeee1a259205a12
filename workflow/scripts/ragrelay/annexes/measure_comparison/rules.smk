"""Comparison of measures: which retrieval measure tracks answer quality most closely (key `compare_measures`).

Input: utility, measures, prompts, clusters, relay.
Output: the tables and the figure that ragrelay/annexes/measure_comparison/outputs.py lists.
"""

from ragrelay.annexes.measure_comparison import rules as comparison_rules

comparison = comparison_rules.of_study(study)


rule compare_measures:
    """Compare retrieval measures by how closely they track answer quality."""
    input:
        utility=files.utility,
        measures=files.measures.each(study.each_retriever),
        prompts=generation.prompts_with_context(study.retriever_contexts),
        relay=files.tables["relay"],
        clusters=of_job(collection.clusters),
        parts=of_job(comparison.parts),
    output:
        **files.made_by("compare_measures"),
    log:
        "<logs>/compare_measures/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={
            "measures": files.measures,
            "prompts": files.prompts,
            "parts": files.tables["measure_pairs"],
        },
        kinds=study.retriever_kinds,
        declared=comparison.settings and comparison.settings.declared,
        code=code_of("measure_comparison/compare_measures.py"),
    script:
        "scripts/compare_measures.py"


rule draw_measures:
    """Draw how closely each measure tracks answer quality."""
    input:
        **files.made_by("compare_measures"),
    output:
        reported.paths(reported.outputs("measures", "figure")),
    log:
        "<logs>/draw_measures/{dataset}_{generator}_{scorer}.log",
    conda:
        env("report")
    params:
        report=workflow.pathvars.apply("<results>/report"),
        shown=comparison.shown,
        code=code_of("measure_comparison/draw_measures.py", *reported.modules("measures")),
    script:
        "scripts/draw_measures.py"
