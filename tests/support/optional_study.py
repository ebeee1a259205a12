"""The small study with every optional part, on the answers that it has."""

from pathlib import Path

import polars as pl

from tests.support.sandbox import ROOT, Sandbox
from tests.support.tiny_encoders import build_tiny_cross_encoder
from tests.support.traced_jobs import Traced

SOURCES = ["qrels", "erag", "llm", "qrels_and_erag", "p0"]
OPTIONAL = {
    "annotation_depth": 3,
    "context_use": True,
    "retrievers": {
        "tiny": {"kind": "rerank", "first_stage": "bm25", "reranker": "cross_encoder", "model": "tiny_cross_encoder"}
    },
    "prediction": {
        "context_perplexity": True,
        "agreement_scorers": ["token_f1"],
        "reranker": "tiny",
        "passage_quality": "quality/{dataset}.parquet",
    },
    "interventions": {
        "swap": {"kind": "swap", "retrievers": ["bm25"]},
        "without": {"kind": "leave_out", "retrievers": ["bm25", "rel"]},
        "twice": {"kind": "duplicate", "retrievers": ["bm25"], "k": [2], "ordering": "ascending"},
    },
    "claims": {"few": {"source": "local", "path": "claims.jsonl"}},
    "acu": {"claims": ["few"], "prompts": ["claims_zeroshot_claimant"], "generators": ["demo-lm"]},
    "published": {
        "utility": "published/utility.csv",
        "labels": "published/labels.csv",
        "label_cost": "published/cost.csv",
        "claims": "published/claims.csv",
        "names": {"datasets": {"dl": "small"}, "retrievers": {"Oracle": "rel"}, "generators": {"Llama": "demo-lm"}},
    },
}
# Made for the small study; the cell of k = 15 is none of its own.
PUBLISHED = {
    "utility": [
        "dataset,retriever,ordering,k,references,mean_utility,differs_from_rel,differs_from_reversed,mean_p0",
        "dl,bm25,descending,2,lenient,0.1,true,false,0.5",
        "dl,bm25,ascending,2,lenient,0.2,true,false,0.5",
        "dl,Oracle,descending,2,lenient,0.3,false,false,0.5",
        "dl,Oracle,descending,15,lenient,0.4,false,false,0.5",
    ],
    "labels": [
        "retriever,dataset,annotation,measure,coefficient,value",
        "bm25,dl,erag,P,tau,0.5", "bm25,dl,erag,P,rho,0.6", "contriever,dl,erag,P,tau,0.7",
    ],
    "cost": ["dataset,end_to_end_seconds,erag_seconds", "dl,100,50"],
    "claims": ["model,dataset,mean_acu", "Llama,few,0.25", "Pythia,few,0.5"],
}  # fmt: skip


def optional_study(finished: Sandbox, folder: Path) -> Sandbox:
    """Run it in ``folder``: annotation sources, context use, gold answers, published tables, predictors with models,

    contexts that are changed on purpose, and five claims with fifteen pieces of evidence, before a template with a
    claimant. Its jobs note what they call.
    """
    study = Traced.at(finished.copied_to(folder).folder)
    add_optional_parts(study)
    with study.noting():
        study.snakemake("plan")
        study.snakemake("erag", "acu", "reproduce", "predict", "report")
    return study


def add_optional_parts(study: Sandbox) -> None:
    """Add keys and files of every optional part; the quality of a passage is its length."""
    lines = (ROOT / "resources/demo/claims/claims.jsonl").read_text(encoding="utf-8").splitlines()[:15]
    (study.folder / "claims.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    chosen = {"retrievers": ["bm25", "rel"], "annotations": SOURCES, "scorers": ["minilm", "token_f1"]}
    (study.folder / "published").mkdir()
    for name, rows in PUBLISHED.items():
        (study.folder / f"published/{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    build_tiny_cross_encoder(study.folder / "tiny_cross_encoder")
    passages = pl.read_ndjson(study.collection / "passages.jsonl")
    (study.folder / "quality").mkdir()
    quality = passages.select(docno="doc_id", quality=pl.col("text").str.len_chars())
    quality.write_parquet(study.folder / "quality/small.parquet")
    study.config |= {**OPTIONAL, "grid": {**study.config["grid"], **chosen}}
    study.write_config()
