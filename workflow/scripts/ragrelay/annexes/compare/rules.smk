"""Comparison of finished studies with a baseline.

Input: the studies' pages.
Output: comparison, and the tables listed in ragrelay/annexes/compare/outputs.py.
"""

from ragrelay.annexes.compare.rules import Comparison

comparison = Comparison(study)


rule compare_studies:
    """Write the page that compares one study with others."""
    input:
        pages=comparison.pages,
        template=reported.template("compare"),
        page_parts=reported.page_parts,
    output:
        **comparison.made(),
    log:
        "<logs>/compare_studies/{studies}.log",
    wildcard_constraints:
        studies=any_of([comparison.title]),
    conda:
        env("report")
    params:
        before=lambda wildcards, input: str(Path(input.pages[0]).parents[1]),
        after=lambda wildcards, input: [str(Path(page).parents[1]) for page in input.pages[1:]],
        pairs=comparison.pairs,
        code=code_of("compare/compare_studies.py", *reported.modules("comparison"), *reported.hashes),
    script:
        "scripts/compare_studies.py"


rule compare:
    """Write a page that compares one finished study with others (configuration key `compare`)."""
    input:
        comparison.target,
