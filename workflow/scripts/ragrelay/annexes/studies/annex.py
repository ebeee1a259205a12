"""The annex that writes the list of studies."""

from pathlib import Path

from ragrelay.base.annex import Annex


class Studies(Annex):
    """Write a page that lists the studies in `results/` with their main answers (target `studies`)."""

    order = 10

    def run_ended(self, results: str | Path) -> None:
        from ragrelay.annexes.studies.page import keep_list
        from ragrelay.base.display.terminal import tell

        for warning in keep_list(Path(results).parent, Path(results)):
            tell(f"ragrelay: warning: {warning}")
