"""Give rules what they need of retrieval: corpora, their indexes, and the inputs and params of retrievers' jobs."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules, Wildcards
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.processor import PROCESSOR_KINDS
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, needed
from ragrelay.retrieval.run_checks import check_joined
from ragrelay.retrieval.trec import describe_run


class Retrieval:
    """Inputs and params of the rules of retrieval.

    Functions whose only argument is ``wildcards`` are for a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    def check_joined(self, fill: Callable[[str], str]) -> None:
        """Check, before any job, what was added or changed after its dataset was prepared: run files and measures.

        ``fill`` turns a path in the results into the path on disk. Raises InputError for an unusable file, and for a
        measure that does not take the dataset's labels.
        """
        for dataset in self.study.grid.datasets:
            if Path(fill(files.queries.at(dataset=dataset))).exists():
                runs, definition = self.study.imported_runs(dataset), self.study.dataset_of_jobs(dataset)
                check_joined(runs, self.study.grid.measures, definition, self.study.cache_dir)

    @functools.cached_property
    def corpora(self) -> dict[str, str]:
        """Each corpus, with a dataset that has it."""
        names = self.study.grid.datasets
        return {DATASET_KINDS.of(self.study.dataset(name)).corpus(name): name for name in names}

    @functools.cached_property
    def indexes(self) -> dict[str, str]:
        """Each index that the grid's retrievers need, with a retriever that uses it."""
        definitions = {name: self.kind(name).index_definition() for name in self.study.needed_retrievers()}
        return {index_name(index): name for name, index in definitions.items() if index}

    @functools.cached_property
    def rankings(self) -> list[str]:
        """The grid's retrievers that don't draw from the judgements."""
        return [name for name in self.study.grid.retrievers if not self.kind(name).needs_qrels]

    @functools.cached_property
    def processed(self) -> list[str]:
        """The retrievers whose passages a processor changes."""
        return [name for name in self.study.needed_retrievers() if self.kind(name).processing()]

    @functools.cached_property
    def unprocessed(self) -> list[str]:
        """The other retrievers."""
        return [name for name in self.study.needed_retrievers() if name not in self.processed]

    def kind(self, retriever: str) -> Any:
        """Return the kind of a retriever, with its keys."""
        return RETRIEVER_KINDS.of(self.study.retriever(retriever))

    def definition_of(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the definition of a job's retriever."""
        return self.study.retriever(wildcards.retriever)

    def module_of(self, wildcards: Wildcards) -> str:
        """Return the module of the kind of a job's retriever."""
        return RETRIEVER_KINDS.module(self.definition_of(wildcards))

    def threads_of(self, wildcards: Wildcards) -> int:
        """Return the number of CPU threads of a job's retriever. A profile may set another."""
        threads: int = self.kind(wildcards.retriever).threads
        return threads

    def metadata_of(self, wildcards: Wildcards) -> dict[str, Any] | None:
        """Return the fields of the run file's header; None without a header."""
        if not self.study.settings.run_metadata:
            return None
        dataset = wildcards.dataset
        return describe_run(wildcards.retriever, self.study.config["retrievers"], dataset, self.study.dataset(dataset))

    def run_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the inputs of a job's retriever: queries, index, judgements, other retrievers' runs, files."""
        retriever = self.kind(wildcards.retriever)
        inputs: dict[str, Any] = {
            "queries": files.queries,
            "fetched": self.study.fetched("retrievers", wildcards.retriever),
        }
        if (index := retriever.index_definition()) is not None:
            inputs["index"] = self.index_receipt(wildcards.dataset, index)
        if retriever.needs_qrels:
            inputs["qrels"] = files.qrels
        stages = [{"retriever": stage} for _, stage in retriever.stages()]
        inputs["runs"] = [*files.run.each(stages), *retriever.files(wildcards.dataset)]
        inputs["passages"] = self.brought_of(wildcards)
        inputs["answers"] = [str(path) for path, _ in retriever.answers(wildcards.dataset)]
        return inputs

    def brought_of(self, wildcards: Wildcards) -> list[str]:
        """Return the files of passages that the collection lacks, of a job's retriever and of those that it uses."""
        names = needed([wildcards.retriever], self.study.config["retrievers"])
        paths = (path for name in names for path in self.kind(name).brought(wildcards.dataset))
        return list(dict.fromkeys(paths))

    def unprocessed_inputs(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the inputs of a job that processes passages: those of the retriever whose ranking it has."""
        [(_, ranking)] = self.kind(wildcards.retriever).stages()
        return {
            "queries": files.queries,
            "contexts": files.contexts.at(retriever=ranking),
            "skipped": files.skipped.at(retriever=ranking),
            "fetched": self.study.fetched("retrievers", wildcards.retriever),
        }

    def processor_of(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the definition of a job's processor."""
        processing: dict[str, Any] = self.kind(wildcards.retriever).processing()
        return processing

    def processor_module(self, wildcards: Wildcards) -> str:
        """Return the module of the kind of a job's processor."""
        return PROCESSOR_KINDS.module(self.processor_of(wildcards))

    def processor_threads(self, wildcards: Wildcards) -> int:
        """Return the number of CPU threads of a job's processor. A profile may set another."""
        return PROCESSOR_KINDS.of(self.processor_of(wildcards)).threads

    def index_receipt(self, dataset: str, definition: dict[str, Any]) -> StudyFile:
        """Return the receipt of a dataset's index."""
        corpus = DATASET_KINDS.of(self.study.dataset(dataset)).corpus(dataset)
        return files.index.at(corpus=corpus, index=index_name(definition))

    @functools.cached_property
    def index_receipts(self) -> list[StudyFile]:
        """The receipts of all indexes that the grid's retrievers need."""
        return [files.index.at(corpus=corpus, index=index) for corpus in self.corpora for index in self.indexes]

    def dataset_of_corpus(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the definition of a dataset with a job's corpus."""
        return self.study.dataset_of_jobs(self.corpora[wildcards.corpus])

    def corpus_module(self, wildcards: Wildcards) -> str:
        """Return the module of the kind of a dataset with a job's corpus."""
        return DATASET_KINDS.module(self.study.dataset(self.corpora[wildcards.corpus]))

    def corpus_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files with the passages of a job's corpus; none for a catalogued dataset."""
        return self.study.passage_files(self.corpora[wildcards.corpus])

    def fetched_for_index(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return receipts of the downloads of a job's index."""
        of_corpus = self.study.fetched("datasets", self.corpora[wildcards.corpus])
        return of_corpus + self.study.fetched("retrievers", self.indexes[wildcards.index])

    def index_kind(self, wildcards: Wildcards) -> str:
        """Return the kind of a retriever that uses a job's index."""
        kind: str = self.study.retriever(self.indexes[wildcards.index])["kind"]
        return kind

    def index_module(self, wildcards: Wildcards) -> str:
        """Return the module of the kind of a retriever that uses a job's index."""
        return RETRIEVER_KINDS.module(self.study.retriever(self.indexes[wildcards.index]))

    def index_definition(self, wildcards: Wildcards) -> dict[str, Any]:
        """Return the definition of a job's index."""
        definition: dict[str, Any] = self.kind(self.indexes[wildcards.index]).index_definition()
        return definition
