"""A tiny study written as files, and a scorer that can be checked by hand: overlap of words."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ragrelay.scoring.retriever_table import References, score_answers
from ragrelay.scoring.scorer import Scores, Task

OVERLAP = {"kind": "overlap"}


class Overlap:
    """Precision, recall and F1 over distinct words; counts how often each answer comes."""

    fingerprint = "overlap"

    def __init__(self) -> None:
        self.prepared = 0
        self.seen: list[str] = []

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        self.prepared += 1
        return {"texts": len(set(references))}

    def check_answers(self, answers: Iterable[str]) -> None:
        """It sees all words."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        self.seen += dict.fromkeys(answer for task in tasks for answer in task.answers)
        return [Scores(*self._values(task)) for task in tasks]

    @staticmethod
    def _values(task: Task) -> np.ndarray:
        values = np.zeros((3, len(task.answers), len(task.references)), dtype=np.float32)
        for row, answer in enumerate(task.answers):
            for column, reference in enumerate(task.references):
                ours, theirs = set(answer.split()), set(reference.split())
                if shared := len(ours & theirs):
                    precision, recall = shared / len(ours), shared / len(theirs)
                    values[:, row, column] = precision, recall, 2 * precision * recall / (precision + recall)
        return values


Answers = Mapping[tuple[str, int, int], Mapping[str, str]]


def write_study(
    folder: Path,
    references: Sequence[tuple[str, str, int, str]],
    contexts: Mapping[tuple[str, int], Mapping[str, Sequence[str]]],
    answers: Answers,
    zeroshot: Mapping[int, Mapping[str, str]],
) -> dict[str, Any]:
    """Files of one retriever; returns the paths as score_table takes them.

    ``references``: (qid, docno, label, text); ``contexts``: docnos by (ordering, k) and qid; ``answers`` by (ordering,
    k, seed) and qid; ``zeroshot`` by seed and qid.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schema = {"qid": pl.String, "docno": pl.String, "label": pl.Int64, "text": pl.String}
    pl.DataFrame(list(references), schema=schema, orient="row").write_parquet(folder / "references.parquet")
    prompts = {}
    for (ordering, k), docnos in contexts.items():
        prompts[ordering, k] = folder / f"prompts-{ordering}-{k}.parquet"
        table = {"qid": list(docnos), "docnos": [list(one) for one in docnos.values()]}
        ids = [f"{ordering} {k} {qid}" for qid in docnos]
        frame = pl.DataFrame(
            {**table, "prompt": ids, "prompt_id": ids}, schema_overrides={"docnos": pl.List(pl.String)}
        )
        frame.write_parquet(prompts[ordering, k])
    files = {}
    for (ordering, k, seed), texts in answers.items():
        files[ordering, k, seed] = folder / f"answers-{ordering}-{k}-{seed}.parquet"
        write_answers(files[ordering, k, seed], ordering, k, seed, texts)
    zero = {}
    for seed, texts in zeroshot.items():
        zero[seed] = folder / f"zeroshot-{seed}.parquet"
        write_answers(zero[seed], "none", 0, seed, texts)
    return {"answers": files, "prompts": prompts, "zeroshot": zero, "references": folder / "references.parquet"}


def write_answers(path: Path, ordering: str, k: int, seed: int, texts: Mapping[str, str | None]) -> None:
    columns = {
        "qid": list(texts),
        "prompt_id": [f"{ordering} {k} {qid}" for qid in texts],
        "seed": [seed] * len(texts),
        "answer": list(texts.values()),
    }
    pl.DataFrame(columns, schema_overrides={"answer": pl.String, "seed": pl.Int64}).write_parquet(path)


def score_table(
    answers: Any,
    prompts: Any,
    zeroshot: Any,
    references: Any,
    grades: Any,
    contexts: Any = (),
    near_copy: Any = None,
    **rest: Any,
) -> None:
    """Call score_answers with the files of write_study."""
    files = {**answers, **{("none", 0, seed): path for seed, path in zeroshot.items()}}
    score_answers(files, prompts, References(references, grades, near_copy), contexts=contexts, **rest)
