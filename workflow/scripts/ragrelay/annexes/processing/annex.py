"""The annex that describes the effects of context processors."""

from ragrelay.annexes.processing.outputs import RESULT_TABLES
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Processing(Annex):
    """Compare answers from processed contexts with answers from original contexts (retrievers of kind `processed`)."""

    order = 10
    result_tables = RESULT_TABLES
    shown = "describe_processing"
    template = "processing.html.j2"
    link = ("processing", "Processors")

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).params
