"""Functions from the registry of figures and tables (ragrelay/report/outputs.py) to files of rules."""

from snakemake import io as snakemake_io

from ragrelay.display.outputs import KEYS, available, file_name, modules
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.outputs import SOURCES as TABLE_SOURCES
from ragrelay.reproduction.published import LAYOUTS

# Whether there is more than one answer to each of the study's questions.
SEVERAL = (
    len(study.grid["retrievers"]) > 1
    and max(len(study.grid[section]) for section in ("datasets", "generators")) > 1
)
PUBLISHED = study.config.get("published") or {}

# Under another name, because a line that starts with "report" is a keyword to Snakemake.
captioned = snakemake_io.report


def outputs_of(of, kind=None):
    """The outputs of a section, a group, a scorer's annotations or the claims that the configuration has sources for."""
    present = {
        "": True,
        "several": SEVERAL,
        "context_use": study.config["context_use"],
        "bias_checks": bool(study.checked_scorers),
        "annotations": bool(study.grid["annotations"]),
        "annotations.bias_checks": bool(study.checked_sources),
        "acu": study.config.get("acu"),
        "compare": study.config.get("compare"),
        **{f"published.{kind}": kind in PUBLISHED for kind in LAYOUTS},
    }
    known = [
        name for name, source in TABLE_SOURCES.items() if present[source.only_with]
    ]
    return [
        output
        for output in available(OUTPUTS, known)
        if output.of == of and kind in (None, output.kind)
    ]


def report_files(outputs, parts=None):
    """The files of ``outputs``, one per ending and part (names of KEYS), or patterns of them."""
    return [
        captioned(
            f"<results>/report/{output.kind}s/{file_name(output, ending, part)}",
            caption=f"../workflow/report/captions/{output.kind}_{output.name}.rst",
            category=f"{output.kind.capitalize()}s",
            labels={
                output.kind: output.name,
                **{key: part[key] for key in KEYS[output.of]},
                "format": ending,
            },
        )
        for output in outputs
        for ending in output.endings
        for part in parts or [{key: f"{{{key}}}" for key in KEYS[output.of]}]
    ]


def captioned_page(path, caption, name):
    return captioned(
        path,
        caption=f"../workflow/report/{caption}.rst",
        category="Page",
        labels={"page": name},
    )


def comparison_files(pair):
    """The page and tables of a comparison; ``pair``: both studies' names."""
    paths = {"page": files.comparison}
    return {
        name: captioned(
            path.replace("{pair}", pair),
            caption="../workflow/report/compare.rst",
            category="Comparison",
            labels={"comparison": name.removeprefix("compared_")},
        )
        for name, path in {**paths, **files.made_by("compare_studies")}.items()
    }


def notices_of(generators):
    """What a reader of a page on the answers of ``generators`` must know."""
    found = [study.generator(name).get("notice") for name in sorted(generators)]
    return [notice for notice in found if notice]


def judge_notices():
    """What a reader must know of judges of answers: which of them judge their own."""
    return [
        f"Scorer {scorer} asks {judge} about the answers that it made itself: a judge may favour its own."
        for scorer, judge in study.judged_by.items()
        if judge in study.grid["generators"]
    ]


def output_patterns():
    """Regular expressions of all that rules make, with the present configuration's names for wildcards."""
    return [
        made.regex().pattern
        for each in workflow.rules
        for made in [*each.output, *([each.benchmark] if each.benchmark else [])]
    ]
