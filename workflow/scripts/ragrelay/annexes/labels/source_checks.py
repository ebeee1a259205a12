"""Check that a study's annotation sources fit the grid and one another."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.labels.judge_source import JudgeSource
from ragrelay.annexes.labels.source import ANNOTATION_KINDS, PEOPLE_KINDS, label_cutoffs
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.collection.source import check_gold
from ragrelay.generation.generator import check_judge
from ragrelay.prompting.templates import load_template


def check_annotations(config: Mapping[str, Any], study: CheckedStudy) -> None:
    """Raise InputError if the study can't use one of the grid's sources. ``config``: configuration with defaults."""
    grid, catalogue = config["grid"], config["annotations"]
    for name in grid["annotations"]:
        _check_source(name, study)
    _check_agreement(config["agreement"], catalogue, grid["annotations"])
    if not grid["annotations"]:
        return
    depth = config["annotation_depth"]
    if depth > config["context_depth"]:
        expected = f"at most {config['context_depth']} (context_depth)"
        raise InputError("config key 'annotation_depth'", str(depth), expected)
    if not label_cutoffs(grid["k"], depth):
        expected = f"a k from 2 to {depth} (annotation_depth), because grid.annotations is set"
        raise InputError("config key 'grid.k'", ", ".join(map(str, grid["k"])), expected)
    if DESCENDING not in grid["orderings"]:
        found, expected = ", ".join(grid["orderings"]), f"{DESCENDING} as well, because grid.annotations is set"
        raise InputError("config key 'grid.orderings'", found, expected)


def _check_source(name: str, study: CheckedStudy) -> None:
    """Raise InputError if the source, or one of its parts, lacks gold answers, a judge or what its kind requires."""
    source, place = ANNOTATION_KINDS.of(study.config["annotations"][name]), f"config key 'annotations.{name}"
    source.check(place, study)
    if source.needs_gold:
        check_gold(study, f"gold answers, which annotations.{name} reads")
    if isinstance(source, JudgeSource):
        path = study.template_path(source.prompt)
        for judge in source.judges(study.grid.generators):
            template = functools.partial(load_template, path, study.folder)
            check_judge(f"{place}.generator'", judge, template, study, source.begins())
    for part in source.parts(name):
        if part != name:
            _check_source(part, study)


def _check_agreement(agreement: Mapping[str, object], catalogue: Mapping[str, Any], names: Sequence[str]) -> None:
    """Check that human labels come from a graded source in the grid."""
    name = agreement.get("people")
    graded = [source for source in names if catalogue[source]["kind"] in PEOPLE_KINDS]
    if name is not None and name not in graded:
        expected = one_of(graded, name, what=f"a source in grid.annotations whose kind is {' or '.join(PEOPLE_KINDS)}")
        raise InputError("config key 'agreement.people'", repr(name), expected)
    if agreement["random_sample"] and name is None:
        found = "true without agreement.people"
        raise InputError("config key 'agreement.random_sample'", found, "key agreement.people (human labels)")
