"""Preview an unfinished study: reduce its configuration to the cells that already have scores."""

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ragrelay.errors import InputError
from ragrelay.vocabulary.names import ZEROSHOT

SECTIONS = ("datasets", "scorers", "generators", "retrievers")
LEFT_OUT = ("acu", "budget", "compare", "pathvars", "prediction", "published", "questions")
"""Keys for targets other than the report, or whose results may be missing when the scores exist."""
MOST_NAMED = 5


class Scored(NamedTuple):
    """A table of scores of a retriever's answers, or of the zero-shot answers, and whether it exists (``there``)."""

    dataset: str
    scorer: str
    generator: str
    retriever: str
    there: bool


def preview_grid(cells: Iterable[Scored]) -> dict[str, list[str]]:
    """Return names for each of SECTIONS such that all of their cells exist, in the order of ``cells``.

    The name with the largest share of missing cells is left out repeatedly, until no cell is missing. Zero-shot answers
    count for their generator. Raises InputError if nothing is left.
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
        expected = "scored answers, zero-shot and of one retriever; try again when the run has got further"
        raise InputError("snakemake preview", "no retriever with all scores", expected)
    return grid


def preview_config(config: Mapping[str, Any], cells: Collection[Scored]) -> dict[str, Any]:
    """Return the configuration of the study ``<study>-preview``, whose cells are in the cache.

    ``config``: the whole study's, as users wrote it. The first generator's ``notice``, which the page shows, says what
    is missing. Raises InputError if no retriever has all its scores.
    """
    grid = preview_grid(cells)
    preview = {key: copy.deepcopy(value) for key, value in config.items() if key not in LEFT_OUT}
    preview |= {"study": f"{config['study']}-preview", "context_use": False, "cache_mode": "read-only"}
    preview["grid"] |= {**grid, "annotations": []}
    primary = preview.get("analysis", {}).get("primary", {})
    names = {"retriever": grid["retrievers"], "reference": grid["retrievers"], "scorer": grid["scorers"]}
    if any(key in primary and primary[key] not in known for key, known in names.items()):
        del preview["analysis"]["primary"]
    generator = preview["generators"][grid["generators"][0]]
    generator["notice"] = " ".join(filter(None, [missing_note(cells, grid), generator.get("notice")]))
    return preview


def missing_note(cells: Collection[Scored], grid: Mapping[str, Collection[str]]) -> str:
    """Return a sentence on the ``cells`` that a preview of ``grid`` lacks."""
    lacking = []
    for place, section in enumerate(SECTIONS):
        names = dict.fromkeys(name for *key, _ in cells if (name := str(key[place])) not in (ZEROSHOT, *grid[section]))
        shown = [*names][:MOST_NAMED]
        more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
        lacking += [f"{section} {', '.join(shown)}{more}"] * bool(names)
    n_scored = sum(cell.there for cell in cells)
    remark = f"it lacks {'; '.join(lacking)}" if lacking else "every cell has scores"
    return f"Preview of {n_scored} of {len(cells)} tables of scores: {remark}."
