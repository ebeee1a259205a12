"""Functions from wildcards and cells to files, used by the rules that are included after this."""

SECTION = "{dataset}_{generator}_{scorer}"


def index_definition(index):
    return RETRIEVER_KINDS.of(STUDY.retriever(INDEXES[index])).index_definition()


def indexing_module(wildcards):
    return RETRIEVER_KINDS.module(STUDY.retriever(INDEXES[wildcards.index]))


def corpus_module(wildcards):
    return DATASET_KINDS.module(STUDY.dataset(CORPORA[wildcards.corpus]))


def retriever_module(wildcards):
    return RETRIEVER_KINDS.module(STUDY.retriever(wildcards.retriever))


def claims_module(wildcards):
    return CLAIM_KINDS.module(STUDY.config["claims"][wildcards.claims])


def claim_format_module(wildcards):
    return CLAIM_FORMATS.module(
        {"format": "druid"} | STUDY.config["claims"][wildcards.claims]
    )


def index_receipt(dataset, definition):
    corpus = DATASET_KINDS.of(STUDY.dataset(dataset)).corpus(dataset)
    return files.index.at(corpus=corpus, index=index_name(definition))


def index_receipts():
    """Those of all indexes that the grid's retrievers need."""
    return [files.index.at(corpus=c, index=index) for c in CORPORA for index in INDEXES]


def run_inputs(wildcards):
    """What a retriever's kind needs: queries always, then an index, judgements, other retrievers' runs or a file."""
    retriever = RETRIEVER_KINDS.of(STUDY.retriever(wildcards.retriever))
    needed = {"queries": files.queries}
    needed["fetched"] = fetched("retrievers", wildcards.retriever)
    if (index := retriever.index_definition()) is not None:
        needed["index"] = index_receipt(wildcards.dataset, index)
    if retriever.needs_qrels:
        needed["qrels"] = files.qrels
    stages = [{"retriever": stage} for _, stage in retriever.stages()]
    needed["runs"] = files.run.each(stages)
    needed["runs"] += retriever.files(wildcards.dataset)
    needed["answers"] = [str(path) for path, _ in retriever.answers(wildcards.dataset)]
    return needed


def run_metadata(wildcards):
    """What the run file's header says; None without one."""
    dataset, retrievers = wildcards.dataset, STUDY.config["retrievers"]
    if not STUDY.config["run_metadata"]:
        return None
    return describe_run(
        wildcards.retriever, retrievers, dataset, STUDY.dataset(dataset)
    )


def without_lock(wildcards):
    """No file: the function is called when the jobs are known, and before Snakemake locks the folder.

    Targets that only look need no lock. With one, they would delete the lock of the run that they look at: Snakemake
    removes all locks of a folder at its end.
    """
    snakemake_internals.leave_unlocked(workflow, {"status", "stale", "check_cache"})
    return []


def passages_of(wildcards):
    """Pattern of the passages that a generator's answers were made with, by retriever."""
    brought = wildcards.generator in BROUGHT
    return (
        files.imported_passages.at(generator=wildcards.generator)
        if brought
        else files.contexts
    )


def brought_answers(generator, dataset):
    """The files of answers that are brought along, each with what its name says of them; and the grid's places."""
    kind = GENERATOR_KINDS.of(STUDY.generator(generator))
    return kind.given(dataset, STUDY.grid)


def answers_brought(wildcards):
    return brought_answers(wildcards.generator, wildcards.dataset)


def answer_inputs(wildcards):
    return [path for path, _ in answers_brought(wildcards)["files"]]


def all_brought(dataset):
    return [{"generator": name, **brought_answers(name, dataset)} for name in BROUGHT]


def rankings_of(wildcards):
    """What retrievers found, where answers may be missing for another reason."""
    missing = may_miss_answers(STUDY.generator(wildcards.generator))
    return files.contexts.each(EACH_RETRIEVER if missing else [])


def thinking_of(wildcards):
    return thought_marks(STUDY.generator(wildcards.generator))


def shard_keys(dataset):
    return [{"shard": shard} for shard in shards(dataset)]


def receipts_of(pattern):
    return lambda wildcards: pattern.each(shard_keys(wildcards.dataset))


def gpus(wildcards):
    """GPUs of one engine; none where the model is served elsewhere."""
    return GENERATOR_KINDS.of(STUDY.generator(wildcards.generator)).gpus()


ENGINE = {**machine("engine"), "gpu": gpus}


def generator_named(name):
    """A generator's definition without what only the plan or the page reads."""
    return {
        key: value
        for key, value in STUDY.generator(name).items()
        if key not in ("tokens_per_second", "notice")
    }


def generator_of(wildcards):
    return generator_named(wildcards.generator)


def fetched_for_generator(wildcards):
    return fetched("generators", wildcards.generator)


def fetched_for_scorer(wildcards):
    return fetched("scorers", wildcards.scorer)


def scorer_of(wildcards):
    """The scorer's definition without what only the analysis or the checks of a judge read."""
    return {
        key: value
        for key, value in STUDY.scorer(wildcards.scorer).items()
        if key not in ("utility", "bias_checks")
    }


def scorer_module(wildcards):
    return SCORER_KINDS.module(STUDY.scorer(wildcards.scorer))


