"""Comparison of two finished studies.

Input: both studies' pages.
Output: comparison, and the tables that ragrelay/annexes/compare/outputs.py lists.
"""

from ragrelay.annexes.compare import files as comparison_files
from ragrelay.annexes.compare.rules import Comparison

comparison = Comparison(study)


rule compare_studies:
    """Write the page that compares two studies."""
    input:
        unpack(comparison.pages),
        template=reported.template("compare"),
        page_parts=reported.page_parts,
    output:
        **comparison.made,
    log:
        "<logs>/compare_studies.log",
    conda:
        "../envs/report.yaml"
    params:
        before=lambda wildcards, input: str(Path(input.before).parents[1]),
        after=lambda wildcards, input: str(Path(input.after).parents[1]),
        pairs=comparison.pairs,
        code=code_of("compare_studies.py", *reported.modules("comparison"), *reported.hashes),
    script:
        "../workflow/scripts/compare_studies.py"


rule compare:
    """Write a page that compares two finished studies (config key compare)."""
    input:
        comparison_files.comparison.at(pair=comparison.name),
