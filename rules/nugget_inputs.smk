"""What the rules of nuggets take: which scorers have lists, and what these are written from."""

from ragrelay.nuggets.prompts import load_nugget_template

NUGGETS_OF = {
    name: SCORER_KINDS.of(study.scorer(name))
    for name in study.grid["scorers"]
    if study.scorer(name)["kind"] == "nuggets"
}
# Of those whose lists a generator writes.
NUGGETS_WRITTEN_FOR = [name for name, one in NUGGETS_OF.items() if one.written_by]
NUGGET_WRITERS = [NUGGETS_OF[name].written_by for name in NUGGETS_WRITTEN_FOR]


@functools.cache
def nugget_template_parts(name):
    return vars(load_nugget_template(study.nugget_template_path(name)))


def nugget_writer(wildcards):
    return NUGGETS_OF[wildcards.scorer].written_by


def nugget_passages(wildcards):
    """The passages that lists are written from: judged ones, or a retriever's."""
    retriever = NUGGETS_OF[wildcards.scorer].retriever
    return files.contexts.at(retriever=retriever) if retriever else files.references
