"""The list of all studies next to this one's results.

Input: their provenance and records of runs, read without Snakemake's knowing.
Output: none; results/index.html, which every run writes at its end, without Snakemake's knowing.
"""


# Without outputs, so that it runs whenever it is requested.
rule studies:
    """List all studies in `results/index.html`, and report broken and unfinished studies."""
    input:
        lambda wildcards: snakemake_internals.leave_unlocked(workflow),
    log:
        "<logs>/studies.log",
    localrule: True
    conda:
        env("report")
    params:
        root=str(Path(workflow.pathvars.apply("<results>")).parent),
        code=code_of("studies/list_studies.py"),
    script:
        "scripts/list_studies.py"
