"""The annex for search rounds."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.rounds.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.rounds.settings import RoundKeys, RoundSettings
from ragrelay.base.annex import Annex, GenerationRule, LeftOut
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.orderings import ORDERINGS
from ragrelay.base.vocabulary.study_file import StudyFile

PLACE = "config key 'rounds."


class Rounds(Annex):
    """Search in several rounds, and estimate the effect of a different list in each step (key `rounds`)."""

    order = 10
    keys = RoundKeys
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    generates = ("generate_round_answers",)
    shown = "analyse_rounds"
    template = "rounds.html.j2"
    link = ("rounds", "Search rounds")

    def check(self, study: CheckedStudy) -> None:
        if "rounds" not in study.config:
            return
        from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure  # loads ir_measures

        given, grid = RoundSettings(**study.config["rounds"]), study.grid
        orderings = [name for name in grid.orderings if name in ORDERINGS]
        of_grid: list[tuple[str, Any, Sequence[Any]]] = [
            ("reference", given.reference, grid.retrievers),
            *(("retrievers", name, grid.retrievers) for name in given.retrievers),
            ("k", given.k, grid.k),
            ("ordering", given.ordering, orderings),
            ("measure", given.measure, grid.measures),
        ]
        for key, value, values in of_grid:
            if value is not None and value not in values:
                raise InputError(f"{PLACE}{key}'", repr(value), one_of(values, what="a value in the grid"))
        if is_subtopic_measure(measure := given.measure or grid.measures[0]):
            raise InputError(f"{PLACE}measure'", f"{measure!r}, a subtopic measure", "a measure of judged passages")
        if given.ordering is None and grid.orderings[0] not in ORDERINGS:
            raise InputError(f"{PLACE}ordering'", "no value, but a permutation first in the grid", one_of(ORDERINGS))
        if given.reference in given.retrievers:
            raise InputError(f"{PLACE}retrievers'", f"{given.reference!r}, the reference itself", "other retrievers")
        if (given.next_query == "ask") != (given.query_prompt is not None):
            expected = "a template" if given.query_prompt is None else "this key only with next_query: ask"
            raise InputError(f"{PLACE}query_prompt'", repr(given.query_prompt or "none"), expected)
        if given.query_prompt is not None:
            from ragrelay.prompting.templates import load_template

            load_template(study.template_path(given.query_prompt), study.folder)
        self._check_searches(study, "reference", given.reference)
        for name in given.retrievers:
            self._check_searches(study, "retrievers", name)

    def _check_searches(self, study: CheckedStudy, key: str, name: str) -> None:
        """Reject a retriever that can't search for queries written from answers."""
        from ragrelay.retrieval.retriever import RETRIEVER_KINDS, needed

        dataset = study.grid.datasets[0]
        for stage in needed([name], study.config["retrievers"]):
            kind = RETRIEVER_KINDS.of(study.config["retrievers"][stage])
            reason = (
                "which the judgements choose" if kind.needs_qrels
                else "whose run file has no results for queries that answers make" if kind.files(dataset)
                else "which answer files list" if kind.answers(dataset)
                else "whose texts a processor changes" if kind.processing() else ""
            )  # fmt: skip
            if reason:
                found = f"{name!r}" if stage == name else f"{name!r}, which uses {stage!r}"
                expected = "a retriever that searches: bm25, dense, rerank, fusion or pyterrier"
                raise InputError(f"{PLACE}{key}'", f"{found}, {reason}", expected)

    def answers_await(self, study: CheckedStudy) -> list[StudyFile]:
        return [self.files.checked] if "rounds" in study.config else []

    def left_out(self, study: CheckedStudy) -> LeftOut:
        jobs = self.of_rules(study).answer_jobs
        pattern = self.files.left_out
        return {"round_answers": ("rounds", pattern, pattern.each(jobs))} if jobs else {}

    def explored_blocks(self, study: CheckedStudy, section: Mapping[str, str]) -> list[StudyFile]:
        rounds = self.of_rules(study)
        return [self.files.explored.at(**section)] if rounds.later and section in rounds.sections else []

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).shown or None

    def generation(self, study: CheckedStudy) -> list[GenerationRule]:
        rules: list[GenerationRule] = self.of_rules(study).generation()
        return rules
