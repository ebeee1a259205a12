"""Status: a live look at a study, from its jobs' logs and receipts.

Input: none that a rule makes; receipt and logs where they are.
Output: none.
"""


rule status:
    """What is generated so far, how fast, and which jobs failed; also while a run is going on."""
    input:
        without_lock,
    log:
        "<logs>/status.log",
    localrule: True
    conda:
        "../envs/analysis.yaml"
    params:
        shards=lambda wildcards: generation_shards(),
        logs=workflow.pathvars.apply("<logs>"),
        rules=lambda wildcards: [
            (each.log[0].regex().pattern, list(map(str, each.output)))
            for each in workflow.rules
            if each.log and each.output
        ],
        code=code_of("show_status.py"),
    script:
        "../workflow/scripts/show_status.py"
