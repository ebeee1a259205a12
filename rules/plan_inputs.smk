"""What the rules of the plan and of status take: jobs with an engine, their prompts, and the check against the budget."""

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.status import NAMES as STATUS_NAMES
from ragrelay.io.hashing import value_hash
from ragrelay.vocabulary.names import ZEROSHOT

PLANNED_GENERATORS = list(
    dict.fromkeys(
        [
            *study.asked_generators(),
            *(
                q.question.asker(study, key)
                for q in QUESTIONS
                for key in q.question.jobs(study)
            ),
        ]
    )
)


def generation_jobs():
    """Every job that generates answers: the arguments of ragrelay.planning.work.Job, but for the files."""
    jobs = []
    for dataset in study.grid["datasets"]:
        for generator in study.asked_generators():
            key = {"dataset": dataset, "generator": generator}
            split = {**key, "shards": len(study.shards(dataset))}
            one = {**split, "rule": "generate_zeroshot_answers", "retriever": ZEROSHOT}
            jobs.append(one)
            for retriever in study.grid["retrievers"]:
                jobs.append(
                    {**split, "retriever": retriever, "rule": "generate_answers"}
                )
            if BY_GENERATOR:
                jobs.append({**split, "rule": "generate_single_answers"})
    return jobs


@functools.cache
def planned_jobs():
    """The same, and the jobs of questions with their files."""
    return [*generation_jobs(), *planned_questions(QUESTIONS, workflow.pathvars.apply)]


def planned_prompts(wildcards):
    """What is planned from: the prompts of answers, and what questions read that no engine makes."""
    templates = list(dict.fromkeys(map(study.template_of, study.asked_generators())))
    cells = [*files.prompts.each(study.contexts), files.zeroshot_prompts]
    read = [
        path
        for job in planned_jobs()
        for part in job.get("parts", ())
        for paths in part["files"].values()
        for path in paths
    ]
    return {
        "prompts": [p for c in cells for p in study.grid_paths(c, template=templates)],
        "single": study.grid_paths(
            files.single_prompts, template=templates if BY_GENERATOR else []
        ),
        "asked": list(dict.fromkeys(read)),
    }


def planned_fingerprints(wildcards):
    others = [name for name in PLANNED_GENERATORS if name not in study.fingerprints]
    definitions = {name: study.generator(name) for name in others}
    return {name: study.fingerprints[name] for name in study.asked_generators()} | {
        name: fingerprint(definition, cache_dir=study.cache_dir)
        for name, definition in definitions.items()
    }


PLANNED = {
    "generators": {name: study.generator(name) for name in PLANNED_GENERATORS},
    "templates": {
        g: study.template_parts(study.template_of(g)) for g in PLANNED_GENERATORS
    },
    "seeds": study.grid["seeds"],
}


def planned_hash(wildcards):
    """Of all that is planned, but for the files' content."""
    return value_hash([PLANNED, planned_jobs(), planned_fingerprints(wildcards)])


# What the plan says of the size of the study: by the primary comparison of each dataset and generator.
SIZED_BY = {"systems": "analyse_transmission", "variance": "decompose_variance"}
PLANNED_SIZES = [
    {
        **part,
        "margin": study.config["analysis"]["equivalence_margin"],
        "primary": chosen,
        "queries": workflow.pathvars.apply(files.queries).format(**part),
        **{
            name: workflow.pathvars.apply(files.made_by(rule)[name]).format(
                **part, scorer=chosen["scorer"]
            )
            for name, rule in SIZED_BY.items()
        },
    }
    for d in study.grid["datasets"]
    for g in study.grid["generators"]
    for part in [{"dataset": d, "generator": g}]
    if (chosen := study.primary(d))
]

BUDGET = study.config.get("budget", {})


def check_run(to_run):
    """Check the jobs ``to_run`` against the budget, where there is one and engines are among them."""
    rules = {job.rule.name for job in to_run}
    if BUDGET and rules & {job["rule"] for job in planned_jobs()}:
        from ragrelay.planning.budget import check_budget  # here, as few runs need it

        patterns = planned_prompts(None)
        planned = {
            Path(workflow.pathvars.apply(path))
            for many in patterns.values()
            for path in many
        }
        made = [Path(path) for job in to_run for path in job.output]
        receipt = Path(workflow.pathvars.apply(files.plan_receipt))
        with on_terminal():
            check_budget(BUDGET, receipt, planned_hash(None), planned, made)


PLANNED_FILES = {
    "prompts": files.prompts,
    "single": files.single_prompts,
    "queries": files.queries,
    "contexts": files.contexts,
}


GENERATES = {
    "generate_answers": rules.generate_answers,
    "generate_zeroshot_answers": rules.generate_zeroshot_answers,
    "generate_single_answers": rules.generate_single_answers,
}


def generation_shards():
    """Every job that generates answers, with its receipt and its log."""
    found = []
    for job in generation_jobs():
        if job["rule"] in GENERATES:
            made = GENERATES[job["rule"]].rule
            patterns = {"receipt": made.output[0], "log": made.log[0]}
            key = {name: job.get(name, "") for name in STATUS_NAMES}
            for shard in range(job["shards"]):
                of_shard = {**key, "shard": shard}
                paths = {
                    name: snakemake_io.apply_wildcards(str(file), of_shard)
                    for name, file in patterns.items()
                }
                found.append({**key, **paths})
    return found


def note_generation(dag):
    """Tell jobs which others beside them are to run."""
    from ragrelay.generation.helping import Noted, note_jobs  # here, as it loads polars

    of_grid = (rules.generate_answers.rule, rules.generate_zeroshot_answers.rule)
    noted = [
        Noted(
            receipt=str(job.output.receipt),
            beside=[job.wildcards[key] for key in ("dataset", "generator", "shard")],
            name=job.wildcards.get("retriever", ZEROSHOT),
            prompts=list(map(str, job.input.prompts)),
            makes=not snakemake_internals.inputs_to_make(dag, job).isdisjoint(
                map(str, job.input.prompts)
            ),
        )
        for job in dag.needrun_jobs()
        if job.rule in of_grid
    ]
    note_jobs(sorted(noted, key=lambda job: job.receipt))
