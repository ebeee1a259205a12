"""Preview an unfinished study: count queries with complete answers, and compute their mean scores, but no verdicts.

The preview collects answers and computes scores in a temporary folder, with the same functions as the study's jobs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.analysis.gain import gains
from ragrelay.analysis.summary import utility_summary
from ragrelay.analysis.systems import EXPLORATORY, systems
from ragrelay.analysis.utility import compute_utility
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.file_hashes import FOLDER as HASHES
from ragrelay.base.io.keyed_files import KeyedFiles, keyed_files
from ragrelay.base.vocabulary.columns import CELL, CELL_OF_RETRIEVER
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.scoring.answer_cells import AnswerCells, Cell
from ragrelay.scoring.reference_sets import references_for
from ragrelay.scoring.retriever_table import References, score_answers
from ragrelay.scoring.scorer import SCORER_KINDS, MeasuredScorer, make_scorer
from ragrelay.scoring.store import ScoreStore

MEANS = [*CELL, "n", "mean_p", "p_low", "p_high", "mean_p0", "mean_difference", "low", "high"]
PAIRS = ["retriever", "against_retriever", *CELL_OF_RETRIEVER, "n", "mean_difference", "level", "low", "high"]
"""The tables' columns: those of gain.csv and systems.csv without verdicts and p-values, but with an interval for P."""
NOT_SCORED = "the others aren't scored yet, and a preview loads no model"
NO_REFERENCES = "its references aren't ready yet"
NOT_MEASURED = "its scores are only on the study's page"


@dataclass(frozen=True)
class Previewed:
    """The retrievers, seeds and settings for a study's preview.

    ``counted``: the retrievers for which queries without results get P = P_0.
    """

    retrievers: Sequence[str]
    seeds: Sequence[int]
    counted: Collection[str]
    reference_retriever: str | None
    margins: Mapping[str, float | None]
    resamples: int
    seed: int
    cache_dir: str
    threads: int = 1


@dataclass(frozen=True)
class Scored:
    """A scorer to preview. ``references``: path, grades and near_copy, as in the class References."""

    name: str
    definition: Mapping[str, Any]
    references: tuple[str, Mapping[str, int], float | None]
    mode: str
    primary: Mapping[str, Any] | None


@dataclass(frozen=True)
class Answered:
    """A dataset and generator, with the paths of their files, which may not exist yet.

    ``fingerprint`` names the answer store, or is None for imported answers, which are in the files ``answers``.
    ``files``: paths by name (queries, prompts, answers, passages, ranked). ``ranked``: the retrievers' contexts, or
    empty if every query with results gets a score. ``patterns``: the path patterns of all these files except queries.
    ``scorers``: one mapping per scorer, with the fields of Scored.
    """

    dataset: str
    generator: str
    fingerprint: str | None
    thinking: tuple[str, str] | None
    files: Mapping[str, Sequence[str]]
    patterns: Mapping[str, str]
    scorers: Sequence[Mapping[str, Any]]


class ScorerPreview(NamedTuple):
    """Mean scores and retriever comparisons over ``scored`` queries. ``remark``: why other queries have no score."""

    scorer: str
    primary: Primary | None
    scored: int
    means: pl.DataFrame
    pairs: pl.DataFrame
    remark: str = ""


class Preview(NamedTuple):
    """The preview for a dataset and generator.

    ``answered``: for each retriever and zero-shot, the number of queries with complete answers, or None if there are no
    prompts yet. ``retrievers``: the retrievers to show. ``complete``: the number of queries with complete answers for
    all these retrievers and zero-shot.
    """

    dataset: str
    generator: str
    queries: int
    answered: Mapping[str, int | None]
    retrievers: Sequence[str]
    complete: int
    scorers: Sequence[ScorerPreview]


class Views(NamedTuple):
    """The files for the queries ``qids``: prompts by retriever and (ordering, k), and answers by retriever and cell."""

    qids: Sequence[str]
    prompts: Mapping[str, Mapping[tuple[str, int], Path]]
    answers: Mapping[str, Mapping[Cell, Path]]

    def copied(self, qids: Sequence[str], folder: Path) -> "Views":
        """Copy the rows for ``qids`` to new files in ``folder``, without the prompts' texts."""
        of_context = ["qid", "docnos", "prompt_id"]
        prompts = _copied_files(self.prompts, qids, folder / "prompts", of_context)
        return Views(qids, prompts, _copied_files(self.answers, qids, folder / "answers"))


def preview_answers(part: Answered, study: Previewed, folder: Path) -> Preview:
    """Return the preview for the dataset and generator in ``part``. ``folder``: an empty folder for temporary files.

    A query is included if all its answers are stored, for every retriever, ordering, k and seed and for zero-shot. A
    retriever without any such query, for example one that was just added, is left out. For scores, see _scorer_preview.
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
    views = Views(complete, prompts, {} if store else answers).copied(complete, folder / "complete")
    if store:
        made = {name: {cell: folder / name / str(cell) for cell in own} for name, own in answers.items()}
        views = views._replace(answers=made)
        for name, own in views.answers.items():
            view_answers(views.prompts[name], store, own, part.thinking)
    scorers = [
        _scorer_preview(Scored(**scorer), views, files, study, folder / "scorers" / str(place))
        for place, scorer in enumerate(part.scorers)
    ]
    return found._replace(scorers=scorers)


def _unfinished(
    files: Mapping[str, KeyedFiles], retrievers: Iterable[str], store: AnswerStore | None, seeds: Sequence[int]
) -> dict[str, set[str] | None]:
    """Return the queries that lack an answer, by retriever; None if its prompts or imported answers don't exist."""
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


