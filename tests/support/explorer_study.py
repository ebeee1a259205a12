"""A tiny study's files as the query explorer reads them, with texts that would break a page that trusted them."""

from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.query_explorer.reading import ExplorerFiles

PROMPTS = "prompts-{retriever}-{ordering}-{k}"
ANSWERED = "answers-{retriever}-{ordering}-{k}-{seed}"
SCRIPT = "</script><script>window.hacked=1</script>"
IMAGE = "\"><img src=x onerror='window.hacked=1'> <!-- \u2028 ${1}"
QUERIES = {"1": "how does the heart pump blood", "2": SCRIPT, "a/b": "third"}
LABELS = {"d1": 3, "d2": 2, "d3": 0}
TEXTS = {"d1": "the heart is a pump", "d2": IMAGE, "d3": "tea grows", "d4": SCRIPT}
ANSWERS = {1: "the heart is a pump", 2: SCRIPT}
THOUGHTS = {1: ("<think>it pumps</think>", 4, "mark"), 2: (IMAGE, None, "budget")}
"""By seed: thought, tokens, end."""
KS = (1, 2)
ORDERINGS = ("descending", "ascending")
RANKED = ("d4", "d2", "d3")
GRID: dict[str, Any] = {"retrievers": ["bm25", "rel"], "orderings": list(ORDERINGS), "k": list(KS), "seeds": [1, 2],
                        "measures": ["nDCG"]}  # fmt: skip


def context(ordering: str, k: int) -> list[str]:
    return list(RANKED[:k]) if ordering == "descending" else list(RANKED[:k])[::-1]


def utility_of(retriever: str, k: int) -> float:
    return {"bm25": 0.25, "rel": -0.5}[retriever] * k


def thought_of(cell: dict[str, Any], thinks: tuple[str, ...]) -> dict[str, Any]:
    if cell["retriever"] not in thinks:
        return {}
    thought, tokens, end = THOUGHTS[cell["seed"]] if cell["k"] else (None, 0, "none")
    columns = {"thought": (thought, pl.String), "thought_tokens": (tokens, pl.Int64), "thought_end": (end, pl.String)}
    return {name: pl.Series([value] * 3, dtype=kind) for name, (value, kind) in columns.items()}


def write_sources(folder: Path, thinks: tuple[str, ...] = ()) -> ExplorerFiles:
    """Write the files of two retrievers, of which both have the same contexts and answers, and other means.

    Answers of the retrievers ``thinks`` come after THOUGHTS, without context after none; other files tell of none.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, frame: pl.DataFrame) -> Path:
        frame.write_parquet(folder / f"{name}.parquet")
        return folder / f"{name}.parquet"

    qids = list(QUERIES)
    queries = write("queries", pl.DataFrame({"qid": qids, "query": list(QUERIES.values())}))
    judged = [(qid, docno, label, TEXTS[docno]) for qid in qids for docno, label in LABELS.items() if label > 1]
    schema = {"qid": pl.String, "docno": pl.String, "label": pl.Int64, "text": pl.String}
    references = write("references", pl.DataFrame(judged, schema=schema, orient="row"))
    shown = [(qid, docno, LABELS.get(docno), TEXTS[docno]) for qid in qids for docno in RANKED]
    passages = write("passages", pl.DataFrame(shown, schema=schema, orient="row"))
    measured = pl.DataFrame({"qid": qids * 2, "measure": ["nDCG"] * 6, "k": [1] * 3 + [2] * 3, "value": [0.5] * 6})
    retrieval = write("retrieval", measured)
    contexts: list[dict[str, Any]] = [
        {"retriever": r, "ordering": o, "k": k} for r in GRID["retrievers"] for o in ORDERINGS for k in KS
    ]
    zeroshot = {"retriever": "zeroshot", "ordering": "none", "k": 0}
    cells = [{**cell, "seed": seed} for cell in [*contexts, zeroshot] for seed in ANSWERS]
    prompts = [
        write(
            PROMPTS.format(**c).removesuffix(".parquet"),
            pl.DataFrame({"qid": qids, "docnos": [context(c["ordering"], c["k"])] * 3}),
        )
        for c in contexts
    ]
    answers = [
        write(ANSWERED.format(**c), pl.DataFrame(
            {"qid": qids, "seed": [c["seed"]] * 3, "answer": [ANSWERS[c["seed"]]] * 3, "answer_tokens": [5] * 3,
             "finish_reason": ["stop" if c["seed"] == 1 else "length"] * 3, "dropped_passages": [0] * 3,
             **thought_of(c, thinks)}
        ))
        for c in cells
    ]  # fmt: skip
    scores = {
        r: write(f"scores-{r}", pl.DataFrame([
            {"qid": qid, "ordering": c["ordering"], "k": c["k"], "seed": c["seed"], "references": "lenient",
             "f1": 0.5 + 0.1 * c["seed"], "best_docno": "d2", "best_in_context": c["k"] == 2}
            for c in cells if c["retriever"] == r for qid in qids
        ]))
        for r in ["zeroshot", *GRID["retrievers"]]
    }  # fmt: skip
    means = [
        {"qid": qid, **c, "references": "lenient", "p": 0.65, "p0": 0.5,
         "utility": utility_of(c["retriever"], c["k"]) if c["k"] else None, "context_use": 0.25 if c["k"] else None,
         "text_change": 0.5 if c["k"] else None}
        for c in [*contexts, zeroshot] for qid in qids
    ]  # fmt: skip
    utility = write("utility", pl.DataFrame(means, infer_schema_length=None))
    both = dict.fromkeys(GRID["retrievers"], passages)
    files = (KeyedFiles(f"{PROMPTS}.parquet", tuple(prompts)), KeyedFiles(f"{ANSWERED}.parquet", tuple(answers)))
    return ExplorerFiles(queries, references, *files, scores, both,
                   dict.fromkeys(GRID["retrievers"], retrieval), utility)  # fmt: skip
