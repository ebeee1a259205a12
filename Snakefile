"""ragrelay: is relevance relayed from the retriever to the answer?

Targets: all (the default), all_runs, all_prompts, all_answers, all_scores, report.
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


localrules:
    all,
    all_runs,
    all_prompts,
    all_answers,
    all_scores,


include: "rules/targets.smk"
include: "rules/collection.smk"
include: "rules/retrieval.smk"
include: "rules/prompting.smk"
include: "rules/generation.smk"
include: "rules/scoring.smk"
include: "rules/analysis.smk"
include: "rules/report.smk"
