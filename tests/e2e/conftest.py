"""What several files here look at: the small study with everything optional upon it."""

from pathlib import Path

import pytest

from tests.support.sandbox import ROOT, Sandbox
from tests.support.sharing import made_once

SOURCES = ["qrels", "erag", "llm", "qrels_and_erag"]
OPTIONAL = {
    "annotation_depth": 3,
    "context_use": True,
    "claims": {"few": {"source": "local", "path": "claims.jsonl"}},
    "acu": {"claims": ["few"], "prompts": ["claims_zeroshot_claimant"], "generators": ["demo-lm"]},
}


@pytest.fixture(scope="session")
def optional(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """All that a study may have besides, upon the small study's answers: annotation sources, context use, gold answers.

    And five claims with fifteen pieces of evidence, before a template with a claimant.
    """

    def make(folder: Path) -> None:
        study = finished.copied_to(folder)
        lines = (ROOT / "resources/demo/claims/claims.jsonl").read_text(encoding="utf-8").splitlines()[:15]
        (folder / "claims.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        chosen = {"retrievers": ["bm25", "rel"], "annotations": SOURCES, "scorers": ["minilm", "token_f1"]}
        study.config |= {**OPTIONAL, "grid": {**study.config["grid"], **chosen}}
        study.write_config()
        study.snakemake("erag", "acu", "report")

    return Sandbox.at(made_once(tmp_path_factory, "optional", make))
