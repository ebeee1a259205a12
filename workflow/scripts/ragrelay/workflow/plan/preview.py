"""Preview an unfinished study: which queries have all their answers in the store, and what these give so far."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.io.keyed_files import KeyedFiles, keyed_files
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.scoring.answer_cells import Cell
from ragrelay.workflow.plan.preview_scores import Previewed, Scored, ScorerPreview, Views, scorer_preview


@dataclass(frozen=True)
class Answered:
    """A dataset and generator, with the paths of its files, which may not exist yet.

    ``fingerprint`` names the answer store; it is None for imported answers, which are in the files ``answers``.
    ``files`` by name: queries, prompts, answers, passages, and ranked: retrievers' contexts, if answers may be missing
    for queries with results. ``patterns``: of all but the queries.
    """

    dataset: str
    generator: str
    fingerprint: str | None
    thinking: tuple[str, str] | None
    files: Mapping[str, Sequence[str]]
    patterns: Mapping[str, str]
    scorers: Sequence[Mapping[str, Any]]
    """Arguments of Scored."""


class Preview(NamedTuple):
    """What a dataset and generator have so far.

    ``answered``: the number of queries with all their answers, by retriever and for zero-shot; None without prompts.
    ``retrievers``: those shown; ``complete``: the number of queries with all answers of these, and without context.
    """

    dataset: str
    generator: str
    queries: int
    answered: Mapping[str, int | None]
    retrievers: Sequence[str]
    complete: int
    scorers: Sequence[ScorerPreview]


def preview_answers(part: Answered, study: Previewed, folder: Path) -> Preview:
    """Return the preview of ``part``. Writes only into the empty ``folder``, whose files are of no use afterwards.

    A query counts if all its answers are in the store: those of every retriever, ordering, k and seed, and those
    without context. A retriever without such a query of its own, as one that was just added, is left out. For scores
    see scorer_preview.
    """
    files, [queries] = keyed_files(part.patterns, part.files), part.files["queries"]
    store = None if part.fingerprint is None else AnswerStore(study.cache_dir, part.fingerprint)
    qids = pl.read_parquet(queries, columns=["qid"])["qid"].to_list() if Path(queries).is_file() else []
    unfinished = _unfinished(files, [ZEROSHOT, *study.retrievers], store, study.seeds)
    answered = {name: None if some is None else len(set(qids) - some) for name, some in unfinished.items()}
    retrievers = [name for name in study.retrievers if answered[name]] if answered[ZEROSHOT] else []
    waiting = {qid for name in (ZEROSHOT, *retrievers) for qid in unfinished[name] or ()}
    complete = [qid for qid in qids if qid not in waiting] if retrievers else []
    found = Preview(part.dataset, part.generator, len(qids), answered, retrievers, len(complete), ())
    if not complete:
        return found
    prompts, answers = (
        {name: files[kind].matching(retriever=name).by(*keys) for name in (ZEROSHOT, *retrievers)}
        for kind, keys in (("prompts", ("ordering", "k")), ("answers", ("ordering", "k", "seed")))
    )
    views = Views(complete, prompts, {} if store else answers).copied(complete, folder / "prompts")
    if store:
        views = views._replace(
            answers={name: _targets(folder / "answers" / name, own) for name, own in answers.items()}
        )
        for name, own in views.answers.items():
            view_answers(views.prompts[name], store, own, part.thinking)
    scorers = [
        scorer_preview(Scored(**scorer), views, files, study, folder / "scorers" / str(place))
        for place, scorer in enumerate(part.scorers)
    ]
    return found._replace(scorers=scorers)


def _targets(folder: Path, cells: Iterable[Cell]) -> dict[Cell, Path]:
    return {cell: folder / str(cell) for cell in cells}


def _unfinished(
    files: Mapping[str, KeyedFiles], retrievers: Iterable[str], store: AnswerStore | None, seeds: Sequence[int]
) -> dict[str, set[str] | None]:
    """Return each retriever's queries that lack an answer; None if its prompts, or imported answers, do not exist."""
    asked: dict[str, pl.DataFrame | None] = {}
    for name in retrievers:
        needed = [files["prompts"], files["passages"], *([] if store else [files["answers"]])]
        exist = all(path.is_file() for of_kind in needed for path in of_kind.matching(retriever=name).paths)
        paths = files["prompts"].matching(retriever=name).paths
        frames = [pl.read_parquet(path, columns=["qid", "prompt_id"], glob=False) for path in paths if exist]
        asked[name] = pl.concat(frames) if exist else None
    known = [rows.select("prompt_id") for rows in asked.values() if rows is not None]
    lacking = pl.Series([], dtype=pl.String)
    if store and known:
        of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
        keys = pl.concat(known).unique().join(of_seeds, how="cross")
        lacking = keys.join(store.held(keys), on=KEY, how="anti")["prompt_id"].unique()
    return {
        name: None if rows is None else set(rows.filter(pl.col("prompt_id").is_in(lacking.implode()))["qid"])
        for name, rows in asked.items()
    }
