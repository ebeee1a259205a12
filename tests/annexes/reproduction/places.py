"""What the pages docs/reproduce-*.md promise about a study."""

import re
from pathlib import Path

from tools.papers import read


def missing_places(paper: str, target: str, results: Path, needs: str = "") -> list[str]:
    """The places of the rows of ``paper`` that ``target`` is to make, of which ``results`` has no file.

    Only of rows whose command names the file ``needs``.
    """
    rows = [
        row for row in read() if row["paper"] == paper and f" {target} " in row["command"] and needs in row["command"]
    ]
    assert rows
    places = [place.split(" ")[0] for row in rows for place in row["place"].split("; ")]
    kept = [place for place in places if "/" in place and not place.startswith(("resources/", "config/"))]
    return [place for place in kept if not any(results.glob(re.sub("<[a-z]+>", "*", place)))]
