"""Provide rules with a study's retrievers, indexes and processors, and with the inputs and params of retrieval jobs."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.collection import open_collection
from ragrelay.collection.subtopics.judgements import judged_collection
from ragrelay.execution.study import files
from ragrelay.execution.study.wildcards import Wildcards
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, Retriever, needed
from ragrelay.retrieval.run_checks import check_joined
from ragrelay.retrieval.trec import describe_run

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules


class RetrievalStage:
    """A study's retrievers, indexes and processors; Snakemake rules access them as `study.retrieval`.

    Rules use of_job to wrap methods whose arguments are wildcard names. Methods whose only argument is ``wildcards``
    can be used as a rule's input, params or threads.
    """

    def __init__(self, study: "StudyOfRules") -> None:
        self.study = study

    def check_joined(self) -> None:
        """Check the run files and measures that were added or changed after their dataset was prepared.

        This check runs before any job. Raises InputError for an unusable file or a measure that rejects the labels.
        """
        study = self.study
        for dataset in study.grid.datasets:
            if Path(study.fill(files.queries.at(dataset=dataset))).exists():
                runs, definition = self.imported_runs(dataset), study.collection.of_jobs(dataset)
                opened = judged_collection if dataset in study.collection.judged_subtopics else open_collection
                check_joined(runs, study.collection.qrels_measures, definition, study.cache_dir, opened)

    @functools.cached_property
    def corpora(self) -> dict[str, str]:
        """The grid's corpora, each mapped to a dataset that uses it."""
        return {self.study.collection.source(name).corpus(name): name for name in self.study.grid.datasets}

    @functools.cached_property
    def indexes(self) -> dict[str, str]:
        """The indexes that the grid's retrievers need, each mapped to a retriever that uses it."""
        definitions = {name: self.kind(name).index_definition() for name in self.study.needed_retrievers()}
        return {index_name(index): name for name, index in definitions.items() if index}

    @functools.cached_property
    def rankings(self) -> list[str]:
        """The grid's retrievers that don't use judgements."""
        return [name for name in self.study.grid.retrievers if not self.kind(name).needs_qrels]

    @functools.cached_property
    def processed(self) -> list[str]:
        """The retrievers whose passages a processor changes."""
        return [name for name in self.study.needed_retrievers() if self.kind(name).processing()]

    @functools.cache  # noqa: B019 - a process has a single study
    def kind(self, retriever: str) -> Retriever:
        """Return a retriever as an instance of its kind."""
        return RETRIEVER_KINDS.of(self.study.retriever(retriever))

    def module(self, retriever: str) -> str:
        """Return the name of the module that defines a retriever's kind."""
        return RETRIEVER_KINDS.module(self.study.retriever(retriever))

    def imported_runs(self, dataset: str) -> list[dict[str, object]]:
        """Return a dataset's imported runs, each with path, retriever (name and definition) and added passages."""
        retrievers = {name: self.kind(name) for name in self.study.needed_retrievers()}
        definition = self.study.retriever
        return [
            {"path": path, "name": name, "definition": definition(name), "passages": retriever.brought(dataset)}
            for name, retriever in retrievers.items()
            for path in retriever.files(dataset)
        ]

    def metadata(self, dataset: str, retriever: str) -> dict[str, object] | None:
        """Return the metadata for the header of a retriever's run file, or None if the key `run_metadata` is false."""
        if not self.study.settings.run_metadata:
            return None
        return describe_run(retriever, self.study.config["retrievers"], dataset, self.study.dataset(dataset))

    def run_inputs(self, wildcards: Wildcards) -> dict[str, object]:
        """Return the inputs for a job's retriever: queries, index, judgements, other retrievers' runs, user files."""
        retriever = self.kind(wildcards.retriever)
        inputs: dict[str, object] = {
            "queries": files.queries,
            "fetched": self.study.downloads.receipts("retrievers", wildcards.retriever),
        }
        if (index := retriever.index_definition()) is not None:
            inputs["index"] = self.index_receipt(wildcards.dataset, index)
        if retriever.needs_qrels:
            inputs["qrels"] = files.qrels
        stages = [{"retriever": stage} for _, stage in retriever.stages()]
        inputs["runs"] = [*files.run.each(stages), *retriever.files(wildcards.dataset)]
        inputs["passages"] = self.brought(wildcards.dataset, wildcards.retriever)
        inputs["answers"] = [str(path) for path, _ in retriever.answers(wildcards.dataset)]
        return inputs

    def brought(self, dataset: str, retriever: str) -> list[str]:
        """Return the user's files with added passages for a retriever and for all retrievers that it depends on."""
        names = needed([retriever], self.study.config["retrievers"])
        paths = (path for name in names for path in self.kind(name).brought(dataset))
        return list(dict.fromkeys(paths))

    def unprocessed_inputs(self, wildcards: Wildcards) -> dict[str, object]:
        """Return a processing job's inputs, including the contexts of the retriever whose passages are processed."""
        [(_, ranking)] = self.kind(wildcards.retriever).stages()
        return {
            "queries": files.queries,
            "contexts": files.contexts.at(retriever=ranking),
            "skipped": files.skipped.at(retriever=ranking),
            "fetched": self.study.downloads.receipts("retrievers", wildcards.retriever),
        }

    def processor(self, retriever: str) -> dict[str, object]:
        """Return the definition of the processor that changes a retriever's passages."""
        processing = self.kind(retriever).processing()
        if processing is None:
            raise TypeError(f"{retriever} has no processor")
        return processing

    def index_receipt(self, dataset: str, definition: dict[str, object]) -> StudyFile:
        """Return the receipt for a dataset's index."""
        corpus = self.study.collection.source(dataset).corpus(dataset)
        return files.index.at(corpus=corpus, index=index_name(definition))

    @functools.cached_property
    def index_receipts(self) -> list[StudyFile]:
        """The receipts for all indexes that the grid's retrievers need."""
        return [files.index.at(corpus=corpus, index=index) for corpus in self.corpora for index in self.indexes]

    def index_inputs(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Return the inputs of a job that builds an index: passage files and download receipts."""
        dataset, downloads = self.corpora[wildcards.corpus], self.study.downloads
        fetched = downloads.receipts("datasets", dataset)
        fetched += downloads.receipts("retrievers", self.indexes[wildcards.index])
        return {"passages": self.study.collection.passage_files(dataset), "fetched": [*fetched]}
