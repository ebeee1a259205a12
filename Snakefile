"""ragrelay: is relevance relayed from the retriever to the answer?

Targets: report (the default), all_runs, all_prompts, all_answers, all_scores, prefetch.
"""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


ROOT = Path(str(workflow.current_basedir))
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))


include: "rules/common.smk"


pathvars:
    results=f"results/{STUDY.name}",
    logs=f"logs/{STUDY.name}",
    benchmarks=f"results/{STUDY.name}/benchmarks",


wildcard_constraints:
    corpus=NAME,
    index=NAME,
    dataset=any_of(STUDY.grid["datasets"]),
    retriever=any_of(STUDY.needed_retrievers()),
    generator=any_of(STUDY.grid["generators"]),
    scorer=any_of(STUDY.grid["scorers"]),
    template=NAME,
    shard=r"\d+",


# On the submitting machine, which reaches hubs where compute nodes may not.
localrules:
    fetch_inputs,
    report,
    prefetch,
    all_runs,
    all_prompts,
    all_answers,
    all_scores,


onerror:
    print(
        "ragrelay: what was finished is kept; when the cause is mended, the same command again goes on from there.",
        file=sys.stderr,
    )


include: "rules/inputs.smk"
include: "rules/collection.smk"
include: "rules/retrieval.smk"
include: "rules/prompting.smk"
include: "rules/generation.smk"
include: "rules/scoring.smk"
include: "rules/analysis.smk"
include: "rules/report.smk"
include: "rules/targets.smk"


# Here and not among the other targets, because Snakemake takes the default target from this file alone.
rule report:
    input:
        "<results>/report/index.html",
        [
            path
            for name in ("utility", "scatter", "correlation")
            for suffix in ("svg", "png", "pdf")
            for path in per_key(
                f"<results>/report/figures/{name}_{SECTION}.{suffix}", SECTIONS
            )
        ],
