"""Every kind of scorer on the small study's answers, by the scripts of the rules.

All of them in one study up to its report: test_whole.py; one study with gold answers: test_optional.py.
"""

import re
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml
from ragrelay.config.study import Study

from tests.support.sandbox import GOLD, Sandbox
from tests.support.scripts import named, run_script

SCORERS = ["rouge1", "rougeL", "bleu", "chrf", "centroid", "length", "exact_match", "token_f1", "containment"]
OF_GOLD = ("exact_match", "token_f1", "containment")


PATTERNS = {
    "answers": "answers/demo-lm/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
    "prompts": "prompts/tian2025/{retriever}/{ordering}/k{k}.parquet",
    "zeroshot": "answers/demo-lm/zeroshot/none/k0/seed{seed}.parquet",
}
"""Of the inputs of the rule score_answers, below a dataset's results."""


def given_of(folder: Path, retriever: str) -> dict[str, list[str]]:
    """Inputs of the rule score_answers for a retriever of the study, but for those of the scorer."""
    whole = {name: re.sub(r"\{\w+\}", "*", p.replace("{retriever}", retriever)) for name, p in PATTERNS.items()}
    inputs = {name: sorted(map(str, folder.glob(pattern))) for name, pattern in whole.items()}
    if retriever == "zeroshot":
        return inputs | {"zeroshot": [], "contexts": []}
    return inputs | {"contexts": [f"{folder}/contexts/{retriever}.parquet"]}


@pytest.fixture(scope="module")
def definitions(finished: Sandbox) -> Study:
    """The small study with every scorer in its grid, as the configuration is read."""
    config = yaml.safe_load((finished.folder / "config/config.yaml").read_text(encoding="utf-8"))
    config["datasets"] |= finished.config["datasets"]
    config["grid"] = {**config["grid"], **finished.config["grid"], "scorers": SCORERS}
    with chdir(finished.folder):
        return Study(config)


@pytest.mark.parametrize("name", SCORERS)
def test_every_kind_scores_the_studys_answers(
    finished: Sandbox, definitions: Study, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = finished.results / "small"
    references = folder / f"collection/{'queries' if name in OF_GOLD else 'references'}.parquet"
    monkeypatch.chdir(tmp_path)
    scorer = {"scorer": definitions.scorer(name), "cache_dir": "cache"}
    rest: dict[str, Any] = {"log": ["log.txt"], "threads": 2}
    common = {"references": str(references), "encoded": "encoded.json"}
    run_script(
        "scoring/encode_references.py",
        input=named(references=str(references)),
        output=named(receipt="encoded.json"),
        params=SimpleNamespace(**scorer),
        **rest,
    )
    for retriever in ("zeroshot", "rel"):
        params = {"patterns": PATTERNS, "grades": definitions.reference_sets("small", name), **scorer}
        params |= {"near_copy": 0.5, "others": []}
        run_script(
            "scoring/score_answers.py", input=named(**given_of(folder, retriever), **common),
            output=[f"{retriever}.parquet"],
            params=SimpleNamespace(**params), **rest,
        )  # fmt: skip
    table = pl.read_parquet("rel.parquet")
    expected = {"gold"} if name in OF_GOLD else {"lenient", "strict", "lenient-unseen", "strict-unseen"}
    assert set(table["references"]) == expected
    assert table["f1"].null_count() == 0 and (name in OF_GOLD or table["f1"].n_unique() > 1)
    assert set(table["qid"]) == set(GOLD) if name in OF_GOLD else table["qid"].n_unique() == 8
    run_script(
        "analysis/compute_utility.py",
        input=named(scores=["zeroshot.parquet", "rel.parquet"], uses=[], contexts=[]),
        output=["utility.parquet"],
        params=SimpleNamespace(
            patterns={"scores": "{retriever}.parquet", "uses": "{retriever}", "contexts": "{retriever}"},
            mode=definitions.scorer(name)["utility"],
            counted=definitions.counted_at_zero(),
        ),
        **rest,
    )
    utility = pl.read_parquet("utility.parquet").drop_nulls("utility")
    assert utility.height > 0
    assert (utility["utility"] - (utility["p"] - utility["p0"])).abs().max() < 1e-9, "absolute by default"
