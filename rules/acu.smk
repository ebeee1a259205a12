"""Context use: claims scored with their evidence and without it, ACU, what goes with it, and its page.

Input: a file of claims, or a hub's data set.
Output: claims, claim_prompts, claim_requests, claim_pairs, characteristics, tables; log-probabilities in cache_dir.
"""

ACU = study.config.get("acu")
ACU_UNITS = study.acu_units
ACU_TEMPLATES = [{"template": t} for t in (ACU["prompts"] if ACU else [])]
ACU_SETS = {unit["claims"]: {"claims": unit["claims"]} for unit in ACU_UNITS}
ACU_SCORED = {(u["claims"], u["generator"]): u for u in ACU_UNITS}
ACU_ANALYSED = {
    "pairs": files.claim_pairs,
    "claims": files.claims,
    "characteristics": files.characteristics,
}
ACU_TABLES = {
    name: captioned(
        path,
        caption="../workflow/report/acu_tables.rst",
        category="Tables",
        labels={"context use": name},
    )
    for name, path in files.made_by("analyse_acu").items()
}
ACU_PATTERNS = {
    **{n: p for n, p in files.made_by("analyse_acu").items() if n != "acu_pairs"},
    "acu_receipts": files.claim_scores_receipt,
    "acu_entities": files.entities,
}
ACU_SHOWN = {
    **ACU_PATTERNS,
    "acu_receipts": files.claim_scores_receipt.each(ACU_SCORED.values()),
    "acu_entities": files.entities.each(ACU_SETS.values()),
}


rule prepare_claims:
    """Read claims with their evidence."""
    input:
        lambda wildcards: claim_files(wildcards.claims),
    output:
        files.claims,
    log:
        "<logs>/prepare_claims/{claims}.log",
    localrule: True
    conda:
        "../envs/retrieval.yaml"
    params:
        claims=lambda wildcards: study.config["claims"][wildcards.claims],
        code=code_of("prepare_claims.py", claims_module, claim_format_module),
    script:
        "../workflow/scripts/prepare_claims.py"


rule build_claim_prompts:
    """Lay out every claim with and without its evidence as prompts."""
    input:
        files.claims,
    output:
        files.claim_prompts,
    log:
        "<logs>/build_claim_prompts/{claims}/{template}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        template=lambda wildcards: study.claim_template(wildcards.template),
        code=code_of("build_claim_prompts.py"),
    script:
        "../workflow/scripts/build_claim_prompts.py"


rule describe_claims:
    """Compute characteristics of every pair's evidence."""
    input:
        claims=files.claims,
        unreliable=lambda wildcards: ACU["unreliable_sources"] or [],
        reliable=lambda wildcards: ACU["reliable_sources"] or [],
    output:
        table=files.characteristics,
        entities=files.entities,
    log:
        "<logs>/describe_claims/{claims}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        entities=ACU["entities"] if ACU else None,
        code=code_of("describe_claims.py"),
    script:
        "../workflow/scripts/describe_claims.py"


rule analyse_acu:
    """Correlate ACU with characteristics, and average it by stance."""
    input:
        pairs=files.claim_pairs.each(ACU_UNITS),
        claims=files.claims.each(ACU_SETS.values()),
        characteristics=files.characteristics.each(ACU_SETS.values()),
    output:
        **ACU_TABLES,
    log:
        "<logs>/analyse_acu.log",
    conda:
        "../envs/analysis.yaml"
    params:
        resamples=study.config["analysis"]["resamples"],
        seed=study.config["analysis"]["seed"],
        patterns=ACU_ANALYSED,
        order=ACU_UNITS,
        code=code_of("analyse_acu.py"),
    script:
        "../workflow/scripts/analyse_acu.py"
