"""The annex of processors."""

from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.processing.outputs import RESULT_TABLES
from ragrelay.base.annex import Annex


class Processing(Annex):
    """Compare answers from processed contexts with those from whole ones (retrievers of the kind `processed`)."""

    order = 10
    result_tables = RESULT_TABLES
    template = "processing.html.j2"
    link = ("processing", "Processors")

    def present(self, study: Any) -> Mapping[str, Any]:
        return {"processing": bool(_in_rules(study).described)}

    def page_inputs(self, study: Any) -> Mapping[str, Any]:
        return _in_rules(study).shown

    def page_patterns(self, study: Any) -> Mapping[str, Any]:
        return _in_rules(study).shown_patterns

    def page_params(self, study: Any) -> Any:
        return _in_rules(study).params


def _in_rules(study: Any) -> Any:
    from ragrelay.annexes.processing.rules import processing_of  # here, since rules read the annexes

    return processing_of(study)