def _scorer_preview(
    scorer: Scored, views: Views, files: Mapping[str, KeyedFiles], study: Previewed, folder: Path
) -> ScorerPreview:
    """Return the preview of ``scorer`` for the answers in ``views``. ``files``: see Answered.

    Scores come from the score store. If the scorer doesn't load a model, missing scores are computed but not stored;
    otherwise their queries are left out. Scorers that can't run, judges and score files get a remark.
    """
    retrievers = [name for name in views.answers if name != ZEROSHOT]
    primary = Primary(**scorer.primary) if scorer.primary else None
    if primary and not {primary.retriever, primary.reference} <= set(retrievers):
        primary = None
    try:
        tables, scored, remark = _tables(scorer, views, files, study, folder)
    except InputError as error:
        tables, scored, remark = {}, [], str(error)
    if not tables:
        return ScorerPreview(scorer.name, primary, 0, pl.DataFrame(), pl.DataFrame(), remark)
    contexts = files["ranked"].by("retriever").items()
    ranked = {name: pl.read_parquet(path, columns=["qid"])["qid"].unique().to_list() for name, path in contexts}
    utility = pl.concat(compute_utility(tables, scorer.mode, {}, study.counted, ranked))
    means = [_means(utility.filter(retriever=name), study) for name in (ZEROSHOT, *retrievers)]
    reference = study.reference_retriever if study.reference_retriever in retrievers else None
    of_context = utility.filter(pl.col("retriever") != ZEROSHOT)
    pairs = systems(of_context, retrievers, reference, primary, study.margins[scorer.name])
    pairs = pairs.filter(pl.col("role") != EXPLORATORY)
    return ScorerPreview(scorer.name, primary, len(scored), pl.concat(means), pairs.select(PAIRS), remark)


def _means(utility: pl.DataFrame, study: Previewed) -> pl.DataFrame:
    """Return MEANS for one retriever's ``utility``. Zero-shot answers have no gain (null)."""
    # As in utility.csv, means are over the queries with both, or with P if no query in the cell has P_0.
    both = pl.col("p").is_not_null() & (pl.col("p0").is_not_null() | pl.col("p0").is_null().all().over(CELL))
    of_p = utility_summary(utility.with_columns(utility=pl.when(both).then("p")), None)
    means = of_p.select(*CELL, pl.col("n") - pl.col("n_null"), "mean_p", p_low="low", p_high="high")
    of_context = utility.filter(pl.col("retriever") != ZEROSHOT)
    gained = gains(of_context, study.resamples, study.seed).select(*CELL, "mean_p0", "mean_difference", "low", "high")
    return means.join(gained, on=CELL, how="left", maintain_order="left").select(MEANS)


def _tables(
    scorer: Scored, views: Views, files: Mapping[str, KeyedFiles], study: Previewed, folder: Path
) -> tuple[dict[str, Path], Sequence[str], str]:
    """Return score tables by retriever, their queries, and why other queries are left out."""
    kind = SCORER_KINDS.of(scorer.definition)
    if not isinstance(kind, MeasuredScorer):
        return {}, [], NOT_MEASURED
    references, cache, remark = References(*scorer.references), folder / "cache", ""
    if not Path(references.path).is_file():
        return {}, [], NO_REFERENCES
    store = _overlay(scorer, Path(study.cache_dir), cache)
    if kind.loads_model and (waiting := _without_scores(scorer, views, store)):
        remark = NOT_SCORED
        views = views.copied([qid for qid in views.qids if qid not in waiting], folder / "scored")
    tables = {}
    for name, answers in views.answers.items() if views.qids else ():
        tables[name] = folder / f"scores-{name}"
        passages = files["passages"].matching(retriever=name).paths
        own, prompts = {**answers, **views.answers[ZEROSHOT]}, views.prompts[name]
        score_answers(own, prompts, references, scorer.definition, cache, tables[name], study.threads, passages)
    return tables, views.qids, remark


def _overlay(scorer: Scored, cache_dir: Path, cache: Path) -> ScoreStore:
    """Link the cached files that ``scorer`` reads into ``cache``, to keep ``cache_dir`` unchanged; return its store."""

    def link(folder: Path) -> None:
        (cache / folder).mkdir(parents=True)
        for entry in (cache_dir / folder).glob("[!.]*"):
            (cache / folder / entry.name).symlink_to(entry.absolute())

    for name in ("references", HASHES):
        link(Path(name))
    store = ScoreStore(cache, make_scorer(scorer.definition, cache).fingerprint)
    link(store.folder.relative_to(cache))
    return store


def _without_scores(scorer: Scored, views: Views, store: ScoreStore) -> set[str]:
    """Return the queries in ``views`` with an answer whose scores aren't in ``store``."""
    queries = references_for(scorer.definition, scorer.references[0])
    hashes = pl.DataFrame({"qid": list(queries), "references_hash": [query.hash for query in queries.values()]})
    cells = [AnswerCells(views.answers[name], views.prompts[name], queries).keys for name in views.answers]
    pairs = pl.concat(cells).join(hashes, on="qid").select("qid", *store.key)
    return set(pairs.join(store.held(pairs), on=store.key, how="anti")["qid"])


def _copied_files(
    given: Mapping[str, Mapping[Any, Path]], qids: Sequence[str], folder: Path, columns: Sequence[str] | None = None
) -> dict[str, dict[Any, Path]]:
    return {
        name: {key: _copied(path, qids, folder / name / str(key), columns) for key, path in own.items()}
        for name, own in given.items()
    }


def _copied(path: Path, qids: Sequence[str], target: Path, columns: Sequence[str] | None = None) -> Path:
    rows = pl.scan_parquet(path, glob=False).filter(pl.col("qid").is_in(list(qids)))
    write_parquet((rows.select(columns) if columns else rows).collect(), target)
    return target
