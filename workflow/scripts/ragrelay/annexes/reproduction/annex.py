"""The annex that compares a study's tables with published tables."""

from collections.abc import Mapping

from ragrelay.annexes.reproduction.checks import check_published
from ragrelay.annexes.reproduction.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.reproduction.published import LAYOUTS
from ragrelay.annexes.reproduction.settings import PublishedKeys
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Reproduction(Annex):
    """Compare a study's tables with published tables (target `reproduce`, key `published`)."""

    order = 1
    builds_on = ("labels", "acu")
    keys = PublishedKeys
    reserved = ("reproduction",)
    without_effect = ("published",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    template = "reproduction.html.j2"
    link = ("reproduction", "Published tables")

    def check(self, study: CheckedStudy) -> None:
        check_published(study)

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        published = study.config.get("published") or {}
        return {"published": published, **{f"published.{layout}": layout in published for layout in LAYOUTS}}

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        from ragrelay.annexes.reproduction.rules import reproduced

        return reproduced(study)

    def beside(self, study: CheckedStudy, annex: str) -> Mapping[str, object]:
        from ragrelay.annexes.reproduction.rules import reproduced_claims

        return reproduced_claims(study) if annex == "acu" else {}
