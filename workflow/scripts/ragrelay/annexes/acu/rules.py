"""Provide data for a claims study's rules: sets of claims, jobs, tables and the page."""

import functools
from collections.abc import Mapping
from typing import Any

from snakemake.io import report as captioned

from ragrelay.annexes.acu import files
from ragrelay.annexes.acu.checks import prompts_of
from ragrelay.annexes.acu.prompts import load_claim_template
from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.annex import annexes
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study.files import made_by
from ragrelay.execution.study.reported import Reported
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key
from ragrelay.report.display.outputs import modules


class Claims:
    """Data for the rules of a claims study (config key `acu`).

    Functions that take only ``wildcards`` serve as a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.asked_for: dict[str, Any] = study.config.get("acu") or {}
        self.units: list[Mapping[str, str]] = [
            {"claims": claims, "generator": generator, "template": template}
            for claims in self.asked_for.get("claims", [])
            for generator in self.asked_for.get("generators", [])
            for template in prompts_of(self.asked_for, generator)
        ]
        """Each set of claims with each generator and template that the configuration asks for."""
        self.sets: list[Key] = [{"claims": name} for name in dict.fromkeys(unit["claims"] for unit in self.units)]

    def definition(self, claims: str) -> dict[str, object]:
        """Return the catalogue entry for a set of claims."""
        definition: dict[str, object] = self.study.config["claims"][claims]
        return definition

    def own_files(self, claims: str) -> list[str]:
        """Return the paths of the user's files for a set of claims, or an empty list if the set comes from a hub."""
        return CLAIM_KINDS.of(self.definition(claims)).files()

    @functools.cache  # noqa: B019 - a process has a single study
    def template(self, template: str) -> dict[str, Any]:
        """Return the parts of a claims template that are used to build prompts."""
        whole = vars(load_claim_template(self.study.template_path(template, "claim_prompts")))
        return {part: text for part, text in whole.items() if part != "words_with_evidence"}

    def words(self, name: str) -> list[str]:
        """Return a template's label words for prompts with evidence; empty if these are True, None and False."""
        return list(load_claim_template(self.study.template_path(name, "claim_prompts")).words_with_evidence)

    def source_files(self, which: str) -> list[str]:
        """Return the paths of the files that list ``reliable`` or ``unreliable`` websites, depending on ``which``."""
        return self.asked_for.get(f"{which}_sources") or []

    @property
    def judged_evidence(self) -> StudyFile | list[StudyFile]:
        """The file with the evidence judge's replies about a job's claims, or an empty list if no judge is set."""
        return files.judged_evidence if self.asked_for.get("evidence_judge") else []

    @functools.cached_property
    def fetched_claims(self) -> list[StudyFile]:
        """The claims files of the sets that come from a hub."""
        return [files.claims.at(claims=name) for name in self.study.selected()["claims"] if not self.own_files(name)]

    @functools.cached_property
    def shown_patterns(self) -> dict[str, StudyFile]:
        """Path patterns of the claims study's files that pages need, or an empty mapping if there is no key `acu`."""
        if not self.asked_for:
            return {}
        tables = {name: path for name, path in made_by("analyse_acu").items() if name != "acu_pairs"}
        judged = {"acu_judged": files.judged_evidence} if self.judged_evidence else {}
        return {**tables, "acu_receipts": files.claim_scores_receipt, "acu_entities": files.entities, **judged}

    @functools.cached_property
    def shown(self) -> Mapping[str, object]:
        """The paths of all files that match `shown_patterns`."""
        scored: list[Key] = list({(unit["claims"], unit["generator"]): unit for unit in self.units}.values())
        keys: dict[str, list[Key]] = {"acu_receipts": scored, "acu_entities": self.sets, "acu_judged": self.sets}
        return {name: path.each(keys[name]) if name in keys else path for name, path in self.shown_patterns.items()}

    @functools.cached_property
    def tables(self) -> dict[str, Any]:
        """The claims study's tables, with captions."""
        caption = "captions/acu_tables.rst"
        return {
            name: captioned(path, caption=caption, category="Tables", labels={"context use": name})
            for name, path in made_by("analyse_acu").items()
        }

    def check_asked_for(self) -> None:
        """End the run with a one-line message if the configuration lacks the key `acu`."""
        with on_terminal():
            if not self.asked_for:
                expected = "{claims: [...], prompts: [...], generators: [...]}"
                raise InputError("config key 'acu'", "no value", expected)

    def results(self, reported: Reported) -> list[str]:
        """Return the paths of a claims study's page, figures and tables."""
        self.check_asked_for()
        figures = reported.paths(reported.outputs("claims", "figure"), [{}])
        return [files.acu_report, *figures, *made_by("analyse_acu").values()]


@functools.cache
def of_study(study: StudyOfRules) -> Claims:
    """Return ``study``'s data for the rules of a claims study."""
    return Claims(study)


def shown_beside(study: StudyOfRules) -> tuple[dict[str, str], dict[str, object], list[str]]:
    """Return the page_part modules (by template), input files and code modules of other annexes on the claims page."""
    inputs = {annex: annex.beside(study, "acu") for annex in annexes()}
    shown = [annex for annex, needed in inputs.items() if needed]
    return (
        {annex.template: annex.page_part for annex in shown},
        {name: path for needed in inputs.values() for name, path in needed.items()},
        [module for annex in shown for module in (annex.page_part, *modules(annex.outputs))],
    )
