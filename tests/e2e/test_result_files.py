"""The files of a finished study against their declarations: every file is declared, with exactly its columns."""

import re

import polars as pl
from ragrelay.base.vocabulary.columns import STUDY_PART
from ragrelay.execution.study.files import StudyFile, result_files
from ragrelay.report.display.outputs import resolve

from tests.support.sandbox import Sandbox


def pattern(file: StudyFile) -> re.Pattern[str]:
    """Matches paths of the file: a name in braces is a part of a path, or one of those between bars."""
    parts = re.split(r"\{([^}]*)\}", file.path)
    return re.compile("".join(
        re.escape(part) if place % 2 == 0 else f"(?:{part})" if "|" in part else
        ".+" if file.path.startswith("benchmarks") else "[^/]*" for place, part in enumerate(parts)
    ))  # fmt: skip


def files_with_declared_columns(study: Sandbox) -> int:
    """How many tables of the study have exactly their columns; all files must be declared."""
    measures = study.config["grid"].get("measures", ["nDCG"])
    declared = [(pattern(file), file) for file in result_files()]
    read = 0
    for path in sorted(path for path in study.results.rglob("*") if path.is_file()):
        name = path.relative_to(study.results).as_posix()
        if path.name.startswith("."):
            continue
        found = [file for matched, file in declared if matched.fullmatch(name)]
        assert found, f"{name} is not in docs/reference/results*.md"
        if found[0].columns:
            columns = resolve(found[0].columns)
            names = [*STUDY_PART, *(name for name in columns if name not in STUDY_PART)] if found[0].part else columns
            frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
            absent = {name for name, column in columns.items() if column.optional} - set(frame.columns)
            expected = [
                name for column in names if column not in absent
                for name in (measures if "{" in column else [column])
            ]  # fmt: skip
            assert frame.columns == expected, name
            read += 1
    return read


def test_every_file_is_declared_and_has_the_declared_columns(finished: Sandbox) -> None:
    assert files_with_declared_columns(finished) > 50
