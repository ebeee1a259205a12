"""Functions from wildcards and cells to files, used by the rules that are included after this."""

SECTION = "{dataset}_{generator}_{scorer}"


def index_definition(index):
    return RETRIEVER_KINDS.of(study.retriever(INDEXES[index])).index_definition()


def indexing_module(wildcards):
    return RETRIEVER_KINDS.module(study.retriever(INDEXES[wildcards.index]))


def corpus_module(wildcards):
    return DATASET_KINDS.module(study.dataset(CORPORA[wildcards.corpus]))


def retriever_module(wildcards):
    return RETRIEVER_KINDS.module(study.retriever(wildcards.retriever))


def retriever_threads(wildcards):
    return RETRIEVER_KINDS.of(study.retriever(wildcards.retriever)).threads


def claims_module(wildcards):
    return CLAIM_KINDS.module(study.config["claims"][wildcards.claims])


def claim_format_module(wildcards):
    return CLAIM_FORMATS.module(
        {"format": "druid"} | study.config["claims"][wildcards.claims]
    )


def index_receipt(dataset, definition):
    corpus = DATASET_KINDS.of(study.dataset(dataset)).corpus(dataset)
    return files.index.at(corpus=corpus, index=index_name(definition))


def index_receipts():
    """Those of all indexes that the grid's retrievers need."""
    return [files.index.at(corpus=c, index=index) for c in CORPORA for index in INDEXES]


def run_inputs(wildcards):
    """What a retriever's kind needs: queries always, then an index, judgements, other retrievers' runs or a file."""
    retriever = RETRIEVER_KINDS.of(study.retriever(wildcards.retriever))
    needed = {"queries": files.queries}
    needed["fetched"] = study.fetched("retrievers", wildcards.retriever)
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
    dataset, retrievers = wildcards.dataset, study.config["retrievers"]
    if not study.config["run_metadata"]:
        return None
    return describe_run(
        wildcards.retriever, retrievers, dataset, study.dataset(dataset)
    )


def without_lock(wildcards):
    """No file: the function is called when the jobs are known, and before Snakemake locks the folder.

    Targets that only look need no lock. With one, they would delete the lock of the run that they look at: Snakemake
    removes all locks of a folder at its end.
    """
    looking = {"status", "stale", "check_cache", "check_cluster"}
    snakemake_internals.leave_unlocked(workflow, looking)
    return []


def brought_answers(generator, dataset):
    """The files of imported answers, each with what its name says of them; and the grid's places."""
    kind = GENERATOR_KINDS.of(study.generator(generator))
    return kind.given(dataset, study.grid)


def answers_brought(wildcards):
    return brought_answers(wildcards.generator, wildcards.dataset)


def answer_inputs(wildcards):
    return [path for path, _ in answers_brought(wildcards)["files"]]


def all_brought(dataset):
    return [
        {"generator": name, **brought_answers(name, dataset)}
        for name in study.imported_generators
    ]


ENGINE = {**machine("engine"), "gpu": study.gpus}


def study_folder(name):
    """The results of a study by name, or a folder (a path with a slash); this study's are made where they are missing."""
    if "/" in name:
        return name.rstrip("/")
    return "<results>" if name == study.name else f"results/{name}"


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
    return CLAIM_KINDS.of(study.config["claims"][name]).files()


def judged(retriever):
    """Whether a retriever draws from the judgements."""
    return RETRIEVER_KINDS.of(study.retriever(retriever)).needs_qrels


def reproduction_results():
    """The pages and files that compare the study with published tables."""
    with on_terminal():
        common_rows(study)
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
