"""The annex of thoughts."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ragrelay.annexes.thoughts.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.base.annex import Annex


class Thoughts(Annex):
    """Compare how many tokens generators think with each context and without one (key `thinking` of a generator)."""

    order = 9
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    shows: ClassVar = {"thoughts": "draw_thoughts"}
    template = "thoughts.html.j2"
    link = ("thoughts", "Thoughts")

    def present(self, study: Any) -> Mapping[str, Any]:
        return {"thinking": bool(_in_rules(study).thinking)}

    def reported(self, reported: Any) -> list[Any]:
        thinking = _in_rules(reported.study).thinking
        return reported.paths(reported.outputs("thoughts", "figure"), thinking) if thinking else []

    def page_inputs(self, study: Any) -> Mapping[str, Any]:
        return _in_rules(study).shown

    def page_patterns(self, study: Any) -> Mapping[str, Any]:
        return _in_rules(study).shown_patterns

    def page_params(self, study: Any) -> Any:
        return _in_rules(study).drawn


def _in_rules(study: Any) -> Any:
    from ragrelay.annexes.thoughts.rules import thoughts_of  # here, since rules read the annexes

    return thoughts_of(study)
