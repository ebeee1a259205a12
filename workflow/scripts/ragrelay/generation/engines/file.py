"""Read answers from your files instead of generating them."""

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.grid import GridSettings
from ragrelay.base.io.file_hashes import kept_hash
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name, Text, file_of
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.collection.answer_formats.file_patterns import PLACEHOLDERS, answer_files, check_pattern
from ragrelay.generation.generator import GeneratorKind, Marks

FILES = (
    "JSON Lines (including TREC RAG's format), CSV or Parquet. In the path, `{dataset}` stands for the dataset's name, "
    "and `{retriever}`, `{ordering}`, `{k}` and `{seed}` for the values that all answers in a file have."
)

OF_PASSAGES = ("dataset", "seed")
"""Placeholders that paths to answers from single passages may contain."""


class File(GeneratorKind):
    """reads answers that were generated elsewhere ([bring-your-own-answers.md](../docs/bring-your-own-answers.md))."""

    asked: ClassVar[bool] = False

    path: Text = Field(description=f"File or files with the answers: {FILES}")
    baseline: Text | None = Field(
        None, description=f"File or files with zero-shot answers, if `path` has none: {FILES}"
    )
    single_passages: Text | None = Field(
        None,
        description="File with answers generated from one passage each; the scores of these answers become eRAG's "
        "labels. The columns are `qid`, `docno`, `answer` and, if there are several seeds, `seed`. All formats of "
        "`path` are allowed, and the path may contain `{dataset}` and `{seed}`.",
    )
    retriever: Name | None = Field(
        None,
        description="Name of the retriever for answers that don't name one; defaults to the grid's only retriever.",
    )
    k: int | None = Field(
        None,
        ge=1,
        description="k for answers that don't specify k. Defaults to the length of the retriever's longest list of "
        "passages or, without such lists, to the grid's only k.",
    )
    thinking: Marks | Literal["none"] | None = Field(
        None,
        description='Start and end mark of thoughts, e.g. `["<think>", "</think>"]`; ragrelay removes thoughts from '
        "the beginning of answers. `none` keeps answers unchanged. Required if an answer has thought marks.",
    )

    def files(self, dataset: str, folder: Path = Path()) -> list[tuple[Path, dict[str, object]]]:
        """Return the dataset's answer files (zero-shot included), each with the values in its name (such as k)."""
        files = [(file.path, file.values) for file in answer_files(self.path, dataset, folder)]
        if self.baseline is not None:
            zeroshot = {"retriever": "zeroshot", "ordering": None, "k": 0}
            files += [(f.path, {**f.values, **zeroshot}) for f in answer_files(self.baseline, dataset, folder)]
        return files

    def given(self, dataset: str, grid: GridSettings) -> dict[str, object]:
        """Return the answer files (key ``files``) and the grid with the default retriever and k (key ``places``)."""
        names = ("retrievers", "orderings", "seeds")
        places = {name: getattr(grid, name) for name in names} | {"ks": sorted(grid.k)}
        files = [[str(path), values | self._thinking()] for path, values in self.files(dataset)]
        return {"files": files, "places": {**places, "retriever": self.retriever, "k": self.k}}

    def passage_files(self, dataset: str) -> list[list[object]]:
        """Return the dataset's files that match ``single_passages``, each with the seed in its name (if any)."""
        files = answer_files(self.single_passages, dataset) if self.single_passages else []
        return [[str(file.path), file.values | self._thinking()] for file in files]

    def _thinking(self) -> dict[str, object]:
        return {} if self.thinking is None else {"thinking": self.thinking}

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that each dataset in the grid has answer files in supported formats."""
        patterns = {"path": self.path, "baseline": self.baseline, "single_passages": self.single_passages}
        for key, pattern in patterns.items():
            if pattern is not None:
                check_pattern(f"{place}.{key}'", pattern, OF_PASSAGES if key == "single_passages" else PLACEHOLDERS)
                for dataset in study.grid.datasets:
                    if not answer_files(pattern, dataset, study.folder):
                        found = f"no file {file_of(pattern, dataset)}"
                        raise InputError(f"{place}.{key}'", found, "a file of answers")

    @classmethod
    def decisive(cls, definition: GeneratorEntry, folder: Path, cache_dir: Path | None) -> dict[str, object]:
        """Return ``retriever``, ``k``, ``thinking`` (if set) and a hash of all answer files, for the fingerprint."""
        patterns = {key: definition[key] for key in ("path", "baseline") if key in definition}
        hashes = {
            key: [[str(file.path), kept_hash(folder / file.path, cache_dir)] for file in _all(pattern, folder)]
            for key, pattern in patterns.items()
        }
        return {"files": value_hash(hashes), **{key: definition.get(key) for key in ("retriever", "k")},
                **{key: definition[key] for key in ("thinking",) if key in definition}}  # fmt: skip


def _all(pattern: str, folder: Path) -> list[Any]:
    """Return every dataset's files."""
    return answer_files(pattern, "{dataset}", folder)
