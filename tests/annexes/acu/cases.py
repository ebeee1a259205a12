"""Cases of claims for shared tables (tests.support.annex_cases)."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
from ragrelay.annexes.acu.characteristics import OF_TEXTS
from ragrelay.annexes.acu.checks import acu_names
from ragrelay.annexes.acu.entities import capitalised
from ragrelay.annexes.acu.prompts import build_claim_prompts, load_claim_template
from ragrelay.annexes.acu.source import prepare_claims
from ragrelay.annexes.acu.text_characteristics import host_of, official
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.config.study import Study

from tests.support.asked_world import QIDS, Given, World, texts
from tests.support.bad_input_changes import SERVED, Case, both, file, key, line, thinking, without
from tests.support.sandbox import ROOT

CEILING = {"annex acu": 4500}  # tests of it that the core had; types for the study and receipts
CLAIMS = "claims.csv"
ACU = both(
    key("acu.claims", ["mine"]), key("acu.prompts", ["plain"]), key("acu.generators", ["lm"]),
    key("claims", {"mine": {"source": "local", "path": CLAIMS}}),
)  # fmt: skip
BAD_INPUT_FILES = {
    "claims.csv": ["id,claim,evidence,evidence_stance", "a,tea is a plant,tea grows,supports"],
    "claim_prompts/plain.yaml": ['without_evidence: "{claim}"', 'with_evidence: "{evidence} {claim}"'],
}
BAD_INPUT = {
    "Claims with evidence": [
        Case("Unknown claims", both(ACU, key("acu.claims", ["few"]))),
        Case("Unknown template of claims", both(ACU, key("acu.prompts", ["plan"]))),
        Case("Generator that can't score texts", both(ACU, key("generators.lm", {**SERVED, "base_url": "https://host/v1"}))),
        Case("A reasoning model for claims", both(ACU, thinking())),
        Case("Templates of another generator", both(ACU, key("acu.prompts", {"llm": ["plain"]}))),
        Case("Unknown judge of evidence", both(ACU, key("acu.evidence_judge", "nobody"))),
        Case("No such file of claims", both(ACU, without(CLAIMS))),
        Case("Address in the list of sources", both(ACU, file("bad.txt", "https://a.example/b\n"),
                                                    key("acu.unreliable_sources", "bad.txt"))),
        Case("Unknown stance", both(ACU, line(CLAIMS, "b,rice,grows,suports"))),
        Case("Empty evidence", both(ACU, line(CLAIMS, "b,rice,,supports"))),
        Case("Duplicate row of claims", both(ACU, line(CLAIMS, "a,rice,grows,supports"))),
        Case("Duplicate column of claims", both(ACU, file(CLAIMS, "id,claim,evidence,claim\na,tea,grows,rice\n"))),
        Case("Missing column of claims", both(ACU, file(CLAIMS, "id,claim,evidence\na,tea,grows\n"))),
    ],
}  # fmt: skip


def read_claims(study: Study) -> None:
    """Read the claims as prepare_claims.py does."""
    for name in acu_names(study.config, "claims"):
        prepare_claims(study.config["claims"][name])


BAD_INPUT_STAGES = {"prepare_claims": read_claims}


def claims(world: World) -> Given:
    stances = ["supports", "refutes"]
    table = pl.DataFrame(
        {"id": ["c1", "c2"], "claim_id": ["c1", "c2"], "claim": [f"{words[0]} is new" for words in map(texts, QIDS)],
         "evidence": [texts(qid)[1] for qid in QIDS], "evidence_stance": stances, "claimant": [None, None]},
        schema_overrides={"claimant": pl.String},
    )  # fmt: skip
    write_parquet(table, world.path("claims.parquet"))
    template = load_claim_template(ROOT / "config/claim_prompts/claims_zeroshot.yaml")
    write_parquet(build_claim_prompts(table, template), world.path("claims/plain.parquet"))
    files = {"claims": world.files("claims"), "prompts": world.files("claims/plain")}
    return files, {"patterns": {"prompts": "claims/{template}.parquet"}}, {}


def evidence(world: World) -> Given:
    claims(world)
    return {"claims": world.files("claims")}, {}, {}


ASKED = {"judge_evidence": evidence, "score_claims": claims}


PASSES: dict[str, Callable[[str], object]] = {
    "names": capitalised,
    "hosts": lambda text: (host_of(text), official(f"a://{text}")),
    **{name: lambda text, of=function: of(text, text) for name, function in OF_TEXTS.items()},
}


TARGETS = dict.fromkeys(("optional", "asked"), "acu")
FEW = {"claims": ["few"], "prompts": ["claims_zeroshot_claimant"], "generators": ["demo-lm"]}
OPTIONAL = {"claims": {"few": {"source": "local", "path": "claims.jsonl"}}, "acu": FEW}
CONFIG = {
    "optional": OPTIONAL,
    "everything": {"acu": {"evidence_judge": "judge"}},
    "asked": {**OPTIONAL, "acu": {**FEW, "generators": ["smollm2"], "evidence_judge": "smollm2"}},
    "of files": {"acu": {"reliable_sources": "reliable.txt", "unreliable_sources": "unreliable.txt"}},
}
EDITS = {
    "inputs": [("claims.jsonl", '"claim": "', '"claim": "Now ')],
    "params": [("config/claim_prompts/claims_zeroshot_claimant.yaml", "Claim:", "The claim:")],
}


def _few(folder: Path) -> None:
    """Write five claims with fifteen pieces of evidence."""
    lines = (ROOT / "resources/demo/claims/claims.jsonl").read_text(encoding="utf-8").splitlines()[:15]
    (folder / "claims.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sources(folder: Path) -> None:
    for name in ("reliable", "unreliable"):
        (folder / f"{name}.txt").write_text(f"{name}.org\n", encoding="utf-8")


FILES = {"optional": _few, "asked": _few, "of files": _sources}
FILE_KEYS = {
    "claims.*.local.path": ["claims.jsonl"],
    "acu.reliable_sources": ["reliable.txt"],
    "acu.unreliable_sources": ["unreliable.txt"],
}
NO_FILE_KEYS = {"entities", "evidence_judge", "split", "subset"}
STAGE_KINDS = {"retrieval": {"claims"}}
UNCLUSTERED = {"acu"}
LOCAL = {"prepare_claims"}
ASKED_BY = {
    "annexes/acu/judged_evidence.py": {"judge_evidence"},
    "annexes/acu/requests.py": {"score_claims"},
    "generation/tokens.py": {"judge_evidence", "score_claims"},
    "generation/likelihoods/continuations.py": {"score_claims"},
    "generation/likelihoods/words.py": {"judge_evidence", "score_claims"},
    "generation/likelihoods/endpoint_words.py": {"judge_evidence"},
}
