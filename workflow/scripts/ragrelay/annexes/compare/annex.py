"""The annex that compares finished studies with a baseline study."""

from collections.abc import Mapping

from ragrelay.annexes.compare.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.compare.settings import CompareKeys
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Compare(Annex):
    """Compare finished studies with a baseline study (target and config key `compare`)."""

    order = 5
    keys = CompareKeys
    reserved = ("compare",)
    without_effect = ("compare",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    pages = ("compare/*/index.html",)
    kept = ("compare",)

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        return {"compare": study.config.get("compare")}
