"""Functions from wildcards to files, used by the rules of annotation sources."""

from ragrelay.vocabulary.names import UNSEEN


def lowest_grade_of(wildcards):
    return min(study.grades(wildcards.dataset).values())


def trust_in_judges():
    """What the page says of judges: the configuration's threshold and statement, and who judges its own answers."""
    agreement, grid = study.config["agreement"], study.grid
    own = {
        name: [
            one
            for one in source.judges(grid["generators"])
            if one in grid["generators"]
        ]
        for name, source in study.source_parts.items()
    }
    return {
        "least_kappa": agreement["least_kappa"],
        "random_sample": agreement["random_sample"],
        "own": {name: judges for name, judges in own.items() if judges},
    }


def made_labels(wildcards):
    """The tables that annotation sources' labels are read from, by the job that makes them."""
    made = {job: [] for job in LABEL_JOBS}
    for name, source in study.source_parts.items():
        if asked := source.job(name, wildcards.scorer, wildcards.generator):
            made[asked[0]].append(LABEL_JOBS[asked[0]].at(**asked[1]))
    return made


def source_modules():
    """Functions to the modules of the kinds of sources that labels are made by, combinations among them."""
    definitions = study.selected()["annotations"].values()
    modules = sorted({SOURCE_KINDS.module(definition) for definition in definitions})
    return [lambda wildcards, module=module: module for module in modules]


def annotated(pattern):
    """``pattern`` over the grid; asked for without annotation sources it is an error."""

    def paths(wildcards):
        with on_terminal():
            if not study.grid["annotations"]:
                expected = one_of(study.config["annotations"])
                raise InputError("config key 'grid.annotations'", "none", expected)
        return study.grid_paths(pattern)

    return paths


def all_reference_sets(wildcards):
    """Names of the sets that P is taken with, the unseen ones among them."""
    names = list(study.reference_sets(wildcards.dataset, wildcards.scorer))
    judged = study.scorer(wildcards.scorer)["references"] == "judged"
    return [*names, *(name + UNSEEN for name in names if judged)]
