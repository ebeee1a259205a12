"""Read answers' scores from a file."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, Text, file_of
from ragrelay.scoring.scorer import Scorer

SET: Literal["given"] = "given"
"""The reference set's name."""


class File(Scorer):
    """Scores that people or another program gave to the answers, read from a file: one score per query, cell and seed.
    Answers without a score are left out.
    """

    from_file: ClassVar[bool] = True

    references: Literal["given"] = Field(  # type: ignore[assignment]
        SET,
        description="Name of the only reference set, which contains no texts: scores are read instead of computed "
        "against references.",
    )
    path: DatasetFile = Field(
        description="File with the scores; `{dataset}` in the path stands for the dataset's name. The file can be CSV, "
        "TSV, JSON or Parquet with `qid` and `value`, the cell (`retriever`, `ordering`, `k`, and `generator` if the "
        "grid has several; or `run`), and optionally `seed`, `assessor` and `probability`. AutoJudge's records "
        "(`run_id`, `topic_id`, `measure`, `value`) and nuggetizer's assignments also work. If several people scored "
        "an answer, ragrelay uses the mean score."
    )
    scale: Annotated[list[float], Field(min_length=2, max_length=2)] = Field(
        [0.0, 1.0],
        description="The worst and the best value in the file, which become scores of 0 and 1; e.g. `[6, 1]` if 1 is "
        "the best grade.",
    )
    measure: Text | None = Field(
        None,
        description="Measure to read from a file that contains several measures. For nuggetizer's assignments, the "
        "score to compute, such as `vital_strict` (see the key `value` of the kind `nuggets`).",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the scale is valid, and that each dataset has a file with valid scores for cells in the grid."""
        super().check(place, study)
        if self.scale[0] == self.scale[1]:
            raise InputError(f"{place}.scale'", str(self.scale), "the worst value, then the best value")
        for dataset in study.grid.datasets:
            self.rows(dataset, study.grid, study.folder)

    def file(self, dataset: str) -> str:
        """Return the path of a dataset's score file."""
        return file_of(self.path, dataset)

    def cells(self, grid: Any) -> dict[str, list[Any]]:
        """Return the grid's generators, retrievers, orderings, k and seeds, as fields of score_files.ScoreCells."""
        return {
            "generators": grid.generators,
            "retrievers": grid.retrievers,
            "orderings": grid.orderings,
            "ks": sorted(grid.k),
            "seeds": grid.seeds,
        }

    def rows(self, dataset: str, grid: Any, folder: Path = Path()) -> Any:
        """Read a dataset's file of scores, and return a row per score with the answer's cell (score_files.ROWS)."""
        from ragrelay.scoring.score_files import ScoreCells, ScoreScale, placed_scores, read_score_rows

        low, high = self.scale
        rows = read_score_rows(folder / self.file(dataset), ScoreScale((low, high), self.measure))
        return placed_scores(rows, ScoreCells(**self.cells(grid)))
