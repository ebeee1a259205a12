"""Apply a processor to another retriever's passages."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.settings import Name
from ragrelay.retrieval.processor import PROCESSOR_KINDS, Processor
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, Retriever, RunTask


class Processed(Retriever):
    """Another retriever's ranking, changed by a processor. For each k, the processor shortens, filters, rewrites or
    reorders the first k passages before they enter a prompt. Measures, labels and predictors are computed for the
    unprocessed ranking.
    """

    of: Name = Field(description="Name of the retriever whose passages are processed.")
    processor: Annotated[dict[str, Any], PROCESSOR_KINDS] = Field(
        description="The processor that changes the passages."
    )

    @classmethod
    def completed(cls, definition: Mapping[str, Any], folder: Path) -> dict[str, object]:
        """Add to ``definition`` the hashes of the modules that contain the processor's functions."""
        given = definition["processor"]
        code = PROCESSOR_KINDS[given["kind"]].completed(given, folder).get("code", {})
        return {**definition, "code": code}

    def made(self) -> Processor:
        """Return the processor."""
        return PROCESSOR_KINDS.of({**self.processor, "code": self.code})

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the processor is valid, the other retriever uses no judgements, and no answers are imported."""
        self.made().check(f"{place}.processor", study)
        if (definition := study.config["retrievers"].get(self.of)) and RETRIEVER_KINDS.of(definition).needs_qrels:
            expected = "a retriever that ranks without the judgements"
            raise InputError(f"{place}.of'", f"{self.of!r}, whose passages are chosen by judgements", expected)
        for name in study.grid.generators:
            if name not in study.asked:
                expected = "a generator with an engine, or the retriever whose passages were shown"
                found = f"generator {name!r}, whose answers are imported and may use other texts"
                raise InputError(f"{place}'", found, expected)

    def downloads(self) -> Iterator[Download]:
        """Yield the downloads of the models that the processor needs."""
        for named in self.made().downloads():
            yield named._replace(key=f"processor.{named.key}")

    def stages(self) -> list[tuple[str, str]]:
        """Return the retriever whose passages are processed."""
        return [("of", self.of)]

    def processing(self) -> dict[str, object]:
        """Return the processor's definition."""
        return {**self.processor, "code": self.code}

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the other retriever's ranking."""
        return task.runs[0].select("qid", "docno", "score")
