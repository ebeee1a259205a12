"""Write CSV files with answers for people to score."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.people.compare import answers_of
from ragrelay.annexes.people.drawing import SYSTEM, drawn, few_lines, width_lines
from ragrelay.base.io.atomic_files import write_spreadsheet
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.score_files import ROWS, ScoreCells, ScoreScale, of_answers, placed_scores, read_score_rows


def to_score(
    files: Mapping[str, KeyedFiles],
    scored: Mapping[str, str | None],
    outputs: Mapping[str, str],
    scorer: Mapping[str, Any] | None,
    cells: Mapping[str, Any] | None,
    drawn_from: Sequence[Mapping[str, Any]],
    number: int,
    seed: int,
) -> list[str]:
    """Write a file for each dataset in ``outputs`` (columns drawing.COLUMNS), and return lines for the terminal.

    ``files``: the paths of `queries` and `answers`. ``scored``: each dataset's file with human scores, or None.
    ``cells``: keyword arguments for score_files.ScoreCells, which assigns scores to cells. ``drawn_from``: the cells
    from which answers are drawn.
    """
    scale = scorer["scale"] if scorer else [0.0, 1.0]
    of = pl.DataFrame([{name: cell[name] for name in SYSTEM} for cell in drawn_from]).unique()
    lines = []
    for key, path in files["queries"].keyed:
        dataset = key["dataset"]
        answers, file = answers_of(files["answers"].matching(dataset=dataset)).drop("words"), scored[dataset]
        rows = pl.DataFrame(schema=ROWS)
        if file is not None and scorer and cells and Path(file).is_file():
            of_file = read_score_rows(Path(file), ScoreScale((scale[0], scale[1]), scorer.get("measure")))
            rows, _ = of_answers(placed_scores(of_file, ScoreCells(**cells)).drop_nulls("value"), answers)
        table = drawn(answers, rows, pl.read_parquet(path, columns=["qid", "query"]), of, scale, number, seed)
        # 3.0 is 30 in a country with decimal commas.
        value = pl.col("value").cast(pl.String).str.strip_suffix(".0")
        texts = table.with_columns(_as_text("query"), _as_text("answer"), value)
        write_spreadsheet(texts, outputs[dataset], bom=True)
        new = table["value"].null_count()
        of_cell = min(answers.drop_nulls("answer").group_by(SYSTEM).len()["len"].to_list(), default=1)
        lines += [
            f"{new} answers of {dataset} to score, after {table.height - new} scores: {outputs[dataset]}",
            *few_lines(dataset, table, of, of_cell),
            *width_lines(dataset, [cell["value"].to_numpy() for cell in rows.partition_by(SYSTEM)], of_cell),
        ]
    return lines


def _as_text(column: str) -> pl.Expr:
    """Put an apostrophe before texts that a spreadsheet would convert to a number, a date or a truth value."""
    text = pl.col(column)
    words = text.str.count_matches(r"\p{L}{2,}")
    changed = text.str.contains(r"\d") & (words <= 1) & (text.str.len_chars() <= 30)
    return pl.when(changed | text.str.contains(r"(?i)^(true|false)$")).then("'" + text).otherwise(text).alias(column)
