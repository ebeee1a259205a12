"""The annex of rechecks."""

from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.recheck.settings import RecheckKeys
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Recheck(Annex):
    """Make some stored answers again, and compare them with the stored ones (target and key `recheck`)."""

    order = 8
    keys = RecheckKeys
    reserved = ("recheck",)
    without_effect = ("recheck",)
    kept = ("recheck",)
    generates = ("recheck_answers",)
    template = "recheck.html.j2"
    link = ("recheck", "Recheck")

    def records(self, study: CheckedStudy) -> Mapping[str, Any]:
        from ragrelay.annexes.recheck.files import recheck_record

        return {"recheck": recheck_record}
