"""Convert a query's data to JSON in which no text occurs twice."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ragrelay.report.query_explorer.reading import Frames

Json = dict[str, Any]
Place = tuple[str, str, int]
DIGITS = 4


def query_values(queries: pl.DataFrame, frames: Frames) -> Iterator[Json]:
    """Yield the JSON value of each query. ``queries``: columns qid and query; ``frames``: the result of `read_frames`.

    A value has the keys qid, query, ``passages`` (a list of [docno, label, text]), ``answers`` (distinct texts) and
    ``cells``. Optional keys are ``thoughts``, ``shown`` (distinct texts of processed passages) and ``blocks``. Cells
    refer to passages and texts by index in these lists. A cell has the keys retriever, ordering, k and

    - ``context``: the passages' indexes, in prompt order; processed retrievers also have ``shown`` and ``emptied``
    - ``answers``: [seed, index, finish reason, tokens, passages dropped], then a thought's index, tokens and ending
    - ``scores``: for each reference set and answer, [F1, index of the best passage or null], or null
    - ``means`` (for each reference set, [P, P0, U]) and ``measures``; if computed, ``use``: [context use, text change]
    - ``effects`` of single passages, if computed: for each reference set, [index, label, difference in P]
    """
    parts = {name: frame.partition_by("qid", as_dict=True) for name, frame in frames.items()}
    empty = {name: frame.clear() for name, frame in frames.items()}
    for qid, query in queries.select("qid", "query").iter_rows():
        yield _value(qid, query, {name: parts[name].get((qid,), empty[name]) for name in frames})


def _value(qid: str, query: str, own: Frames) -> Json:
    cells: dict[Place, Json] = {}
    texts: dict[str, int] = {}
    thoughts: dict[str, int] = {}
    rows: dict[Place, list[Json]] = defaultdict(list)
    for row in own["answers"].iter_rows(named=True):
        rows[_place(row)].append(row)
    places = {docno: place for place, docno in enumerate(own["passages"]["docno"])}
    contexts = {
        _place(row): [places[docno] for docno in row["docnos"]] for row in own["contexts"].iter_rows(named=True)
    }
    for place, answers in rows.items():
        retriever, ordering, k = place
        answers.sort(key=lambda row: row["seed"])
        cells[place] = {
            "retriever": retriever,
            "ordering": ordering,
            "k": k,
            "context": contexts.get(place, []),
            "answers": [
                [row["seed"], texts.setdefault(row["answer"], len(texts)), row["finish_reason"], row["answer_tokens"],
                 row["dropped_passages"], *_thought(row, thoughts)] for row in answers
            ],
            "scores": {},
            "means": {},
            "measures": {},
        }  # fmt: skip
    _add_scores(cells, own["scores"], places)
    shown: dict[str, int] = {}
    for (retriever, k), rows_of in own["processed"].group_by("retriever", "k", maintain_order=True):
        made = dict(rows_of.select("docno", "text").iter_rows())
        for place, cell in cells.items():
            if (place[0], place[2]) == (retriever, k):
                docnos = [own["passages"]["docno"][at] for at in cell["context"]]
                cell["shown"] = [shown.setdefault(made[docno], len(shown)) for docno in docnos]
                cell["emptied"] = [places[docno] for docno, text in made.items() if text is None]
    for row in own["utility"].iter_rows(named=True):
        if _place(row) in cells:
            means = [_rounded(row[name]) for name in ("p", "p0", "utility")]
            cells[_place(row)]["means"][row["references"]] = means
            if row["context_use"] is not None:
                cells[_place(row)]["use"] = [_rounded(row[name]) for name in ("context_use", "text_change")]
    for row in own["effects"].iter_rows(named=True):
        if _place(row) in cells:
            effects = cells[_place(row)].setdefault("effects", {}).setdefault(row["references"], [])
            effects.append([places[row["docno"]], row["what"], _rounded(row["effect"])])
    measured: dict[tuple[str, int], Json] = defaultdict(dict)
    for row in own["measures"].iter_rows(named=True):
        measured[row["retriever"], row["k"]][row["measure"]] = _rounded(row["value"])
    for (retriever, _, k), cell in cells.items():
        cell["measures"] = measured.get((retriever, k), {})
    passages = [list(row) for row in own["passages"].select("docno", "label", "text").iter_rows()]
    blocks = _blocks(own["blocks"], passages, places, texts)
    return {
        "qid": qid,
        "query": query,
        "passages": passages,
        "answers": list(texts),
        "cells": list(cells.values()),
        **({"thoughts": list(thoughts)} if thoughts else {}),
        **({"shown": list(shown)} if shown else {}),
        **({"blocks": blocks} if blocks else {}),
    }


def _blocks(
    answers: pl.DataFrame, passages: list[list[object]], places: dict[str, int], texts: dict[str, int]
) -> list[Json]:
    """Return one query's blocks, and add passages and texts that no cell has to the arguments."""
    blocks: dict[str, dict[tuple[str, str], dict[str, Json]]] = defaultdict(lambda: defaultdict(dict))
    names = dict.fromkeys(score["references"] for scores in answers["scores"] for score in scores)
    for row in answers.iter_rows(named=True):
        for passage in row["passages"]:
            if passage["docno"] not in places:
                places[passage["docno"]] = len(passages)
                passages.append([passage[name] for name in ("docno", "label", "text")])
        cell = blocks[row["block"]][row["title"], row["text"]].setdefault(row["retriever"], {
            "retriever": row["retriever"],
            "note": row["note"],
            "context": [places[passage["docno"]] for passage in row["passages"]],
            "answers": [],
            "scores": {name: [] for name in names},
        })  # fmt: skip
        at = texts.setdefault(row["answer"], len(texts))
        cell["answers"].append([row["seed"], at, row["finish_reason"], row["answer_tokens"], 0])
        p = {score["references"]: score["p"] for score in row["scores"]}
        for name, values in cell["scores"].items():
            values.append([_rounded(p[name]), None] if name in p else None)
    return [
        {"title": title, "rows": [
            {"title": row, "text": text, "lists": list(lists.values())} for (row, text), lists in rows.items()
        ]}
        for title, rows in blocks.items()
    ]  # fmt: skip


def _thought(row: Json, thoughts: dict[str, int]) -> list[Any]:
    """Return the fields of the thought before an answer, if any, and add the thought to ``thoughts``."""
    if row["thought"] is None:
        return []
    return [thoughts.setdefault(row["thought"], len(thoughts)), row["thought_tokens"], row["thought_end"]]


def _add_scores(cells: dict[Place, Json], scores: pl.DataFrame, places: dict[str, int]) -> None:
    seeds: dict[Place, dict[int, int]] = {
        place: {answer[0]: number for number, answer in enumerate(cell["answers"])} for place, cell in cells.items()
    }
    for row in scores.iter_rows(named=True):
        place = _place(row)
        if place in cells and row["seed"] in seeds[place]:
            sets = cells[place]["scores"]
            values: list[object] = sets.setdefault(row["references"], [None] * len(seeds[place]))
            best = places.get(row["best_docno"])
            values[seeds[place][row["seed"]]] = [_rounded(row["f1"]), best]


def _place(row: Json) -> Place:
    return row["retriever"], row["ordering"], row["k"]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def sample_queries(qids: Sequence[str], most: int) -> list[str]:
    """Return all ``qids`` or, if there are more than ``most``, an evenly spaced sample."""
    step = -(-len(qids) // most)
    return list(qids[::step])
