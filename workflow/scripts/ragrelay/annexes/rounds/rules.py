"""Provide data for the search-round rules: the inputs and params of jobs."""

import functools
import itertools
from typing import Any

from ragrelay.annexes.rounds import files as round_files
from ragrelay.annexes.rounds.queries import NEXT
from ragrelay.annexes.rounds.settings import RoundSettings
from ragrelay.base.annex import GenerationRule
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key, OfJob, Wildcards
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import needed


class Rounds:
    """A study's data for the search-round rules."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.settings: RoundSettings | None = study.settings.rounds

    @property
    def given(self) -> RoundSettings:
        """The settings under the key `rounds`; raises TypeError if the study doesn't have this key."""
        if self.settings is None:
            raise TypeError("a study without rounds")
        return self.settings

    @functools.cached_property
    def retrievers(self) -> list[str]:
        """The retrievers used in search rounds, starting with the reference retriever."""
        return [self.given.reference, *self.given.retrievers] if self.settings else []

    @functools.cached_property
    def each_retriever(self) -> list[Key]:
        """The wildcards for each retriever used in search rounds, starting with the reference retriever."""
        return [{"retriever": name} for name in self.retrievers]

    @functools.cached_property
    def later(self) -> list[str]:
        """The numbers of all rounds except the first."""
        return [str(number) for number in range(2, self.settings.rounds + 1)] if self.settings else []

    @functools.cached_property
    def cell(self) -> dict[str, Any]:
        """The ordering and k of the contexts in round 1."""
        return {"ordering": self.given.ordering or self.study.grid.orderings[0], "k": self.given.k}

    @functools.cached_property
    def measure(self) -> str:
        """The measure that is computed for each round's new passages."""
        return self.given.measure or self.study.grid.measures[0]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each combination of dataset, generator with an engine, and scorer that computes scores."""
        study, names = self.study, ("dataset", "generator", "scorer")
        parts = itertools.product(study.grid.datasets, study.asked_generators(), study.scoring.computed)
        return [dict(zip(names, part, strict=True)) for part in parts if self.settings]

    @functools.cached_property
    def answer_jobs(self) -> list[Key]:
        """The wildcards (dataset, generator, round and retriever) of the jobs that generate answers."""
        study, names = self.study, ("dataset", "generator", "round", "retriever")
        jobs = itertools.product(study.grid.datasets, study.asked_generators(), self.numbers)
        return [dict(zip(names, (*job, name), strict=True)) for job in jobs for name in self.requested(job[2])]

    @functools.cached_property
    def asking(self) -> list[str]:
        """The numbers of the rounds after which a model is asked for the next query."""
        asks = self.settings is not None and self.settings.next_query == "ask"
        return [str(int(number) - 1) for number in self.later] if asks else []

    @functools.cached_property
    def numbers(self) -> list[str]:
        """The numbers of the rounds in which a model generates queries, or answers that aren't part of the grid."""
        return sorted({*self.later, *self.asking})

    def requested(self, number: str) -> list[str]:
        """Return the retriever names in the paths of a round's prompts; NEXT marks prompts that ask for queries."""
        return [*(self.retrievers if number in self.later else []), *([NEXT] if number in self.asking else [])]

    def requests(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the files with a round's prompts."""
        return round_files.prompts.each({"retriever": name} for name in self.requested(wildcards.round))

    def shown_in(self, wildcards: Wildcards) -> StudyFile:
        """Return the file with the reference retriever's prompts in the job's round."""
        return self._shown_in(wildcards.generator, wildcards.round)

    def _shown_in(self, generator: str, number: str) -> StudyFile:
        reference = {"retriever": self.given.reference}
        if number in self.later:
            return round_files.prompts.at(round=number, **reference)
        return files.prompts.at(template=self.study.generation.template_of(generator), **reference, **self.cell)

    def before(self, wildcards: Wildcards) -> dict[str, object]:
        """Return the previous round's files: the reference retriever's prompts, and the answers or the next queries."""
        number = str(int(wildcards.round) - 1)
        cells = [{"retriever": self.given.reference, **self.cell, "seed": seed} for seed in self.study.grid.seeds]
        answers: StudyFile | list[StudyFile] = files.answers.each(cells)
        if number in {*self.later, *self.asking}:
            replied = NEXT if number in self.asking else self.given.reference
            answers = round_files.answers.at(round=number, retriever=replied)
        return {"answers": answers, "prompts": self._shown_in(wildcards.generator, number)}

    def all_of(self, pattern: StudyFile) -> list[StudyFile]:
        """Fill in ``pattern`` for every retriever in every round after the first."""
        rounds = itertools.product(self.later, self.retrievers)
        return pattern.each({"round": number, "retriever": name} for number, name in rounds)

    def of_retrievers(self, pattern: StudyFile) -> list[StudyFile]:
        """Fill in ``pattern`` for every retriever used in search rounds."""
        return pattern.each(self.each_retriever)

    def first(self, pattern: StudyFile) -> OfJob:
        """Return an input function that fills in ``pattern`` for every retriever in round 1."""
        return self.study.generation.prompts(pattern, [{**name, **self.cell} for name in self.each_retriever])

    @functools.cached_property
    def first_answers(self) -> list[StudyFile]:
        """The files with each retriever's answers in round 1."""
        seeds = self.study.grid.seeds
        return files.answers.each({**n, **self.cell, "seed": seed} for n in self.each_retriever for seed in seeds)

    def _stages(self, retriever: str) -> list[str]:
        return needed([retriever], self.study.config["retrievers"])

    def _indexed(self, retriever: str) -> dict[str, Any]:
        """Return the index definitions of the retrievers that a search uses, if they have an index."""
        kinds = {name: self.study.retrieval.kind(name) for name in self._stages(retriever)}
        return {name: index for name, kind in kinds.items() if (index := kind.index_definition()) is not None}

    def search_inputs(self, wildcards: Wildcards) -> dict[str, object]:
        """Return the index files and downloads that a job's search needs."""
        study, names = self.study, self._stages(wildcards.retriever)
        receipts = [study.downloads.receipts("retrievers", name) for name in names]
        indexed = self._indexed(wildcards.retriever).values()
        return {
            "fetched": list(dict.fromkeys(path for paths in receipts for path in paths)),
            "indexes": [study.retrieval.index_receipt(wildcards.dataset, index) for index in indexed],
        }

    def definitions(self, retriever: str) -> dict[str, object]:
        """Return the definitions of a retriever and of all retrievers on which it builds, keyed by name."""
        return {name: self.study.retriever(name) for name in self._stages(retriever)}

    def indexed(self, retriever: str) -> dict[str, str]:
        """Return the index names of a retriever and of the retrievers on which it builds, keyed by retriever."""
        return {name: index_name(index) for name, index in self._indexed(retriever).items()}

    def search_modules(self, retriever: str) -> list[str]:
        """Return the modules of a retriever and of the retrievers on which it builds."""
        return sorted({self.study.retrieval.module(name) for name in self._stages(retriever)})

    @functools.cached_property
    def listing(self) -> dict[str, object]:
        """The ordering and k of each round's passages, and the measure for the new passages."""
        return {**self.cell, "measure": self.measure} if self.settings else {}

    @functools.cached_property
    def shown(self) -> dict[str, object]:
        """The settings under the key `rounds`, including defaults, for the page; empty if the study has no rounds."""
        return {**self.settings.mapping(), **self.listing} if self.settings else {}

    def generation(self) -> list[GenerationRule]:
        """Return a generation rule for each later round (see base.annex.Annex.generation)."""
        numbers = self.numbers or ["2"]  # the files' patterns are also needed without rounds
        return [
            {
                "rule": "generate_round_answers",
                "prompts": ("rounds", round_files.prompts),
                "leaves_out": True,
                "receipt": round_files.receipt.at(round=number),
                "planned": ("planned_rounds", round_files.planned_prompts),
                "stage": (f"round {number}", {"round": number}),
                "needed": bool(self.later),
                "retrievers": self.requested(number),
            }
            for number in numbers
        ]


@functools.cache
def of_study(study: StudyOfRules) -> Rounds:
    """Return ``study``'s data for the search-round rules."""
    return Rounds(study)
