"""Each paper's configuration on a few queries or claims, with the demo's model in the place of the paper's.

That of eRAG is in test_paper_of_erag.py.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from snakemake.utils import update_config

from tests.annexes.reproduction.places import missing_places
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.study


def configuration(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8"))


def run_small(study: Sandbox, config: dict[str, Any], small: dict[str, Any], target: str) -> None:
    """Run ``config`` with ``small`` over it, on the queries of ``study`` and the demo's generator."""
    model = {"demo-lm": study.config["generators"]["demo-lm"]}
    config["generators"] = {"demo-lm": small.pop("generator", {}) | model["demo-lm"]}
    own = {key: study.config[key] for key in ("datasets", "analysis")}
    update_config(config, {**own, "retrievers": {"bm25": {"engine": "bm25s"}}})
    update_config(config, {"grid": {"datasets": ["small"], "generators": ["demo-lm"], **small}})
    study.config = config
    study.write_config()
    study.snakemake(target)


@pytest.mark.full
def test_tian_2025(tmp_path: Path) -> None:
    """Table 1 stands next to what is printed, and Figures 3 to 5 are of these queries in the place of DL 2019."""
    study = Sandbox(tmp_path / "study")
    config = configuration("paper")
    config["published"]["names"]["datasets"] = {"dl19": "small"}
    small = {"retrievers": ["bm25", "ideal", "nrel"], "k": [2, 5, 6], "seeds": [1, 2], "scorers": ["minilm"]}
    run_small(study, config, small, "reproduce")
    assert missing_places("Tian et al. 2025", "reproduce", study.results) == []
    rows = pl.read_csv(study.results / "reproduction/rows.csv")
    assert set(rows["paper"]) == {"Tian et al. 2025"}
    cells = pl.read_csv(study.results / "reproduction/cells.csv").filter(quantity="utility")
    assert set(cells["retriever"]) == {"bm25", "ideal", "nrel"} and set(cells["k"]) == {2, 5}


@pytest.mark.full
def test_tian_2026(tmp_path: Path) -> None:
    """Table 1's correlations have predictors of each retriever; Table 2's regressions have too few queries."""
    study = Sandbox(tmp_path / "study")
    config = configuration("tian2026")
    template = next(iter(config["generators"].values()))["prompt"]
    run_small(study, config, {"retrievers": ["bm25", "rel"], "k": [2], "generator": {"prompt": template}}, "predict")
    assert missing_places("Tian et al. 2026", "predict", study.results) == []
    for scorer in config["grid"]["scorers"]:
        folder = study.results / f"small/analysis/{scorer}/demo-lm"
        found = pl.read_csv(folder / "prediction_correlation.csv")
        assert {"nqc", "max_score"} <= set(found["predictor"]) and {"gain", "p"} <= set(found["target"])
        assert set(pl.read_csv(folder / "prediction_ensembles.csv")["reason"]) == {"fewer than 20 queries"}


@pytest.mark.full
def test_hagstrom_2025(tmp_path: Path) -> None:
    """Three sets of claims are asked with each model's prompts of the paper and stand beside the printed means."""
    study = Sandbox(tmp_path / "study")
    config = configuration("hagstrom2025")
    names = config["acu"]["generators"]
    (study.folder / "claims").mkdir()
    fact = {"base_prompt": "The heart of a fish has", "target_true": " two chambers", "target_new": " four chambers"}
    (study.folder / config["claims"]["counterfact"]["path"]).write_text(json.dumps([fact]), encoding="utf-8")
    conflict = {
        "memory_answer": "Tea is a plant.", "parametric_memory_aligned_evidence": "Tea grows as a plant.",
        "counter_answer": "Tea is a stone.", "counter_memory_aligned_evidence": "Tea is dug up as a stone.",
    }  # fmt: skip
    (study.folder / config["claims"]["conflictqa"]["path"]).write_text(json.dumps(conflict) + "\n", encoding="utf-8")
    config["acu"]["claims"] = ["few", "counterfact", "conflictqa"]
    config["claims"]["few"] = {"source": "local", "path": "resources/demo/claims/claims.jsonl"}
    config["published"]["names"]["claims"]["DRUID"] = "few"
    demo = {"model": "resources/demo/model", "dtype": "float32", "threads": 2}
    config |= {"generators": dict.fromkeys(names, demo), "analysis": {"resamples": 200}}
    study.config = config
    study.write_config()
    study.snakemake("reproduce")
    assert missing_places("Hagström et al. 2025", "reproduce", study.results) == []
    means = pl.read_csv(study.results / "reproduction/claims.csv")
    assert means.height == 6 and means["published"].is_not_null().all() and means["value"].is_between(-1, 1).all()
    asked = [json.loads((study.results / f"acu/few/asked/score_claims/{name}.json").read_text()) for name in names]
    words = [{word for part in one["parts"] for word in part["words"]} for one in asked]
    assert words == [{"True", "None", "False", "Support", "Refute"}, {"True", "None", "False"}]
    correlations = pl.read_csv(study.results / "acu/tables/correlations.csv")
    assert set(correlations["generator"]) == set(names) and correlations["stance"].n_unique() > 2
    drawn = (study.results / "report/figures/acu_correlations.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in names), "both models side by side"
    rows = pl.read_csv(study.results / "reproduction/rows.csv")
    assert set(rows["paper"]) == {"Hagström et al. 2025"}
