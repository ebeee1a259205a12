"""Claims: their scores with and without evidence, ACU, its correlation with characteristics of evidence, and its page.

The claims are scored by a question to a model (rules/asking.smk).
Input: a file of claims, or a hub's data set.
Output: claims, claim_prompts, characteristics, tables; acu_report.
"""

from ragrelay.annexes.acu import files as claim_files
from ragrelay.annexes.acu.rules import of_study as claims_of, shown_beside
from ragrelay.annexes.acu.source import CLAIM_FORMATS, CLAIM_KINDS

claims = claims_of(study)
beside, beside_claims, beside_modules = shown_beside(study)


wildcard_constraints:
    claims=NAME,


rule prepare_claims:
    """Read claims and their evidence from a file or a hub."""
    input:
        of_job(claims.own_files),
    output:
        claim_files.claims,
    log:
        "<logs>/prepare_claims/{claims}.log",
    localrule: True
    conda:
        env("retrieval")
    params:
        claims=of_job(claims.definition),
        code=code_of(
            "acu/prepare_claims.py",
            lambda wildcards: CLAIM_KINDS.module(claims.definition(wildcards.claims)),
            lambda wildcards: CLAIM_FORMATS.module({"format": "druid"} | claims.definition(wildcards.claims)),
        ),
    script:
        "scripts/prepare_claims.py"


rule build_claim_prompts:
    """Build prompts from every claim, once with and once without evidence."""
    input:
        claim_files.claims,
    output:
        claim_files.claim_prompts,
    log:
        "<logs>/build_claim_prompts/{claims}/{template}.log",
    conda:
        env("analysis")
    params:
        template=of_job(claims.template),
        code=code_of("acu/build_claim_prompts.py"),
    script:
        "scripts/build_claim_prompts.py"


rule describe_claims:
    """Compute the characteristics of the evidence in each claim–evidence pair."""
    input:
        claims=claim_files.claims,
        unreliable=claims.source_files("unreliable"),
        reliable=claims.source_files("reliable"),
        judged=claims.judged_evidence,
    output:
        table=claim_files.characteristics,
        entities=claim_files.entities,
    log:
        "<logs>/describe_claims/{claims}.log",
    conda:
        env("analysis")
    params:
        entities=claims.asked_for.get("entities"),
        code=code_of("acu/describe_claims.py"),
    script:
        "scripts/describe_claims.py"


rule analyse_acu:
    """Correlate ACU with the evidence's characteristics, and average ACU by stance."""
    input:
        pairs=claim_files.claim_pairs.each(claims.units),
        claims=claim_files.claims.each(claims.sets),
        characteristics=claim_files.characteristics.each(claims.sets),
    output:
        **claims.tables,
    log:
        "<logs>/analyse_acu.log",
    conda:
        env("analysis")
    params:
        draws=study.draws,
        patterns={
            "pairs": claim_files.claim_pairs,
            "claims": claim_files.claims,
            "characteristics": claim_files.characteristics,
        },
        order=claims.units,
        code=code_of("acu/analyse_acu.py"),
    script:
        "scripts/analyse_acu.py"


rule report_acu:
    """Write the page of a study of claims."""
    input:
        **claims.shown,
        **beside_claims,
        template=reported.template("acu"),
        page_parts=reported.page_parts,
    output:
        *reported.paths(reported.outputs("claims", "figure"), [{}]),
        page=reported.page(claim_files.acu_report, "captions/acu_page.rst", "context use"),
    log:
        "<logs>/report_acu.log",
    conda:
        env("report")
    params:
        patterns=claims.shown_patterns,
        beside=beside,
        study=study.name,
        notices=reported.notices({u["generator"] for u in claims.units}),
        code=code_of("acu/report_acu.py", *reported.modules("claims"), *beside_modules),
    script:
        "scripts/report_acu.py"


rule acu:
    """Measure how much generators use the evidence for claims (configuration key `acu`), and write tables and a page."""
    input:
        lambda wildcards: claims.results(reported),
