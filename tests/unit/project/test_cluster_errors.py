"""The record of error rates where queries come in clusters: no gate is broken, and queries as units break all."""

import json

from ragrelay.base.io.workflow_files import ROOT

from benchmarks.cluster_errors import COUNTS, NO_GATE, SIZES

FIGURES = json.loads((ROOT / "benchmarks/results/cluster_errors.json").read_text(encoding="utf-8"))["figures"]


def test_no_gate_of_the_record_is_broken() -> None:
    gated = {name: one for name, one in FIGURES.items() if one.get("goal")}
    assert len(gated) == 2 * len(COUNTS) * (len(SIZES) - 1) + 2 * len(COUNTS) * len(SIZES)
    for name, one in gated.items():
        assert one["value"] <= float(one["goal"].removeprefix("<= ")) + 0.001, name
    assert max(one["value"] for name, one in FIGURES.items() if NO_GATE in name and "by cluster" in name) < 0.08


def test_queries_as_units_say_far_too_much() -> None:
    units = [one["value"] for name, one in FIGURES.items() if name.endswith("queries as units") and "relay" not in name]
    assert len(units) == 27 and min(units) > 0.15
