"""A preview of a study that is not finished: the study of the cells that have scores."""

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ragrelay.errors import InputError
from ragrelay.vocabulary.names import ZEROSHOT

SECTIONS = ("datasets", "scorers", "generators", "retrievers")
LEFT_OUT = ("acu", "budget", "compare", "pathvars", "prediction", "published", "questions")
"""Keys for other targets than the report, or for what the scores of a preview need not have."""
MOST_NAMED = 5


class Scored(NamedTuple):
    """The scores of a retriever's answers, or of the zero-shot answers, and whether they are there."""

    dataset: str
    scorer: str
    generator: str
    retriever: str
    there: bool


def preview_grid(cells: Iterable[Scored]) -> dict[str, list[str]]:
    """The names of each of SECTIONS for which every cell is there, in the order of ``cells``.

    The name with the largest share of missing cells is left out, again and again, until no cell is missing. Zero-shot
    answers count for their generator. Raises InputError where nothing is left.
    """
    left = list(cells)
    while lacking := [cell for cell in left if not cell.there]:
        missing, of_all = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
        for counter, counted in ((missing, lacking), (of_all, left)):
            counter.update((place, name) for cell in counted for place, name in enumerate(cell[:4]) if name != ZEROSHOT)
        worst = max(missing, key=lambda named: (missing[named] / of_all[named], named[0], missing[named]))
        left = [cell for cell in left if cell[worst[0]] != worst[1]]
    grid = {
        section: [name for name in dict.fromkeys(str(cell[place]) for cell in left) if name != ZEROSHOT]
        for place, section in enumerate(SECTIONS)
    }
    if not all(grid.values()):
        expected = "zero-shot answers and one retriever's with scores: ask again when the run has made more"
        raise InputError("snakemake preview", "no retriever with all scores", expected)
    return grid


def preview_config(config: Mapping[str, Any], cells: Collection[Scored]) -> dict[str, Any]:
    """The configuration of the study ``<study>-preview``, whose cells are in the cache.

    ``config``: the whole study's, as users wrote it. The first generator's ``notice`` says on the page what is missing.
    Raises InputError where no retriever has all its scores.
    """
    grid = preview_grid(cells)
    made = {key: copy.deepcopy(value) for key, value in config.items() if key not in LEFT_OUT}
    made |= {"study": f"{config['study']}-preview", "context_use": False, "cache_mode": "read-only"}
    made["grid"] |= {**grid, "annotations": []}
    primary = made.get("analysis", {}).get("primary", {})
    names = {"retriever": grid["retrievers"], "reference": grid["retrievers"], "scorer": grid["scorers"]}
    if any(key in primary and primary[key] not in known for key, known in names.items()):
        del made["analysis"]["primary"]
    generator = made["generators"][grid["generators"][0]]
    generator["notice"] = " ".join(filter(None, [missing_note(cells, grid), generator.get("notice")]))
    return made


def missing_note(cells: Collection[Scored], grid: Mapping[str, Collection[str]]) -> str:
    """One sentence on what a preview of ``grid`` lacks of ``cells``."""
    lacking = []
    for place, section in enumerate(SECTIONS):
        names = dict.fromkeys(name for *key, _ in cells if (name := str(key[place])) not in (ZEROSHOT, *grid[section]))
        shown = [*names][:MOST_NAMED]
        more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
        lacking += [f"{section} {', '.join(shown)}{more}"] * bool(names)
    of_retrievers = sum(cell.there for cell in cells)
    said = f"it lacks {'; '.join(lacking)}" if lacking else "every cell has scores"
    return f"Preview of {of_retrievers} of {len(cells)} tables of scores: {said}."
