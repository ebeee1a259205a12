"""Context use: claims scored with their evidence and without it, ACU, what goes with it, and its page.

Input: a file of claims, or a hub's data set.
Output: CLAIMS, CLAIM_PROMPTS, CLAIM_SCORES, CLAIM_PAIRS, CHARACTERISTICS, tables; log-probabilities in cache_dir.
"""

ACU = STUDY.config.get("acu")
ACU_UNITS = [
    {"claims": c, "generator": g, "template": t}
    for c in (ACU["claims"] if ACU else [])
    for g in ACU["generators"]
    for t in ACU["prompts"]
]
ACU_TEMPLATES = [{"template": t} for t in (ACU["prompts"] if ACU else [])]
ACU_SETS = {unit["claims"]: {"claims": unit["claims"]} for unit in ACU_UNITS}
ACU_SCORED = {(u["claims"], u["generator"]): u for u in ACU_UNITS}
ACU_ANALYSED = {
    "pairs": CLAIM_PAIRS,
    "claims": CLAIMS,
    "characteristics": f"{CHARACTERISTICS}.parquet",
}
ACU_TABLES = {
    name: captioned(
        path,
        caption="../workflow/report/acu_tables.rst",
        category="Tables",
        labels={"context use": name},
    )
    for name, path in made_by("analyse_acu").items()
}
ACU_PATTERNS = {
    **{n: p for n, p in made_by("analyse_acu").items() if n != "acu_pairs"},
    "acu_receipts": f"{CLAIM_SCORES}.json",
    "acu_entities": f"{CHARACTERISTICS}.json",
}
ACU_SHOWN = {
    **ACU_PATTERNS,
    "acu_receipts": filled(f"{CLAIM_SCORES}.json", ACU_SCORED.values()),
    "acu_entities": filled(f"{CHARACTERISTICS}.json", ACU_SETS.values()),
}


rule prepare_claims:
    input:
        lambda wildcards: claim_files(wildcards.claims),
    output:
        CLAIMS,
    log:
        "<logs>/prepare_claims/{claims}.log",
    localrule: True
    conda:
        "../envs/retrieval.yaml"
    params:
        claims=lambda wildcards: STUDY.config["claims"][wildcards.claims],
        code=code_of("prepare_claims.py", claims_module, claim_format_module),
    script:
        "../workflow/scripts/prepare_claims.py"


rule build_claim_prompts:
    input:
        CLAIMS,
    output:
        CLAIM_PROMPTS,
    log:
        "<logs>/build_claim_prompts/{claims}/{template}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        template=lambda wildcards: claim_template_parts(wildcards.template),
        code=code_of("build_claim_prompts.py"),
    script:
        "../workflow/scripts/build_claim_prompts.py"


rule score_claims:
    input:
        claims=CLAIMS,
        fetched=fetched_for_generator,
        prompts=filled(CLAIM_PROMPTS, ACU_TEMPLATES),
    output:
        receipt=f"{CLAIM_SCORES}.json",
        asked=f"{CLAIM_SCORES}.asked.parquet",
    log:
        "<logs>/score_claims/{claims}/{generator}.log",
    benchmark:
        "<benchmarks>/score_claims/{claims}/{generator}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: threads_of
    resources:
        **ENGINE,
    params:
        generator=generator_of,
        fingerprint=lambda wildcards: likelihoods_of(wildcards.generator),
        patterns={"prompts": CLAIM_PROMPTS},
        cache_dir=STUDY.cache_dir,
        code=questions_of("score_claims.py"),
    script:
        "../workflow/scripts/score_claims.py"


rule compute_acu:
    input:
        claims=CLAIMS,
        receipt=f"{CLAIM_SCORES}.json",
        asked=f"{CLAIM_SCORES}.asked.parquet",
    output:
        CLAIM_PAIRS,
    log:
        "<logs>/compute_acu/{claims}/{generator}/{template}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        cache_dir=STUDY.cache_dir,
        code=code_of("compute_acu.py"),
    script:
        "../workflow/scripts/compute_acu.py"


rule describe_claims:
    input:
        claims=CLAIMS,
        unreliable=lambda wildcards: ACU["unreliable_sources"] or [],
        reliable=lambda wildcards: ACU["reliable_sources"] or [],
    output:
        table=f"{CHARACTERISTICS}.parquet",
        entities=f"{CHARACTERISTICS}.json",
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
    input:
        pairs=filled(CLAIM_PAIRS, ACU_UNITS),
        claims=filled(CLAIMS, ACU_SETS.values()),
        characteristics=filled(f"{CHARACTERISTICS}.parquet", ACU_SETS.values()),
    output:
        **ACU_TABLES,
    log:
        "<logs>/analyse_acu.log",
    conda:
        "../envs/analysis.yaml"
    params:
        resamples=STUDY.config["analysis"]["resamples"],
        seed=STUDY.config["analysis"]["seed"],
        patterns=ACU_ANALYSED,
        order=ACU_UNITS,
        code=code_of("analyse_acu.py"),
    script:
        "../workflow/scripts/analyse_acu.py"
