"""Build a table of means for each model question that isn't shown elsewhere on the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.report.display.numbers import count, number
from ragrelay.report.display.tables import Column, Table

ANCHOR = "questions"


@dataclass(frozen=True)
class ShownQuestion:
    """A model question's table of means. ``sentence`` explains the table; ``file`` is the results' path pattern."""

    heading: str
    sentence: str
    about: str
    file: str
    table: Table


def read_questions(declared: Iterable[Mapping[str, Any]], files: Sequence[str]) -> list[ShownQuestion]:
    """Read the results of model questions, and build a table of means for each question.

    ``declared``: each question's heading, sentence, about, file (path pattern) and number of files. ``files``: paths.
    """
    shown, remaining = [], list(files)
    for question in declared:
        paths, remaining = remaining[: question["files"]], remaining[question["files"] :]
        table = _means_table(question["file"], paths)
        heading, sentence, about, file = (question[name] for name in ("heading", "sentence", "about", "file"))
        shown.append(ShownQuestion(heading, sentence, about, file, table))
    return shown


def _means_table(pattern: str, paths: Iterable[str]) -> Table:
    """Show a row per file: its wildcards, its number of rows, and the mean of each float or boolean column.

    Integers, such as k and seed, are keys and have no mean. Means skip nulls; *missing* counts rows with a null in any
    averaged column.
    """
    frames = [(key, pl.read_parquet(path, glob=False)) for key, path in of_pattern(pattern, paths).keyed]
    numeric = [name for name, dtype in frames[0][1].schema.items() if dtype.is_float() or dtype == pl.Boolean]
    keys = list(frames[0][0])
    missing = [frame.filter(pl.any_horizontal(pl.col(numeric).is_null())).height for _, frame in frames]
    columns = [*(Column(key, filtered=True) for key in keys), Column("rows", True)]
    columns += [Column("missing", True)] if any(missing) else []
    columns += [Column(f"mean {name.replace('_', ' ')}", True) for name in numeric]
    rows = [
        [*map(str, key.values()), count(frame.height), *([count(n_missing)] if any(missing) else []),
         *(number(mean) for mean in frame.select(pl.col(numeric).cast(pl.Float64).mean()).row(0))]
        for (key, frame), n_missing in zip(frames, missing, strict=True)
    ]  # fmt: skip
    return Table(columns, rows)
