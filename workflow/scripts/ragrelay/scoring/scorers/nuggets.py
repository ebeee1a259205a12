"""Score answers by the share of the query's nuggets that are supported."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, Name, file_of
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeQuestion, JudgeScorer
from ragrelay.scoring.nugget_lists import read_nuggets
from ragrelay.scoring.nugget_scores import WEIGHTS, WORDS, nugget_score

LISTS = ("written_by", "retriever", "least_label", "depth", "window", "most", "list_tokens", "list_prompt")
"""Keys about lists that a generator writes."""


class Nuggets(JudgeScorer):
    """Share of a query's nuggets (facts that a good answer contains) that the answer supports, computed as in TREC RAG.
    The nuggets are read from a file or written by a generator. Each nugget's value is based on the judge's likeliest
    reply: support, partial or none.
    """

    references: Literal["nuggets"] = Field(  # type: ignore[assignment]
        "nuggets", description="Name of the only reference set, which contains nugget lists instead of passages."
    )
    prompt: Name = Field(
        "nuggets",
        description="Name of the template in `config/judge_prompts/` that asks whether an answer supports a nugget.",
    )
    value: Literal["vital_strict", "vital_lenient", "all_strict", "all_lenient", "weighted_strict",
                   "weighted_lenient"] = Field(
        "vital_strict",
        description="Which score to use. `strict` gives credit only for support; `lenient` also gives half credit for "
        "partial support. `vital` counts only vital nuggets, `all` counts all nuggets equally, and `weighted` gives "
        "okay nuggets half the weight.",
    )  # fmt: skip
    path: DatasetFile | None = Field(
        None,
        description="File with nuggets; `{dataset}` in the path stands for the dataset's name. The file can be JSON "
        "Lines in the format of nuggetizer and TREC RAG (qid, and nuggets with text and importance) or Parquet with "
        "the columns `qid`, `text` and `vital`. Answers to queries without a list have no score.",
    )
    written_by: Name | None = Field(
        None,
        description="Name of a generator that writes the lists if you have no file (`path`). The generator needs "
        "`engine: vllm`.",
    )
    retriever: Name | None = Field(
        None,
        description="Name of a retriever in the grid from whose passages the lists are written. By default, the lists "
        "are written from the dataset's judged passages.",
    )
    least_label: int | None = Field(
        None,
        description="Minimum label that a judged passage needs to be used for the lists; defaults to the dataset's "
        "lowest reference grade.",
    )
    depth: int = Field(
        50,
        ge=1,
        description="Number of passages from which a query's list is written: those with the highest labels or, with "
        "`retriever`, the highest ranks.",
    )
    window: int = Field(
        10,
        ge=1,
        description="Number of passages per prompt. Each prompt after the first also contains the list so far.",
    )
    most: int = Field(30, ge=1, le=100, description="Maximum number of nuggets in a list.")
    list_tokens: int = Field(
        1024,
        ge=16,
        description="Maximum length of a list in tokens. A list that is cut at this length is generated once more with "
        "twice the limit. If the list is cut again, only its complete nuggets are used, and the page reports the "
        "number of such lists.",
    )
    list_prompt: Name = Field(
        "nuggets", description="Name of the template in `config/nugget_prompts/` with which the generator writes lists."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that nuggets come from a readable file or from a generator (not both), and that all keys are valid."""
        super().check(place, study)
        if (self.path is None) == (self.written_by is None):
            found = "both path and written_by" if self.path else "neither path nor written_by"
            raise InputError(f"{place}'", found, "exactly one of these keys")
        if self.path is not None:
            for key in LISTS:
                if key in self.model_fields_set and getattr(self, key) != type(self).model_fields[key].default:
                    raise InputError(f"{place}.{key}'", "a key that has no effect", "this key only with written_by")
            for dataset in study.grid.datasets:
                read_nuggets(study.folder / self.file(dataset))
            return
        if self.retriever is None:
            return
        retrievers = study.grid.retrievers
        if self.retriever not in retrievers:
            expected = one_of(retrievers, self.retriever, what="a retriever in grid.retrievers")
            raise InputError(f"{place}.retriever'", repr(self.retriever), expected)
        if self.least_label is not None:
            raise InputError(f"{place}.least_label'", "a key that has no effect", "this key only without key retriever")

    def file(self, dataset: str) -> str:
        """Return the path of a dataset's nugget file."""
        return file_of(str(self.path), dataset)

    def passages_read(self) -> dict[str, object]:
        """Return the settings that determine which passages the lists are generated from."""
        return {"depth": self.depth, "least_label": self.least_label}

    def limits(self) -> dict[str, int]:
        """Return the limits on a list's length, as fields of questions.nuggets.writing.Limits."""
        return {"window": self.window, "most": self.most, "max_tokens": self.list_tokens}

    def judges(self) -> list[str]:
        """Return the generator that judges answers and, if there is one, the generator that writes the nuggets."""
        return [self.generator, *([self.written_by] if self.written_by else [])]

    def placeholders(self) -> set[str]:
        """Return the placeholders for query, answer and nugget."""
        return {"query", "answer", "nugget"}

    def own_inputs(self, dataset: str) -> list[str]:
        """Return the path of the table of nuggets, which other rules write."""
        return ["<results>/{dataset}/nuggets/{scorer}/nuggets.parquet"]

    def words(self) -> list[str]:
        """Return the words for support, partial support and no support."""
        return list(WORDS)

    def expected(self, qids: Sequence[str]) -> Mapping[str, list[tuple[str, bool]]]:
        """Return placeholder nuggets for each query: the maximum number of nuggets, with a dozen words each."""
        return {qid: [(f"{qid} {number}" + " word" * 11, True) for number in range(self.most)] for qid in qids}

    def own(self, paths: Sequence[Path]) -> Mapping[str, list[tuple[str, bool]]]:
        """Read each query's nuggets as pairs (text, whether the nugget is vital)."""
        nuggets: dict[str, list[tuple[str, bool]]] = {}
        for path in paths:
            columns = ["qid", "text", "vital"]
            for qid, text, vital in pl.read_parquet(path, columns=columns, glob=False).iter_rows():
                nuggets.setdefault(qid, []).append((text, vital))
        return nuggets

    def size(self, case: JudgeCase) -> int | None:
        """Return the number of nuggets with a weight above 0, or None (no score) if there are none."""
        weights = WEIGHTS[self.value.rsplit("_", 1)[0]]
        return sum(weights[not vital] > 0 for _, vital in case.own or []) or None

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return a question for each nugget with a weight above 0. Questions about an empty answer aren't sent."""
        weights = WEIGHTS[self.value.rsplit("_", 1)[0]]
        texts = {"query": case.query, "answer": case.answer} if case.answer.strip() else None
        return [
            JudgeQuestion({**texts, "nugget": text} if texts else None, "vital" if vital else "okay")
            for text, vital in case.own
            if weights[not vital]
        ]

    def measured(self) -> list[pl.Expr]:
        """Return an aggregation that computes the score from the judge's likeliest word for each nugget."""
        return [nugget_score(self.value, pl.col("shares").list.arg_max(), pl.col("item") == "vital").alias("f1")]
