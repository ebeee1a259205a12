"""The plan: what every engine job will be asked for, counted before any starts, and the check against the budget.

Input: prompts, single_prompts, passage_checks, claim_prompts, claims, queries, contexts.
Output: plan, plan_receipt.
"""


# Without outputs, so that it runs whenever it is asked for: the store may have changed since.
rule plan:
    """What the study will ask of its engines, counted; none is started."""
    input:
        unpack(planned_prompts),
        fetched=[p for g in PLANNED_GENERATORS for p in study.fetched("generators", g)],
        queries=study.grid_paths(files.queries),
        contexts=study.grid_paths(files.contexts),
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        "../envs/generation.yaml"
    threads: 4
    params:
        **PLANNED,
        jobs=lambda wildcards: planned_jobs(),
        fingerprints=planned_fingerprints,
        cache_dir=study.cache_dir,
        patterns=PLANNED_FILES,
        csv=workflow.pathvars.apply(files.plan),
        receipt=workflow.pathvars.apply(files.plan_receipt),
        of=planned_hash,
        sizes=PLANNED_SIZES,
        budget=BUDGET,
    script:
        "../workflow/scripts/plan_generation.py"
