"""The annex for rechecks, which regenerate some of the stored answers."""

from collections.abc import Mapping

from ragrelay.annexes.recheck.settings import RecheckKeys
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.study_file import StudyFile


class Recheck(Annex):
    """Regenerate some of the stored answers, and compare old and new answers (target and config key `recheck`)."""

    order = 8
    keys = RecheckKeys
    reserved = ("recheck",)
    without_effect = ("recheck",)
    kept = ("recheck",)
    generates = ("recheck_answers",)
    template = "recheck.html.j2"
    link = ("recheck", "Recheck")

    def records(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        from ragrelay.annexes.recheck.files import recheck_record

        return {"recheck": recheck_record}
