"""Score the answers of a preview, from the score store where it has them, and give means with intervals, no words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.analysis.gain import gains
from ragrelay.analysis.summary import mean_intervals
from ragrelay.analysis.systems import EXPLORATORY, systems
from ragrelay.analysis.utility import compute_utility
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.file_hashes import FOLDER as HASHES
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CELL, CELL_OF_RETRIEVER
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.scoring.answer_cells import AnswerCells, Cell
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.reference_sets import references_for
from ragrelay.scoring.retriever_table import AnswerFiles, References, score_answers
from ragrelay.scoring.scorer import SCORER_KINDS, MeasuredScorer, make_scorer
from ragrelay.scoring.store import KEY, ScoreStore

MEANS = [*CELL, "n", "mean_p", "p_low", "p_high", "mean_p0", "mean_difference", "low", "high"]
PAIRS = ["retriever", "against_retriever", *CELL_OF_RETRIEVER, "n", "mean_difference", "level", "low", "high"]
"""Columns of the tables: those of gain.csv and systems.csv without verdicts and p-values, and an interval of P."""
OF_CONTEXT = ["qid", "docnos", "prompt_id"]
"""The columns of prompts without their texts."""
NOT_SCORED = (
    "its jobs have not scored the others, and a preview loads no model unasked (--config preview=score: it does)"
)
NO_REFERENCES = "its references are not there yet"


@dataclass(frozen=True)
class Previewed:
    """What a study compares, and how its preview is made.

    ``counted``: retrievers whose queries without results have P = P_0. ``with_models``: whether to score with models.
    """

    retrievers: Sequence[str]
    seeds: Sequence[int]
    counted: Collection[str]
    reference_retriever: str | None
    margins: Mapping[str, float | None]
    resamples: int
    seed: int
    cache_dir: str
    with_models: bool
    threads: int = 1


@dataclass(frozen=True)
class Scored:
    """A scorer. ``references``: the file that it compares answers with; ``tables``: its score tables by retriever."""

    name: str
    definition: Mapping[str, Any]
    references: str
    grades: Mapping[str, int]
    near_copy: float | None
    mode: str
    primary: Mapping[str, Any] | None
    tables: Mapping[str, str]


class ScorerPreview(NamedTuple):
    """``means`` (MEANS) and ``pairs`` (PAIRS) over the ``scored`` queries; ``remark``: why others are not scored."""

    scorer: str
    primary: Primary | None
    scored: int
    means: pl.DataFrame
    pairs: pl.DataFrame
    remark: str = ""


class Views(NamedTuple):
    """Prompts by retriever and (ordering, k), and answers by retriever and cell: files with the queries ``qids``."""

    qids: Sequence[str]
    prompts: Mapping[str, Mapping[tuple[str, int], Path]]
    answers: Mapping[str, Mapping[Cell, Path]]

    def copied(self, qids: Sequence[str], folder: Path) -> "Views":
        """Copy the rows of ``qids`` into ``folder``."""
        prompts = {
            name: {key: _copied(path, qids, folder / name / f"prompts-{key}", OF_CONTEXT) for key, path in own.items()}
            for name, own in self.prompts.items()
        }
        answers = {
            name: {key: _copied(path, qids, folder / name / f"answers-{key}") for key, path in own.items()}
            for name, own in self.answers.items()
        }
        return Views(qids, prompts, answers)


def scorer_preview(
    scorer: Scored, views: Views, files: Mapping[str, KeyedFiles], study: Previewed, folder: Path
) -> ScorerPreview:
    """Return the preview of ``scorer`` on the answers of ``views``. ``files``: of preview.Answered.

    Scores come from the score store. Those that it lacks are computed if the scorer loads no model, or if
    ``with_models``, and kept nowhere; else their queries are left out. A judge's scores come from its tables, when all
    of them exist and are of these answers. A scorer that cannot work is remarked on.
    """
    retrievers = [name for name in views.answers if name != ZEROSHOT]
    kind = SCORER_KINDS.of(scorer.definition)
    judged = isinstance(kind, JudgeScorer) or kind.from_file
    try:
        tables, scored, remark = (
            _judged(scorer, views, files, folder) if judged else _compared(scorer, views, files, study, folder)
        )
    except InputError as error:
        tables, scored, remark = {}, [], str(error)
    primary = Primary(**scorer.primary) if scorer.primary else None
    if primary and not {primary.retriever, primary.reference} <= set(retrievers):
        primary = None
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
    """Return MEANS of one retriever's ``utility``. The gain of zero-shot answers is null."""
    # As in utility.csv: over the queries with both, or with P if no query of the cell has P_0.
    both = pl.col("p").is_not_null() & (pl.col("p0").is_not_null() | pl.col("p0").is_null().all())
    cells = utility.sort([*CELL, "qid"]).group_by(CELL, maintain_order=True).agg(pl.col("p").filter(both))
    intervals = mean_intervals(cells["p"], "P").select(p_low="low", p_high="high")
    of_context = utility.filter(pl.col("retriever") != ZEROSHOT)
    gained = gains(of_context, study.resamples, study.seed).select(*CELL, "mean_p0", "mean_difference", "low", "high")
    means = cells.select(*CELL, n=pl.col("p").list.len().cast(pl.Int64), mean_p=pl.col("p").list.mean())
    whole = pl.concat([means, intervals], how="horizontal")
    return whole.join(gained, on=CELL, how="left", maintain_order="left").select(MEANS)


