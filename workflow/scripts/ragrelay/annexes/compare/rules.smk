"""Comparison of finished studies with one of them, and of several side by side.

Input: the studies' pages.
Output: comparison, several, and the tables that ragrelay/annexes/compare/outputs.py lists.
"""

from ragrelay.annexes.compare.rules import Comparison

comparison = Comparison(study)


rule compare_studies:
    """Write the page that compares two studies."""
    input:
        unpack(comparison.pages),
        template=reported.template("compare"),
        page_parts=reported.page_parts,
    output:
        **comparison.made("compare_studies"),
    log:
        "<logs>/compare_studies/{pair}.log",
    wildcard_constraints:
        pair=any_of(comparison.of),
    conda:
        env("report")
    params:
        before=lambda wildcards, input: str(Path(input.before).parents[1]),
        after=lambda wildcards, input: str(Path(input.after).parents[1]),
        pairs=comparison.pairs,
        several=comparison.several,
        code=code_of("compare/compare_studies.py", *reported.modules("comparison"), *reported.hashes),
    script:
        "scripts/compare_studies.py"


rule compare_several:
    """Write the page that sets more than two studies side by side."""
    input:
        unpack(comparison.parts),
        template=reported.template("compare"),
        page_parts=reported.page_parts,
    output:
        **comparison.made("compare_several"),
    log:
        "<logs>/compare_several/{studies}.log",
    wildcard_constraints:
        studies=any_of([comparison.together]),
    conda:
        env("report")
    params:
        before=lambda wildcards, input: str(Path(input.pages[0]).parents[1]),
        after=lambda wildcards, input: [str(Path(page).parents[1]) for page in input.pages[1:]],
        pairs=comparison.pairs,
        code=code_of("compare/compare_several.py", *reported.hashes),
    script:
        "scripts/compare_several.py"


rule compare:
    """Write the pages that compare finished studies with one of them (config key compare)."""
    input:
        comparison.target,
