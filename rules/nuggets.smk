"""Lists of nuggets from files; rules/asking.smk has those that a generator writes.

Input: queries; files of nuggets.
Output: nuggets, left_out_of_nuggets.
"""


rule read_nuggets:
    """Read lists of nuggets from a file."""
    input:
        file=lambda wildcards: study.nuggets_of[wildcards.scorer].file(
            wildcards.dataset
        ),
        queries=files.queries,
    output:
        nuggets=files.nuggets,
        left_out=files.left_out_of_nuggets,
    log:
        "<logs>/read_nuggets/{dataset}/{scorer}.log",
    wildcard_constraints:
        scorer=any_of(filter(study.nuggets_by_file, study.nuggets_of)),
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("read_nuggets.py"),
    script:
        "../workflow/scripts/read_nuggets.py"
