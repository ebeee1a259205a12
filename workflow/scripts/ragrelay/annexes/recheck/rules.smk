"""Recheck: some stored answers are made again on the machine at hand, outside the store, and compared with it.

Input: prompts, contexts, queries, receipt, references or gold answers, clusters; answers in cache_dir.
Output: rechecked_answers, recheck_receipt, recheck_scores; recheck_table and recheck_record, which the last rule writes
without Snakemake's knowing, so that a page which shows them asks for no recheck.
"""

from ragrelay.annexes.recheck import files as recheck_files
from ragrelay.annexes.recheck.rules import PROMPTS, Recheck

rechecks = Recheck(study)


RECHECK = {
    # Made again whenever it is asked for: the machine, its libraries or a server may have changed.
    "asked_for": str(STARTED),
    "patterns": PROMPTS,
    "answers": study.settings.recheck.answers,
    "generator": of_job(generation.of_jobs),
    "fingerprint": of_job(generation.fingerprint),
    "template": lambda wildcards: generation.template_parts(generation.template_of(wildcards.generator)),
    "seeds": study.grid.seeds,
    "cache_dir": study.cache_dir,
    "code": code_of("recheck/recheck_answers.py"),
}
RECHECKED = {
    "fetched": downloads.receipts_of("generator"),
    "zeroshot": generation.prompts(files.zeroshot_prompts, study.zeroshot_cells[:1]),
    "prompts": generation.prompts_with_context(study.retriever_contexts),
    "queries": files.queries,
    "contexts": files.contexts.each(study.each_retriever),
    "receipts": following(generation.receipts(files.receipt)),
}


rule count_rechecked_answers:
    """Count the stored answers to regenerate. If there are none, the recheck ends before it requests a GPU."""
    input:
        **RECHECKED,
    output:
        missing=temp(count_file(recheck_files.recheck_receipt)),
    log:
        "<logs>/count_rechecked_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    conda:
        env("generation")
    params:
        **RECHECK,
    script:
        "scripts/recheck_answers.py"


rule recheck_answers:
    """Regenerate a sample of a generator's stored answers, and compare the new answers with the stored ones."""
    input:
        **RECHECKED,
        missing=count_of(recheck_files.recheck_receipt),
    output:
        answers=recheck_files.rechecked_answers,
        receipt=recheck_files.recheck_receipt,
    log:
        "<logs>/recheck_answers/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    conda:
        env("generation")
    threads: of_job(generation.threads)
    resources:
        **ENGINE,
    params:
        **RECHECK,
    script:
        "scripts/recheck_answers.py"


rule score_recheck:
    """Score the stored and the regenerated answers."""
    input:
        **scoring.reference_files,
        answers=recheck_files.rechecked_answers,
    output:
        recheck_files.recheck_scores,
    log:
        "<logs>/score_recheck/{dataset}/{scorer}/{generator}.log",
    wildcard_constraints:
        scorer=any_of(scoring.computed),
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **machine("scoring"),
    params:
        scorer=of_job(scoring.of_jobs),
        grades=of_job(study.reference_sets),
        cache_dir=study.cache_dir,
        code=code_of("recheck/score_recheck.py", of_job(scoring.module)),
    script:
        "scripts/score_recheck.py"


# Without outputs, so that it runs whenever it is requested.
rule recheck:
    """Regenerate a sample of the stored answers, and report whether the new answers match the stored ones."""
    input:
        answers=rechecks.each(recheck_files.rechecked_answers),
        receipts=rechecks.each(recheck_files.recheck_receipt),
        scores=rechecks.each(recheck_files.recheck_scores),
        clusters=rechecks.clusters,
    log:
        "<logs>/recheck.log",
    localrule: True
    conda:
        env("analysis")
    params:
        **rechecks.params,
        code=code_of("recheck/recheck.py"),
    script:
        "scripts/recheck.py"