def references_of(wildcards):
    """What the scorer compares answers with: judged passages, or the queries' gold answers."""
    gold = STUDY.scorer(wildcards.scorer)["references"] == "gold"
    return files.queries if gold else files.references


def judge_of(wildcards):
    return JUDGED_BY[wildcards.scorer]


def judge_definition(wildcards):
    return STUDY.generator(judge_of(wildcards))


def judged_inputs(wildcards):
    """What a judge is asked about: answers of a retriever, or zero-shot, their passages, and what they are judged by."""
    scorer = SCORER_KINDS.of(STUDY.scorer(wildcards.scorer))
    alone = wildcards.retriever == "zeroshot"
    cells, contexts = (
        (ZEROSHOT_CELLS, ZEROSHOT_CELLS[:1]) if alone else (CELLS, CONTEXTS)
    )
    beside = [] if alone or scorer.references != "judged" else ZEROSHOT_CELLS
    return {
        "answers": files.answers.each(cells),
        "prompts": prompts_of(files.prompts, contexts)(wildcards),
        "zeroshot": files.zeroshot_answers.each(beside),
        "contexts": [] if alone else [passages_of(wildcards)],
        "references": [files.references] if scorer.references == "judged" else [],
        "own": scorer.own_inputs(wildcards.dataset),
    }


def near_copy_of(scorer):
    """The threshold of near copies, for scorers that leave them out of unseen references."""
    judged = STUDY.scorer(scorer)["references"] == "judged"
    return STUDY.config["near_copy"] if judged else None


def checked_inputs(wildcards):
    """What a judge is asked about again: answers of all retrievers, and what they are judged by."""
    scorer = SCORER_KINDS.of(STUDY.scorer(wildcards.scorer))
    cells = [{**of, **cell} for of in EACH_RETRIEVER for cell in CELLS]
    contexts = [{**of, **context} for of in EACH_RETRIEVER for context in CONTEXTS]
    return {
        "answers": files.answers.each(cells),
        "prompts": prompts_of(files.prompts, contexts)(wildcards),
        "contexts": passages_of(wildcards).each(EACH_RETRIEVER),
        "references": [files.references] if scorer.references == "judged" else [],
        "own": scorer.own_inputs(wildcards.dataset),
        "judged": files.judged_answers_receipt.each(EACH_RETRIEVER),
    }


def whole_judge_template(scorer):
    placeholders = SCORER_KINDS.of(STUDY.scorer(scorer)).placeholders()
    path = STUDY.judge_template_path(STUDY.scorer(scorer)["prompt"])
    return vars(load_judge_template(path, placeholders))


def judge_template_parts(scorer):
    """The template's parts without what only the checks of a judge ask."""
    whole = whole_judge_template(scorer)
    return {name: part for name, part in whole.items() if name != "swapped"}


def study_folder(name):
    """The results of a study by name, or a folder (a path with a slash); this study's are made where they are missing."""
    if "/" in name:
        return name.rstrip("/")
    return "<results>" if name == STUDY.name else f"results/{name}"


def compared_studies():
    from ragrelay.compare.studies import check_finished  # here, as it loads polars

    with on_terminal():
        if not SIDES:
            expected = "{before: <study>, after: <study>}"
            raise InputError("config key 'compare'", "none", expected)
        for side, folder in zip(("before", "after"), SIDES):
            if folder != "<results>":
                check_finished(f"config key 'compare.{side}'", COMPARE[side], folder)
    return SIDES


def claim_files(name):
    """The files of claims; none of a hub's."""
    return CLAIM_KINDS.of(STUDY.config["claims"][name]).files()


def claim_template_parts(name):
    return vars(load_claim_template(STUDY.claim_template_path(name)))


def likelihoods_of(generator):
    """The fingerprint of a generator's teacher-forced scores."""
    return likelihood_fingerprint(STUDY.generator(generator), cache_dir=STUDY.cache_dir)


def texts_likelihoods_of(wildcards):
    """The same of the generator without its chat."""
    definition = raw(STUDY.generator(wildcards.generator))
    return likelihood_fingerprint(definition, cache_dir=STUDY.cache_dir)


def judged(retriever):
    """Whether a retriever draws from the judgements."""
    return RETRIEVER_KINDS.of(STUDY.retriever(retriever)).needs_qrels


def reproduction_results():
    """The pages and files that compare the study with published tables."""
    with on_terminal():
        common_rows(STUDY)
    of_grid = [name for name in REPRODUCED if name != "reproduced_claims"]
    pages = [files.report] * bool(of_grid) + [files.acu_report] * (
        "claims" in PUBLISHED
    )
    return [*pages, *report_files(outputs_of("reproduction"), [{}])]


def prediction_results():
    figures = report_files(outputs_of("prediction", "figure"), SECTIONS)
    return [files.predict_report, *figures, *sum(PREDICTED_TABLES.values(), [])]


def acu_results():
    with on_terminal():
        if not ACU:
            expected = "{claims: [...], prompts: [...], generators: [...]}"
            raise InputError("config key 'acu'", "none", expected)
    figures = report_files(outputs_of("claims", "figure"), [{}])
    return [files.acu_report, *figures, *files.made_by("analyse_acu").values()]
