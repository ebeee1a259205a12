"""The annex that measures how far evidence shifts a model's verdicts on claims."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ragrelay.annexes.acu.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.acu.settings import AcuKeys
from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.study_file import StudyFile


class Acu(Annex):
    """Measure how evidence shifts a model's verdicts on claims (target and config key `acu`)."""

    order = 3
    extends: ClassVar = dict.fromkeys(("ClaimFormat", "ClaimSource"), "ragrelay.annexes.acu.source")
    keys = AcuKeys
    kinds: ClassVar = {"claims": CLAIM_KINDS}
    reserved = ("acu",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    pages = ("report/acu.html",)
    template = "acu_section.html.j2"
    link = ("acu", "Claims")

    def check(self, study: CheckedStudy) -> None:
        from ragrelay.annexes.acu.checks import check_acu

        check_acu(study)

    def generators(self, config: Mapping[str, Any]) -> Iterable[str]:
        from ragrelay.annexes.acu.checks import acu_generators

        return acu_generators(config)

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        from ragrelay.annexes.acu.checks import acu_names

        return {"claims": acu_names(study.config, "claims")}

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        return {"acu": study.config.get("acu")}

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        return self.of_rules(study).shown

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        return self.of_rules(study).shown_patterns

    def prefetched(self, study: CheckedStudy) -> list[StudyFile]:
        return self.of_rules(study).fetched_claims
