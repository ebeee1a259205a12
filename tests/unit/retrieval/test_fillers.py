"""What fills the remaining places of a context of drawn passages."""

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask, needed
from ragrelay.retrieval.trec import ranked

from tests.unit.conftest import study_of
from tests.unit.retrieval.test_oracle import LABELS, QRELS, QUERIES, TEXTS, Texts

GRADED = {"kind": "graded", "min_label": 2, "relevant": 2, "seed": 0}
POSITION = {"kind": "position", "min_label": 2, "place": 3, "seed": 0}
REL = {"kind": "oracle", "min_label": 2, "seed": 0}
OTHERS = {f"x{place:02}": "words" for place in range(30)}


class Corpus(Texts):
    """The judged passages, and others without a judgement."""

    def passages(self) -> Iterator[dict[str, str]]:
        yield from ({"doc_id": docno, "text": text} for docno, text in self.texts([*TEXTS, *OTHERS]).items())


def rankings(definition: dict[str, Any], run: pl.DataFrame | None = None) -> dict[str, list[str]]:
    task = RunTask(QUERIES, QRELS, Corpus({**TEXTS, **OTHERS}), runs=[] if run is None else [run])  # type: ignore[arg-type]
    found = ranked(RETRIEVER_KINDS.of(definition).run(task), QUERIES)
    return {str(qid): rows["docno"].to_list() for (qid,), rows in found.group_by("qid", maintain_order=True)}


def run_of(docnos: list[str]) -> pl.DataFrame:
    rows = [(qid, docno, rank, -float(rank)) for qid in QUERIES["qid"] for rank, docno in enumerate(docnos, 1)]
    return pl.DataFrame(rows, schema=["qid", "docno", "rank", "score"], orient="row")


@pytest.mark.parametrize("definition", [GRADED, POSITION, REL], ids=lambda one: one["kind"])
def test_without_the_key_a_ranking_is_as_before(definition: dict[str, Any]) -> None:
    without = rankings(definition)
    assert set().union(*without.values()) <= set(TEXTS)
    for filler in ("random", "nothing"):
        other = rankings({**definition, "filler": filler})
        for qid, docnos in without.items():
            drawn = [docno for docno in docnos if LABELS[qid, docno] >= 2]
            assert [docno for docno in other.get(qid, drawn) if docno in TEXTS] == drawn, "the same relevant ones"


def test_nothing_leaves_the_dose_alone() -> None:
    assert {len(docnos) for docnos in rankings({**GRADED, "filler": "nothing"}).values()} == {2}
    assert rankings({**REL, "filler": "nothing"}) == rankings(REL)
    assert rankings({**POSITION, "filler": "nothing"}) == {}, "no third place without passages before it"


def test_random_passages_have_no_judgement_and_are_each_querys_own() -> None:
    found = rankings({**GRADED, "filler": "random"})
    for qid, docnos in found.items():
        assert len(docnos) == len(set(docnos)) > 20
        assert not {docno for docno in docnos[2:] if (qid, docno) in LABELS}
    assert len({tuple(docnos[2:9]) for docnos in found.values()}) == len(found) > 1
    assert found == rankings({**GRADED, "filler": "random"}) != rankings({**GRADED, "filler": "random", "seed": 1})


def test_unjudged_passages_come_from_the_end_of_a_ranking() -> None:
    judged = [docno for _, docno in LABELS][:3]
    run = run_of(["x01", *judged, "x02", "lost", "x03"])
    found = rankings({**POSITION, "filler": "unjudged", "ranking": "bm25"}, run)
    for qid, docnos in found.items():
        assert docnos[:2] == ["x03", "x02"] and LABELS[qid, docnos[2]] >= 2 and docnos[3:] == ["x01"]
    assert needed(["d"], {"d": {**GRADED, "filler": "unjudged", "ranking": "b"}, "b": REL}) == ["b", "d"]


def test_an_oracle_goes_on_with_fillers() -> None:
    rel = rankings(REL)
    assert rankings({**REL, "filler": "unjudged", "ranking": "bm25"}, run_of(["x01", "x02"])) == {
        qid: [*docnos, "x02", "x01"] for qid, docnos in rel.items()
    }


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"filler": "unjudged"}, "retrievers.d.ranking': found none; expected a retriever with filler: unjudged"),
        ({"filler": "random", "ranking": "bm25"}, "retrievers.d.ranking': found 'bm25'; expected none with filler: ra"),
        ({"ranking": "bm25"}, "retrievers.d.ranking': found 'bm25'; expected none with filler: none"),
        ({"filler": "unjudged", "ranking": "bm52"}, "retrievers.d.ranking': found 'bm52'; expected one of"),
        ({"filler": "judged"}, "retrievers.d.filler': found 'judged'; expected one of unjudged, random, nothing"),
    ],
)
def test_what_cannot_fill_is_refused(config: dict[str, Any], tmp_path: Any, keys: Any, message: str) -> None:
    config["retrievers"]["d"] = {"kind": "graded", "min_label": 2, "relevant": 1, **keys}
    config["grid"]["retrievers"] = ["bm25", "d"]
    with pytest.raises(InputError, match=message):
        study_of(config, tmp_path)
