"""What the rules of prediction share: whose vectors a retriever's predictors use, and modules of predictors."""

# A job's code has the predictors, which are found by their folder.
PREDICTOR_MODULES = sorted(
    f"ragrelay.prediction.predictors.{path.stem}"
    for path in (ROOT / "workflow/scripts/ragrelay/prediction/predictors").glob("*.py")
)


def vector_source(retriever):
    """The retriever whose dense vectors serve ``retriever``: itself, the grid's first dense one, or None."""
    dense = [n for n in RETRIEVERS if STUDY.retriever(n)["kind"] == "dense"]
    return retriever if retriever in dense else next(iter(dense), None)


def vector_definition(wildcards):
    source = vector_source(wildcards.retriever)
    return STUDY.retriever(source) if source else None


def vector_index(wildcards):
    """The receipt of the index with these vectors; none where there is none."""
    definition = vector_definition(wildcards)
    if definition is None:
        return []
    index = RETRIEVER_KINDS.of(definition).index_definition()
    return [index_receipt(wildcards.dataset, index)]


def fetched_for_vectors(wildcards):
    source = vector_source(wildcards.retriever)
    return fetched("retrievers", source) if source else []


# What every job of predictors has.
PREDICTING = {
    "patterns": {"answers": ANSWERS},
    "contexts": [(context["ordering"], context["k"]) for context in CONTEXTS],
    "settings": STUDY.config["prediction"],
    "cache_dir": STUDY.cache_dir,
}
