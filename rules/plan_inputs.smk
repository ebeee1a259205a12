"""What the rules of the plan and of status take: jobs with an engine, their prompts, and the check against the budget."""

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.status import NAMES as STATUS_NAMES
from ragrelay.io.hashing import value_hash
from ragrelay.vocabulary.names import ZEROSHOT


def questions(sources, prompts, key):
    """Of the annotation ``sources`` that ask a generator, how each asks, by that generator.

    ``prompts``: the files, which ``key`` tells by the source's name.
    """
    found = {}
    for name in sources:
        for judge in PARTS[name].judges(study.grid["generators"]):
            words = {"words": PARTS[name].words(), "begins": PARTS[name].begins()}
            question = {"files": prompts, "of": key(name), **words}
            found.setdefault(judge, []).append(question)
    return found


def template_of_source(name):
    return {"template": study.config["annotations"][name]["prompt"]}


QUESTIONS = questions(PARTS, "single", template_of_source)
CHECK_QUESTIONS = questions(CHECKED_SOURCES, "checks", lambda name: {"source": name})
PLANNED_GENERATORS = list(
    dict.fromkeys(
        [
            *study.asked_generators(),
            *QUESTIONS,
            *study.judged_by.values(),
            *NUGGET_WRITERS,
            *(g for _, g in ACU_SCORED),
        ]
    )
)


def judged_answers_jobs(dataset):
    """Those that have answers judged."""
    jobs = []
    for scorer, judge in study.judged_by.items():
        asked = {
            "name": scorer,
            "scorer": study.scorer(scorer),
            "template": judge_template_parts(scorer),
            "grades": study.reference_sets(dataset, scorer),
            "near_copy": study.config["near_copy"],
        }
        for generator in study.grid["generators"]:
            answers = {
                "answers_of": generator,
                "prompts": study.template_of(generator),
                "passages": (
                    "passages" if generator in study.imported_generators else "contexts"
                ),
            }
            job = {"dataset": dataset, "generator": judge, "rule": "judge_answers"}
            job["judged"] = {**asked, **answers}
            jobs += [
                {**job, "retriever": name}
                for name in [ZEROSHOT, *study.grid["retrievers"]]
            ]
            if scorer in study.checked_scorers:
                of_all = {"retrievers": study.grid["retrievers"]}
                of_all["template"] = whole_judge_template(scorer)
                checked = {**job["judged"], **of_all}
                jobs.append({**job, "rule": "check_judge", "judged": checked})
    return jobs


def nuggets_jobs(dataset):
    """Those that write lists of nuggets."""
    jobs = []
    for scorer in NUGGETS_WRITTEN_FOR:
        kind = NUGGETS_OF[scorer]
        lists = {
            "template": nugget_template_parts(kind.list_prompt),
            "limits": kind.limits(),
            "passages": kind.passages_read(),
            "read_from": "contexts" if kind.retriever else "references",
            "of": {"retriever": kind.retriever} if kind.retriever else {},
        }
        job = {
            "dataset": dataset,
            "generator": kind.written_by,
            "rule": "write_nuggets",
        }
        jobs.append({**job, "shards": len(study.shards(dataset)), "lists": lists})
    return jobs


def planned_jobs():
    """Every job with an engine: the arguments of ragrelay.planning.work.Job, but for the files."""
    jobs = []
    for dataset in study.grid["datasets"]:
        for generator in study.asked_generators():
            key = {"dataset": dataset, "generator": generator}
            split = {**key, "shards": len(study.shards(dataset))}
            one = {**split, "rule": "generate_zeroshot_answers", "retriever": ZEROSHOT}
            jobs.append(one)
            for retriever in study.grid["retrievers"]:
                of = {"retriever": retriever}
                jobs.append({**split, **of, "rule": "generate_answers"})
                if study.config["context_use"]:
                    jobs.append({**key, **of, "rule": "score_context_use"})
                if study.config["prediction"]["context_perplexity"]:
                    ks = {"ks": sorted(study.grid["k"])}
                    jobs.append({**key, **of, **ks, "rule": "score_contexts"})
            if BY_GENERATOR:
                jobs.append({**split, "rule": "generate_single_answers"})
        for judge, questions in QUESTIONS.items():
            job = {"dataset": dataset, "generator": judge, "rule": "judge_passages"}
            jobs.append({**job, "questions": questions})
        for judge, questions in CHECK_QUESTIONS.items():
            job = {"dataset": dataset, "generator": judge, "rule": "check_passages"}
            jobs.append({**job, "questions": questions})
        jobs += nuggets_jobs(dataset)
        jobs += judged_answers_jobs(dataset)
    for claims, generator in ACU_SCORED:
        job = {"dataset": claims, "generator": generator, "rule": "score_claims"}
        jobs.append(job)
    return jobs


def planned_prompts(wildcards):
    """The prompt files of these jobs."""
    templates = list(dict.fromkeys(map(study.template_of, study.asked_generators())))
    single = [q["of"]["template"] for many in QUESTIONS.values() for q in many]
    single += templates if BY_GENERATOR else []
    cells = [*files.prompts.each(study.contexts), files.zeroshot_prompts]
    claims = [
        {**of_set, **of_template}
        for of_set in ACU_SETS.values()
        for of_template in ACU_TEMPLATES
    ]
    brought = {"generator": study.imported_generators if study.judged_by else []}
    answered = [files.ANSWERED_WITH.format(generator=g) for g in brought["generator"]]
    return {
        "prompts": [
            p for c in cells for p in study.grid_paths(c, template=templates + answered)
        ],
        "answers": [
            p
            for c in [
                *files.answers.each(study.cells),
                *files.zeroshot_answers.each(study.zeroshot_cells),
            ]
            for p in study.grid_paths(c, **brought)
        ],
        "passages": study.grid_paths(files.imported_passages, **brought),
        "references": study.grid_paths(files.references) if study.judged_by else [],
        # Of lists that a generator writes, the plan counts as many nuggets as there may be.
        "own": study.grid_paths(
            files.nuggets,
            scorer=[s for s in NUGGETS_OF if s not in NUGGETS_WRITTEN_FOR],
        ),
        "single": study.grid_paths(
            files.single_prompts, template=list(dict.fromkeys(single))
        ),
        "checks": study.grid_paths(
            files.passage_checks_prompts, source=CHECKED_SOURCES
        ),
        "claims": files.claims.each(ACU_SETS.values()),
        "claim_prompts": files.claim_prompts.each(claims),
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
    "jobs": planned_jobs(),
    "seeds": study.grid["seeds"],
}


def planned_hash(wildcards):
    """Of all that is planned, but for the files' content."""
    return value_hash([PLANNED, planned_fingerprints(wildcards)])


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
    if BUDGET and rules & {job["rule"] for job in PLANNED["jobs"]}:
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
    "answers": files.answers,
    "passages": files.imported_passages,
    "references": files.references,
    "own": files.nuggets,
    "single": files.single_prompts,
    "checks": files.passage_checks_prompts,
    "claims": files.claims,
    "claim_prompts": files.claim_prompts,
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
    for job in PLANNED["jobs"]:
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
