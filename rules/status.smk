"""Status: a live look at a study, from its jobs' logs and receipts.

Input: none that a rule makes; RECEIPT and logs where they are.
Output: none.
"""

from ragrelay.generation.status import NAMES as STATUS_NAMES

GENERATES = {
    "generate_answers": rules.generate_answers,
    "generate_zeroshot_answers": rules.generate_zeroshot_answers,
    "generate_single_answers": rules.generate_single_answers,
}


def generation_shards():
    """Every job that generates answers, with its receipt and its log."""
    found = []
    for job in PLANNED["jobs"]:
        if job["rule"] in GENERATES:
            made = GENERATES[job["rule"]].rule
            files = {"receipt": made.output[0], "log": made.log[0]}
            key = {name: job.get(name, "") for name in STATUS_NAMES}
            for shard in range(job["shards"]):
                of_shard = {**key, "shard": shard}
                paths = {
                    name: snakemake_io.apply_wildcards(str(file), of_shard)
                    for name, file in files.items()
                }
                found.append({**key, **paths})
    return found


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
