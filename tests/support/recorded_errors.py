"""Error rates that benchmarks have recorded, against their goals."""

import json

from tests.support.sandbox import ROOT


def goals_missed(name: str) -> list[str]:
    """Figures of a record that miss their goals. It must have three with a goal at least."""
    record = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))
    gated = {label: one for label, one in record["figures"].items() if "goal" in one}
    assert len(gated) >= 3 and record["seconds"] < 1800
    return [label for label, one in gated.items() if one["value"] > float(one["goal"].removeprefix("<= "))]
