"""Functions from wildcards to files, used by the rules of annotation sources."""

from ragrelay.vocabulary.references import UNSEEN


def single_prompts_of(wildcards):
    """Prompts with one passage each, of all retrievers, as a generator's template lays them out."""
    pattern = SINGLE_PROMPTS.replace("{template}", template_of(wildcards.generator))
    return of_retrievers(pattern)


def judged_prompts(wildcards):
    template = STUDY.config["annotations"][wildcards.source]["prompt"]
    return of_retrievers(SINGLE_PROMPTS.replace("{template}", template))


def made_labels(wildcards):
    """The files of labels that annotation sources need, by source."""
    files, folder = {}, "<results>/{dataset}/annotations"
    for name in STUDY.annotation_parts():
        definition = STUDY.config["annotations"][name]
        if definition["kind"] == "erag":
            scorer = definition.get("scorer", wildcards.scorer)
            files[name] = f"{folder}/erag/{scorer}/{{generator}}.parquet"
        elif definition["kind"] == "llm":
            judge = definition.get("generator", wildcards.generator)
            files[name] = f"{folder}/llm/{name}/{judge}.parquet"
    return files


def annotated(pattern):
    """``pattern`` over the grid; asked for without annotation sources it is an error."""

    def paths(wildcards):
        with on_terminal():
            if not STUDY.grid["annotations"]:
                expected = one_of(STUDY.config["annotations"])
                raise InputError("config key 'grid.annotations'", "none", expected)
        return grid_paths(pattern)

    return paths


def all_reference_sets(wildcards):
    """Names of the sets that P is taken with, the unseen ones among them."""
    names = list(STUDY.reference_sets(wildcards.dataset, wildcards.scorer))
    gold = STUDY.scorer(wildcards.scorer)["references"] == "gold"
    return names if gold else [*names, *(name + UNSEEN for name in names)]
