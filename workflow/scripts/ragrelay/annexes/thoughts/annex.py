"""The annex for thoughts, which reasoning models write before an answer."""

from ragrelay.annexes.thoughts.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Thoughts(Annex):
    """Compare the lengths of thoughts with each context and with no context (a generator's key `thinking`)."""

    order = 9
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    shown = "describe_thoughts"
    template = "thoughts.html.j2"
    link = ("thoughts", "Thoughts")

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).drawn
