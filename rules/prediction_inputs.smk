"""What the rules of prediction share: whose vectors a retriever's predictors use, and modules of predictors."""

from ragrelay.prediction.checks import RERANKERS, quality_file
from ragrelay.prediction.subject import Settings

# A job's code has the predictors, which are found by their folder.
PREDICTOR_MODULES = sorted(
    f"ragrelay.prediction.predictors.{path.stem}"
    for path in (ROOT / "workflow/scripts/ragrelay/prediction/predictors").glob("*.py")
)


def each_dataset(patterns):
    """A function from wildcards to ``patterns`` of all datasets; of a single one none is needed."""

    def paths(wildcards):
        datasets = study.grid["datasets"]
        return [
            pattern.at(
                dataset=name,
                generator=wildcards.generator,
                scorer=wildcards.scorer,
            )
            for name in datasets
            for pattern in patterns
        ]

    return paths


def vector_source(retriever):
    """The retriever whose dense vectors serve ``retriever``: itself, the grid's first dense one, or None."""
    dense = [
        n for n in study.grid["retrievers"] if study.retriever(n)["kind"] == "dense"
    ]
    return retriever if retriever in dense else next(iter(dense), None)


def vector_definition(wildcards):
    source = vector_source(wildcards.retriever)
    return study.retriever(source) if source else None


def vector_index(wildcards):
    """The receipt of the index with these vectors; none where there is none."""
    definition = vector_definition(wildcards)
    if definition is None:
        return []
    index = RETRIEVER_KINDS.of(definition).index_definition()
    return [index_receipt(wildcards.dataset, index)]


def fetched_for_vectors(wildcards):
    source = vector_source(wildcards.retriever)
    return study.fetched("retrievers", source) if source else []


def shown_contexts(wildcards):
    """The contexts of imported answers; none of others, which have the first k passages."""
    brought = wildcards.generator in study.imported_generators
    return files.imported_contexts.each(study.contexts if brought else [])


ASKED_FOR = study.config["prediction"]


def judged_labels(wildcards):
    """The labels of the judge for this generator; none where predictors use no judge."""
    if ASKED_FOR["judge"] is None:
        return []
    source = study.source_parts[ASKED_FOR["judge"]]
    _, names = source.job(ASKED_FOR["judge"], "", wildcards.generator)
    return [files.labels_by_judge.at(**names)]


def quality_contexts(wildcards):
    """What the contexts of all retrievers, and of imported answers, are made of."""
    own = [
        files.imported_passages.at(generator=name) for name in study.imported_generators
    ]
    made = [files.contexts] if study.asked_generators() else []
    return [
        path for pattern in made + own for path in pattern.each(study.each_retriever)
    ]


# What predictors look at where the study has it.
GIVEN = {
    "uses": [files.context_use] if study.config["context_use"] else [],
    "likelihoods": (
        [files.context_likelihoods] if ASKED_FOR["context_perplexity"] else []
    ),
    **{
        key: [files.reranked.at(reranker=ASKED_FOR[key])] if ASKED_FOR[key] else []
        for key in RERANKERS
    },
    "shown": shown_contexts,
    "judge": judged_labels,
    "quality": lambda wildcards: quality_file(ASKED_FOR, wildcards.dataset) or [],
    "agreement": [files.agreement.at(scorer=n) for n in ASKED_FOR["agreement_scorers"]],
}


# What every job of predictors has.
PREDICTING = {
    "patterns": {
        "answers": files.answers,
        "agreement": files.agreement,
        "shown": files.imported_contexts,
    },
    "contexts": [(context["ordering"], context["k"]) for context in study.contexts],
    "settings": {name: ASKED_FOR[name] for name in Settings.__dataclass_fields__},
    "cache_dir": study.cache_dir,
}
