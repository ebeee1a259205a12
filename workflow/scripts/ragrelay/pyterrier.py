"""Use a study's generator and scorers in PyTerrier pipelines, through a reader, an answer scorer and measures.

Data frames have PyTerrier-RAG's columns (qid, query, qcontext, qanswer). Answers and scores are read from a finished
study's stores. Missing answers and scores are computed and stored as in the workflow. Start Python in the folder where
you ran the study, because paths in the study are relative to that folder.
"""

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import polars as pl
import pyterrier as pt
from ir_measures import MeanAgg

from ragrelay.analysis.utility import compute_utility
from ragrelay.annexes.notebook.study_results import Results
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.base.vocabulary.names import NO_ORDERING, UNSEEN, ZEROSHOT
from ragrelay.collection import open_collection
from ragrelay.execution.study import files
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.generator import GENERATOR_KINDS, is_asked
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.thought_marks import reading_marks
from ragrelay.prompting.layout import Layout, kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template, load_template
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.frames import check_texts
from ragrelay.retrieval.trec import ranked, without_identical_ids
from ragrelay.scoring.retriever_table import References, score_answers
from ragrelay.scoring.scorer import SCORER_KINDS, MeasuredScorer

GIVEN = "given"
"""Replaces the retriever's name in tables for answers from a frame, whose retriever is unknown."""
HERE = ("descending", 1)
"""Replaces the ordering and k in tables for answers from a frame, which has a single context per query."""


class _OfStudy:
    """The parts of a finished study that readers and scorers use: its definitions, collection and cache."""

    def __init__(self, study: Results, dataset: str | None, generator: str | None, scorer: str | None = None) -> None:
        """Raise InputError for an unfinished study, an unknown name or a missing cache."""
        self.study, self.config = study, study.provenance["config"]
        self.section = study.section_key(dataset, generator, scorer)
        self.generator = self.config["generators"][self.section["generator"]]
        self.cache = Path(self.config["cache_dir"]).expanduser()
        if not self.cache.is_dir():
            expected = "Python started in the folder where the study was run"
            raise InputError(f"cache_dir of {study.folder}", f"no folder {self.cache}", expected)

    def path(self, file: files.StudyFile) -> Path:
        return self.study.folder / file.at(**self.section).path

    @cached_property
    def queries(self) -> pl.DataFrame:
        return pl.read_parquet(self.path(files.queries))

    @cached_property
    def qrels(self) -> pl.DataFrame:
        return pl.read_parquet(self.path(files.qrels))

    @cached_property
    def collection(self) -> Any:
        return open_collection(self.config["datasets"][self.section["dataset"]])


def topics(study: Results, dataset: str | None = None) -> pd.DataFrame:
    """Read a dataset's judged queries.

    Args:
        study: The study's results.
        dataset: The dataset's name; defaults to the study's first dataset.

    Returns:
        A frame with columns qid and query.

    Raises:
        InputError: The study isn't finished or has no dataset with this name, or the study's cache is missing.
    """
    return _OfStudy(study, dataset, None).queries.select("qid", "query").to_pandas()


def qrels(study: Results, dataset: str | None = None) -> pd.DataFrame:
    """Read a dataset's judgements.

    Args:
        study: The study's results.
        dataset: The dataset's name; defaults to the study's first dataset.

    Returns:
        A frame with columns qid, docno and label.

    Raises:
        InputError: The study isn't finished or has no dataset with this name, or the study's cache is missing.
    """
    return _OfStudy(study, dataset, None).qrels.to_pandas()