def _compared(
    scorer: Scored, views: Views, files: Mapping[str, KeyedFiles], study: Previewed, folder: Path
) -> tuple[dict[str, Path], Sequence[str], str]:
    """Return the score tables by retriever, the queries that they have, and why others are left out."""
    if not Path(scorer.references).is_file():
        return {}, [], NO_REFERENCES
    cache, cache_dir = folder / "cache", Path(study.cache_dir)
    for name in ("references", HASHES):
        _link(cache_dir / name, cache / name)
    fingerprint = make_scorer(scorer.definition, cache).fingerprint
    _link(*(ScoreStore(place, fingerprint).folder for place in (cache_dir, cache)))
    kind = SCORER_KINDS.of(scorer.definition)
    if study.with_models or not (isinstance(kind, MeasuredScorer) and kind.loads_model):
        own, remark = views, ""
    else:
        waiting = _without_scores(scorer, views, ScoreStore(cache, fingerprint))
        scored = [qid for qid in views.qids if qid not in waiting]
        own, remark = views.copied(scored, folder / "scored"), NOT_SCORED if waiting else ""
    if not own.qids:
        return {}, [], remark
    references = References(scorer.references, scorer.grades, scorer.near_copy)
    zeroshot = {seed: path for (_, _, seed), path in own.answers[ZEROSHOT].items()}
    tables = {}
    for name, answers in own.answers.items():
        tables[name] = folder / f"scores-{name}"
        passages = files["passages"].matching(retriever=name).paths
        given = AnswerFiles(answers, own.prompts[name], {} if name == ZEROSHOT else zeroshot, passages)
        score_answers(given, references, scorer.definition, cache, tables[name], study.threads)
    return tables, own.qids, remark


def _without_scores(scorer: Scored, views: Views, store: ScoreStore) -> set[str]:
    """Return the queries of ``views`` with an answer whose scores ``store`` lacks."""
    queries = references_for(scorer.definition, scorer.references)
    hashes = pl.DataFrame({"qid": list(queries), "references_hash": [query.hash for query in queries.values()]})
    cells = [AnswerCells(views.answers[name], views.prompts[name], queries).keys for name in views.answers]
    pairs = pl.concat(cells).join(hashes, on="qid").select("qid", *KEY)
    return set(pairs.join(store.held(pairs), on=KEY, how="anti")["qid"])


def _judged(
    scorer: Scored, views: Views, files: Mapping[str, KeyedFiles], folder: Path
) -> tuple[dict[str, Path], Sequence[str], str]:
    """Return as _compared does, from the tables of a judge or of a file."""
    tables = {}
    for name, answers in views.answers.items():
        table = Path(scorer.tables[name])
        given = files["answers"].matching(retriever=name).by("ordering", "k", "seed")
        current = table.is_file() and all(_same(given[cell], path, table) for cell, path in answers.items())
        if not current:
            return {}, [], f"its scores of all answers of {name} are not there yet"
        tables[name] = _copied(table, views.qids, folder / f"scores-{name}")
    return tables, views.qids, ""


def _same(given: Path, view: Path, table: Path) -> bool:
    """Return whether ``table`` was made from the answers ``given``, and these have those of ``view``."""
    if not given.is_file() or given.stat().st_mtime > table.stat().st_mtime:
        return False
    expected, known = (pl.read_parquet(path, columns=["qid", "answer"], glob=False) for path in (view, given))
    return expected.join(known, on=["qid", "answer"], how="anti", nulls_equal=True).is_empty()


def _copied(path: Path, qids: Sequence[str], target: Path, columns: Sequence[str] | None = None) -> Path:
    rows = pl.scan_parquet(path, glob=False).filter(pl.col("qid").is_in(list(qids)))
    write_parquet((rows.select(columns) if columns else rows).collect(), target)
    return target


def _link(folder: Path, target: Path) -> None:
    """Make links in ``target`` to all that is in ``folder``, so that what is added to one is not in the other."""
    target.mkdir(parents=True)
    for entry in folder.glob("[!.]*"):
        (target / entry.name).symlink_to(entry.absolute())
