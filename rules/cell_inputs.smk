"""Functions from wildcards to the files of cells: prompts and answers, which are most of all inputs."""

# The rule that makes the files of such a function. For others, Snakemake looks through the patterns of all rules.
MAKERS = {}


def from_rule(name, function):
    """``function``, of which the rule of this name makes all files, unless answers are brought along."""
    if not BROUGHT:
        MAKERS[function] = name
    return function


def prompts_of(pattern, cells):
    return lambda wildcards: pattern.at(template=template_of(wildcards.generator)).each(
        cells
    )


def prompts_with_context(cells):
    return from_rule("build_prompts", prompts_of(files.prompts, cells))


def answers_with_context(cells):
    paths = files.answers.each(cells)
    return from_rule("view_answers", lambda wildcards: paths)
