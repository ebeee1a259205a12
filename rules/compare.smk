"""Comparing: two finished studies, on a page of their own.

Input: both studies' pages and the results next to them.
Output: a page and two tables, in <results>/compare/<before>-to-<after>. Figures and tables of the page:
ragrelay/compare/outputs.py.
"""

COMPARE = study.config.get("compare")
SIDES = [study_folder(COMPARE[side]) for side in ("before", "after")] if COMPARE else []
COMPARED = "-to-".join(
    Path(COMPARE[side]).name if COMPARE else side for side in ("before", "after")
)


rule compare_studies:
    """Write the page that compares two studies."""
    input:
        # The page of a study is made last, when all else is there.
        before=lambda wildcards: f"{compared_studies()[0]}/report/index.html",
        after=lambda wildcards: f"{compared_studies()[1]}/report/index.html",
        template=os.path.relpath(PAGE / "compare.html.j2"),
        page_parts=PAGE_PARTS,
    output:
        **comparison_files(COMPARED),
    log:
        "<logs>/compare_studies.log",
    conda:
        "../envs/report.yaml"
    params:
        before=lambda wildcards, input: str(Path(input.before).parents[1]),
        after=lambda wildcards, input: str(Path(input.after).parents[1]),
        pairs=COMPARE["pairs"] if COMPARE else {},
        code=code_of("compare_studies.py", *modules(outputs_of("comparison"))),
    script:
        "../workflow/scripts/compare_studies.py"