class Reader(pt.Transformer):  # type: ignore[misc]
    """A PyTerrier transformer that answers each query from its first k passages, or without passages if k = 0.

    Input columns: qid, query, docno and score; if k = 0, only qid and query. Passages' texts come from the collection;
    if the input has a column ``text``, that column must contain the same texts. An engine only starts if answers are
    missing from the study's store; new answers are added to the store.

    Args:
        study: The study's results.
        k: Number of passages in the context.
        ordering: The order of the passages in the prompt.
        dataset: The dataset's name; defaults to the study's first dataset.
        generator: The generator's name; defaults to the study's first generator.
        seeds: Sampling seeds; defaults to the study's seeds.
        one_row: Whether to return one row per query, as PyTerrier-RAG's readers do, instead of one per passage.

    Raises:
        InputError: The study isn't finished or doesn't contain the dataset or generator, the study's cache is missing,
            or the generator's answers are imported.
    """

    def __init__(
        self,
        study: Results,
        k: int,
        ordering: str = "descending",
        dataset: str | None = None,
        generator: str | None = None,
        seeds: Sequence[int] | None = None,
        one_row: bool = False,
    ) -> None:
        self._of = _OfStudy(study, dataset, generator)
        self.k, self.ordering, self.one_row = k, ordering if k else NO_ORDERING, one_row
        self.seeds = list(self._of.config["grid"]["seeds"] if seeds is None else seeds)
        name = self._of.section["generator"]
        if not is_asked(self._of.generator):
            raise InputError(f"generator {name}", "answers from files", "a generator with an engine")
        folders = (Path("config/prompts"), ROOT / "config" / "prompts")
        paths = [folder / f"{self._of.generator['prompt']}.yaml" for folder in folders]
        self._template: Template = load_template(next((path for path in paths if path.is_file()), paths[0]))

    @property
    def _columns(self) -> list[str]:
        return ["qid", "query", *(["docno", "score"] if self.k else [])]

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Answer the queries in a frame.

        Args:
            inp: The ranking, or only the queries if k = 0.

        Returns:
            The ranking (qid, query, docno, score, and rank from 0), truncated at the study's ``context_depth``, without
            passages that have no text. With k = 0 or ``one_row``, one row per query. Each row also has ``qcontext``
            (the passages' texts in prompt order, one per line), ``qanswer`` (the first seed's answer), ``qanswers``
            (one answer per seed; None if missing) and ``docnos`` (in prompt order).

        Raises:
            InputError: The workflow would fail on this input too, for example because a prompt is too long.
        """
        pt.validate.columns(inp, includes=["qid", "query", *(["docno", "score"] if self.k else [])])
        frame = pl.DataFrame(
            {name: inp[name].to_numpy() for name in inp.columns if name in ("qid", "query", "docno", "score")}
        )
        frame = frame.with_columns(pl.col(name).cast(pl.String) for name in frame.columns if name != "score")
        asked = frame.select("qid", "query").unique("qid", maintain_order=True)
        if self.k:
            check_texts("a ranking given to the reader", inp, self._of.collection)
        ranking = asked if not self.k else self._contexts(frame, asked)
        answered = ranking.join(self._answers(asked, ranking), on="qid", how="left", maintain_order="left")
        if not self.k or self.one_row:
            answered = answered.unique("qid", keep="first", maintain_order=True).select(*ONE_ROW)
        return answered.select(name for name in (*RANKED, *ONE_ROW[2:]) if name in answered.columns).to_pandas()

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """List the output's columns, so that pt.Experiment can check pipelines before running them.

        Args:
            input_columns: The input frame's column names.

        Returns:
            The output frame's column names.
        """
        pt.validate.columns(pd.DataFrame(columns=input_columns), includes=self._columns)
        return list(ONE_ROW) if not self.k or self.one_row else [*RANKED, *ONE_ROW[2:]]

    def _contexts(self, frame: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
        reader, run = self._of, frame.select("qid", "docno", pl.col("score").cast(pl.Float64))
        depth = max(reader.config["context_depth"], self.k)
        if reader.config["datasets"][reader.section["dataset"]].get("drop_identical_ids"):
            run = without_identical_ids(run)
        contexts, _ = build_contexts(
            ranked(run, asked), reader.qrels, reader.collection, depth, "a ranking given to the reader"
        )
        rows = contexts.join(asked, on="qid", maintain_order="left")
        return rows.select("qid", "query", "docno", "score", pl.col("rank") - 1, "text")

    def _answers(self, asked: pl.DataFrame, ranking: pl.DataFrame) -> pl.DataFrame:
        """Return a frame with columns qid, qcontext, qanswer, qanswers and docnos."""
        reader, generator = self._of, self._of.generator
        fingerprint = reader.study.provenance["generators"][reader.section["generator"]]["fingerprint"]
        store = AnswerStore(reader.cache, fingerprint)
        contexts = ranking.with_columns(rank=pl.col("rank") + 1) if self.k else None
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if contexts is None:
                prompts = zeroshot_prompts(asked, self._template)
            else:
                contexts.write_parquet(folder / "contexts.parquet")
                prompts = kshot_prompts(asked, contexts, self._template, self.ordering, self.k)
            asked.write_parquet(folder / "queries.parquet")
            prompts.write_parquet(folder / "prompts.parquet")
            files = {"given": folder / "contexts.parquet"} if self.k else {}
            layout = Layout(self._template, folder / "queries.parquet", files)

            def start(definition: GeneratorEntry, window: int | None) -> Any:
                kind: Any = GENERATOR_KINDS[definition["engine"]]
                engine = partial(kind.start, definition, window, definition["threads"])
                return checked_start(definition, fingerprint, engine, reader.cache)

            keys = asked_keys({"given": [folder / "prompts.parquet"]}, self.seeds)
            generate_answers(keys, store, generator, layout, start)
            cells = {(self.ordering, self.k, seed): folder / f"{seed}.parquet" for seed in self.seeds}
            marks: Any = reading_marks(generator)
            view_answers({(self.ordering, self.k): folder / "prompts.parquet"}, store, cells, marks)
            answers = pl.concat([pl.read_parquet(path, columns=["qid", "seed", "answer"]) for path in cells.values()])
        texts = dict(ranking.select("docno", "text").iter_rows()) if self.k else {}
        rows = prompts.select("qid", "docnos").with_columns(
            qcontext=pl.col("docnos").map_elements(lambda ids: "\n".join(texts[docno] for docno in ids), pl.String)
        )
        by_query = answers.group_by("qid", maintain_order=True).agg(qanswers="answer")
        rows = rows.join(by_query, on="qid", how="left", maintain_order="left")
        return rows.select("qid", "qcontext", pl.col("qanswers").list.first().alias("qanswer"), "qanswers", "docnos")


RANKED = ("qid", "query", "docno", "score", "rank")
ONE_ROW = ("qid", "query", "qcontext", "qanswer", "qanswers", "docnos")


class Scorer(pt.Transformer):  # type: ignore[misc]
    """A PyTerrier transformer that adds P and P₀ to a reader's answers, as columns ``p`` and ``p0`` (means over seeds).

    Input columns: qid and ``qanswers`` (a list with one answer per seed) or ``qanswer``. Unseen references also require
    ``docnos``, the ids of the passages in the context. For a query without references, ``p`` and ``p0`` are null.

    Args:
        study: The study's results.
        references: The reference set: one of the dataset's grades, with or without ``-unseen``, or ``gold``. Defaults
            to the scorer's first set.
        scorer: The scorer's name; defaults to the study's first scorer.
        dataset: The dataset's name; defaults to the study's first dataset.
        generator: The generator's name; defaults to the study's first generator.
        threads: Number of CPU threads.

    Raises:
        InputError: The study isn't finished or doesn't contain one of these names, the study's cache is missing, or the
            scorer needs a judge.
    """

    def __init__(
        self,
        study: Results,
        references: str | None = None,
        scorer: str | None = None,
        dataset: str | None = None,
        generator: str | None = None,
        threads: int = 1,
    ) -> None:
        self._of = _OfStudy(study, dataset, generator, scorer)
        self._threads, self._definition = threads, self._of.config["scorers"][self._of.section["scorer"]]
        kind = SCORER_KINDS.of(self._definition)
        if not isinstance(kind, MeasuredScorer):
            raise InputError(f"scorer {self._of.section['scorer']}", "a scorer with a judge", "one without a judge")
        declared = self._of.config["datasets"][self._of.section["dataset"]]["references"]
        self._grades = kind.sets(dict(sorted(declared.items(), key=lambda item: (item[1], item[0]))))
        self._gold = kind.references == "gold"
        known = [*self._grades, *([] if self._gold else [grade + UNSEEN for grade in self._grades])]
        if references is not None and references not in known:
            raise InputError("references", repr(references), one_of(known, references))
        self.references = references or known[0]
        self._zero = Reader(study, 0, dataset=dataset, generator=generator)
        first = study.section_key(None, None, None)
        self.named = [name for key, name in self._of.section.items() if name != first[key]]
        """Those of the names of its dataset, generator and scorer that aren't the study's first."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Score the answers in a frame.

        Args:
            inp: A reader's output.

        Returns:
            The frame with columns p and p0 added.
        """
        pt.validate.columns(inp, includes=["qid"])
        scores = self.scores(inp).to_pandas()
        return inp.merge(scores, on="qid", how="left")

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """List the output's columns.

        Args:
            input_columns: The input frame's column names.

        Returns:
            The input's columns followed by p and p0.
        """
        return [*input_columns, "p", "p0"]

    def scores(self, answers: pd.DataFrame) -> pl.DataFrame:
        """Score the answers to the study's queries. Queries without references are left out.

        Args:
            answers: A reader's output.

        Returns:
            A frame with columns qid, p and p0. For a query without an answer, p equals p0 if the study uses zero-shot
            answers for queries without results (the default).
        """
        reader = self._of
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            references = reader.path(files.queries if self._gold else files.references)
            sets = References(references, self._grades, reader.config["near_copy"])
            common: Any = {"scorer": self._definition, "cache_dir": reader.cache, "threads": self._threads}
            zero = _written(self._zeroshot, folder / "zero", self._zero.seeds)
            prompts = {(NO_ORDERING, 0): folder / "zero/prompts.parquet"}
            zeroshot = {(NO_ORDERING, 0, seed): path for seed, path in zero.items()}
            score_answers(zeroshot, prompts, sets, output=folder / "zero.parquet", **common)
            rows = _by_query(answers)
            written = _written(rows, folder / "own", self._zero.seeds)
            shown = rows.select("qid", docno="docnos").explode("docno").drop_nulls("docno")
            texts = reader.collection.texts(shown["docno"].unique().to_list())
            passages = shown.with_columns(
                text=pl.col("docno").replace_strict(texts, default="", return_dtype=pl.String)
            )
            passages.write_parquet(folder / "passages.parquet")
            own = {(*HERE, seed): path for seed, path in written.items()}
            beside = {cell: path for cell, path in zeroshot.items() if cell[2] in written}
            prompts = {HERE: folder / "own/prompts.parquet"}
            common |= {"output": folder / "own.parquet", "contexts": [folder / "passages.parquet"]}
            score_answers({**own, **beside}, prompts, sets, **common)
            empty = reader.config["analysis"]["empty_rankings"] != "left_out"
            tables = {ZEROSHOT: folder / "zero.parquet", GIVEN: folder / "own.parquet"}
            ranked_for = {GIVEN: rows["qid"].to_list()}
            counted = [GIVEN] if empty else []
            (_, scored) = compute_utility(tables, self._definition["utility"], {}, counted, ranked_for)
        return scored.filter(references=self.references).select("qid", "p", "p0")

    @cached_property
    def _zeroshot(self) -> pl.DataFrame:
        return _by_query(self._zero(self._of.queries.select("qid", "query").to_pandas()))


def _by_query(answers: pd.DataFrame) -> pl.DataFrame:
    """Return one row per query, with its qid, docnos and list of answers."""
    column = "qanswers" if "qanswers" in answers.columns else "qanswer"
    pt.validate.columns(answers, includes=[column])
    once = answers.drop_duplicates("qid")
    several = [list(value) if column == "qanswers" else [value] for value in once[column]]
    docnos = [list(docnos_of) for docnos_of in once["docnos"]] if "docnos" in once.columns else [[]] * len(once)
    schema: Any = {"qid": pl.String, "docnos": pl.List(pl.String), "answers": pl.List(pl.String)}
    return pl.DataFrame({"qid": once["qid"].astype(str).tolist(), "docnos": docnos, "answers": several}, schema=schema)


def _written(rows: pl.DataFrame, folder: Path, seeds: Sequence[int]) -> dict[int, Path]:
    """Write ``prompts.parquet`` and the answer files that score_answers needs; return the answer files by seed."""
    folder.mkdir()
    rows = rows.with_columns(prompt_id=pl.col("qid").map_elements(text_hash, pl.String))
    rows.select("qid", "docnos", "prompt_id").write_parquet(folder / "prompts.parquet")
    paths = {}
    for place in range(max(rows["answers"].list.len(), default=0)):
        seed = seeds[place] if place < len(seeds) else -place
        answer = pl.col("answers").list.get(place, null_on_oob=True)
        reason = pl.when(answer.is_null()).then(pl.lit("missing")).otherwise(pl.lit("stop"))
        paths[seed] = folder / f"{seed}.parquet"
        rows.select("qid", "prompt_id", pl.lit(seed, pl.Int64).alias("seed"), answer.alias("answer"),
                    reason.alias("finish_reason")).write_parquet(paths[seed])  # fmt: skip
    return paths


def P(scorer: Scorer) -> ir_measures.Measure:  # noqa: N802 - a measure, named as P is everywhere
    """Define P as a measure for pt.Experiment: the mean score over seeds, for each query.

    Args:
        scorer: The scorer that scores the answers.

    Returns:
        The measure, which is NaN for queries without references. PyTerrier's mean is then NaN too, whereas the mean in
        ir_measures leaves such queries out.
    """
    return _measure("P", scorer, lambda scores: scores["p"])


def Gain(  # noqa: N802
    scorer: Scorer, baseline: pt.Transformer | pd.DataFrame | None = None, over: str = "baseline"
) -> ir_measures.Measure:
    """Define the gain over a baseline as a measure for pt.Experiment: P minus the baseline's P.

    With the default baseline, the mean gain over queries equals ``mean_difference`` in the study's gain.csv.

    Args:
        scorer: The scorer that scores the answers.
        baseline: A pipeline or its output frame; defaults to the zero-shot answers.
        over: The baseline's name, which becomes part of the measure's name. pt.Experiment tells measures apart by name.

    Returns:
        The measure, in units of P.
    """
    cached: dict[str, float] = {}

    def less(scores: pl.DataFrame) -> pl.Series:
        if baseline is None:
            return scores["p"] - scores["p0"]
        if not cached:
            asked = scorer._of.queries.select("qid", "query").to_pandas()
            answers = baseline if isinstance(baseline, pd.DataFrame) else baseline(asked)
            cached.update(scorer.scores(answers).select("qid", "p").iter_rows())
        return scores["p"] - scores["qid"].replace_strict(cached, default=None, return_dtype=pl.Float64)

    return _measure("Gain", scorer, less, *([] if baseline is None else [f"over {over}"]))


def _measure(what: str, scorer: Scorer, value: Callable[[pl.DataFrame], pl.Series], *more: str) -> ir_measures.Measure:
    """Define a measure whose name contains the references, the scorer's names that aren't defaults, and ``more``."""
    name = f"{what}({', '.join([scorer.references, *scorer.named, *more])})"

    def evaluate(judged: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        scores = scorer.scores(run.rename(columns={"query_id": "qid"}))
        rows = scores.select("qid", value(scores).alias("value")).drop_nulls().drop_nans()
        yield from rows.filter(pl.col("qid").is_in(judged["query_id"].unique().tolist())).iter_rows()

    measure = ir_measures.define(
        evaluate, name, support_cutoff=False, run_inputs=["query_id", "qanswer"], qrel_inputs=["query_id"]
    )
    # For a query without a value, ir_measures uses this default. Otherwise it would be 0 and count in the mean.
    measure.DEFAULT = math.nan
    measure.aggregator = _MeanOfKnown  # type: ignore[method-assign]
    return measure


class _MeanOfKnown(MeanAgg):
    """The mean over queries that have a value."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)
