"""The header of run files, by the fields of ir_metadata."""

from typing import Any

import ragrelay
import yaml
from ragrelay.retrieval.trec import END, START, describe_run, header

RETRIEVERS: dict[str, dict[str, Any]] = {
    "bm25": {"kind": "bm25", "engine": "pisa", "k1": 0.9, "b": 0.4},
    "t5": {"kind": "rerank", "first_stage": "bm25", "model": "a/b", "depth": 100},
    "mine": {"kind": "run", "path": "runs/{dataset}.run"},
    "all": {"kind": "fusion", "retrievers": ["t5", "bm25"]},
    "rel": {"kind": "oracle", "min_label": 2},
}
DL19 = {"source": "ir_datasets", "id": "msmarco-passage/trec-dl-2019/judged"}


def told(name: str, source: dict[str, Any] = DL19) -> dict[str, Any]:
    """What the comments say, read as YAML."""
    first, *lines, last = header(describe_run(name, RETRIEVERS, "dl19", source), name)
    assert (first, last) == (START, END) == ("# ir_metadata.start", "# ir_metadata.end")
    assert all(line.startswith("# ") for line in lines)
    return yaml.safe_load("\n".join(line[2:] for line in lines))


def test_a_reranker_and_its_first_stage() -> None:
    found = told("t5")
    assert found == {
        "tag": "t5",
        "platform": {"software": {"libraries": {"python": [f"ragrelay=={ragrelay.__version__}"]}}},
        "method": {
            "automatic": True,
            "score ties": "docno, descending",
            "retrieval": [
                {"name": "bm25", "method": "bm25", "params": {"engine": "pisa", "k1": 0.9, "b": 0.4}},
                {"name": "t5", "method": "rerank", "reranks": "bm25", "params": {"model": "a/b", "depth": 100}},
            ],
        },
        "data": {"test collection": {"name": "dl19", "ir_datasets": DL19["id"]}},
    }


def test_a_fusion_names_what_it_is_made_of_and_comes_last() -> None:
    stages = told("all")["method"]["retrieval"]
    assert [stage["name"] for stage in stages] == ["bm25", "t5", "all"]
    assert stages[-1]["interpolates"] == ["t5", "bm25"] and stages[1]["reranks"] == "bm25"


def test_what_is_not_known_is_left_out() -> None:
    """Nobody knows how a run file was made; an oracle's run is made of judgements; a local folder is nobody else's."""
    assert "automatic" not in told("mine")["method"] and "automatic" not in told("rel")["method"]
    assert told("bm25", {"source": "local", "path": "/home/me"})["data"] == {"test collection": {"name": "dl19"}}
    assert not {"actor", "research goal", "implementation"} & set(told("bm25"))
