"""What the key reruns of a finished study."""

import pytest

from tests.support.changes import Changes, changed
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.gate
ITS_OWN = {
    "change_contexts", "build_changed_prompts", "generate_changed_answers", "view_changed_answers",
    "score_changed_answers", "analyse_interventions", "draw_interventions",
}  # fmt: skip
OF_THE_PAGE = {"gather_provenance", "write_tables", "write_page", "report"}


def test_answers_that_are_done_stay_where_interventions_join(
    finished: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study = finished.copied_to(tmp_path_factory.mktemp("joined") / "study")

    def join(changes: Changes) -> None:
        changes.entry("interventions", "swap", kind="swap", retrievers=["bm25"])

    with changed(study, join):
        assert study.planned().keys() - OF_THE_PAGE == ITS_OWN
