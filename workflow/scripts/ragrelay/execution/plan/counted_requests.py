"""Count the requests that a question sends to a model, and how many of the replies are already stored."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.base.vocabulary.columns import CITED_SENTENCES
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.work import NONE, WORK, work
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.likelihoods.continuations import continuation_id, without_chat
from ragrelay.generation.likelihoods.endpoint_scoring import word_requests
from ragrelay.generation.likelihoods.job import missing_of, scorings_of
from ragrelay.generation.likelihoods.store import LikelihoodStore, text_store
from ragrelay.generation.requests import block_tokens, shared_prefix, window_of
from ragrelay.generation.store import KEY
from ragrelay.generation.thought_marks import reading_marks
from ragrelay.questions.answers import Answers
from ragrelay.questions.question import QuestionJob
from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, Cell

REQUESTED = {"prompt_id": pl.String, "item": pl.String, **{name: WORK[name] for name in NONE}}


class PlanAsker:
    """An asker that only counts requests to a generator. ``part``: the job's index in its row of the plan."""

    def __init__(self, planned: GeneratorPlan, part: int = 0) -> None:
        self.planned, self.part = planned, part
        self.generator = planned.generator
        self.rows = [pl.DataFrame(schema=WORK)]

    @property
    def work(self) -> pl.DataFrame:
        """A table of the requests counted so far (columns WORK). A key that is requested twice is counted once."""
        return pl.concat(self.rows).unique(["store", "prompt_id", "item"], keep="first", maintain_order=True)

    def likelihoods(self, asked: pl.DataFrame, chat: bool = True, certain: bool = True) -> dict[str, Any]:
        """Count the requests for the likelihoods in ``asked`` (prompt_id, prompt, system, token_ids).

        For the arguments, see Asker. Raises InputError if a prompt with its continuation exceeds the window.
        """
        generator = self.generator if chat else without_chat(self.generator)
        store = self.planned.likelihoods if chat else text_store(self.generator, self.planned.cache_dir)
        counted = likelihood_work(asked, store, generator, self.planned.pace.device)
        self.count(counted.with_columns(certain=pl.lit(certain)))
        return {}

    def to_come(self, rows: pl.DataFrame) -> None:
        """Count one request for each of ``rows`` (prompt_id, item, prompt_tokens), about texts that don't exist yet."""
        store = f"likelihoods/{self.planned.likelihoods.folder.name}"
        no_tokens = {"shared_tokens": 0.0, "answer_tokens": 0.0}
        figures = {"store": store, "cached": False, "certain": False, "requests": 1, **no_tokens}
        self.count(rows.with_columns(pl.lit(value, WORK[name]).alias(name) for name, value in figures.items()))

    def count(self, rows: pl.DataFrame) -> None:
        """Add ``rows``, which have all columns in WORK except part, to the requests counted so far."""
        self.rows.append(rows.with_columns(part=pl.lit(self.part, pl.Int64)).select(*WORK))


class PlannedAnswers:
    """A generator's answers to a job's prompts, with placeholders for answers that aren't stored yet.

    The plan uses this class in place of FileAnswers. Here, ``keys`` already contains the answers' texts. A placeholder
    is one sentence of average answer length. Placeholders differ between prompts and seeds, because duplicate or empty
    answers would need fewer requests. Stored answers that are null are left out.
    """

    def __init__(
        self,
        job: QuestionJob,
        qids: Sequence[str],
        planned: GeneratorPlan,
        seeds: Sequence[int],
        retriever: str | None,
    ) -> None:
        self.contexts: dict[tuple[str, int], dict[str, list[str]]] = {}
        self.baseline_cells: set[Cell] = set()
        frames = []
        for name in ("prompts", "zeroshot_prompts"):
            files = job.keyed(name) if job.paths(name) else None
            if files and retriever is not None:
                files = files.matching(retriever=retriever)
            for key, path in files.keyed if files else []:
                cell = (key["ordering"], key["k"])
                table = pl.read_parquet(path, columns=["qid", "docnos", "prompt_id"], glob=False)
                if name == "prompts":
                    self.contexts[cell] = dict(zip(table["qid"], table["docnos"].to_list(), strict=True))
                else:
                    self.baseline_cells = {(*ZEROSHOT_CONTEXT, seed) for seed in seeds}
                cell_columns = {"ordering": pl.lit(cell[0], pl.String), "k": pl.lit(cell[1], pl.Int64)}
                frames.append(table.select("qid", "prompt_id", **cell_columns))
        prompts = pl.concat(frames).filter(pl.col("qid").is_in(list(qids)))
        self.keys = _answers(prompts, planned, seeds)

    def texts(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Return ``keys`` unchanged, because they already contain the answers' texts."""
        return keys

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Yield (stored answers, True), then (other answers, False). Unless ``sure``, no answer counts as stored."""
        for known in (True, False):
            yield answers.filter((pl.col("known") & sure) == known), known


class PlannedJob(QuestionJob):
    """A question's job in the plan, which reads answers from the answer store instead of answer files."""

    def __init__(self, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int], **fields: Any) -> None:
        super().__init__(**fields)
        self.generators, self.seeds = generators, seeds

    def answers(self, qids: Sequence[str], retriever: str | None = None) -> Answers:
        """Return the answers to ``qids``, from files if answers are imported and otherwise from the answer store."""
        planned = self.generators.get(self.settings["answers_of"])
        if planned is None:
            return super().answers(qids, retriever)
        return PlannedAnswers(self, qids, planned, self.seeds, retriever)


def _answers(prompts: pl.DataFrame, planned: GeneratorPlan, seeds: Sequence[int]) -> pl.DataFrame:
    """Return an answer (qid, ordering, k, seed, answer) for each prompt and seed, with whether it is ``known``."""
    asked = prompts.join(pl.DataFrame({"seed": list(seeds)}), how="cross", maintain_order="left_right")
    stored = planned.store.answers(asked.unique(KEY), reading_marks(planned.generator))
    asked = asked.join(stored.filter(pl.col("answer").is_null()), on=KEY, how="anti", maintain_order="left")
    joined = asked.join(stored.select(*KEY, "answer"), on=KEY, how="left", maintain_order="left")
    words = " word" * max(0, round(planned.pace.answer_tokens) - 1)
    stand_in = pl.concat_str(
        pl.col("prompt_id").str.head(8), pl.lit(" "), pl.col("seed").cast(pl.String), pl.lit(words)
    )
    return joined.with_columns(
        known=pl.col("answer").is_not_null(),
        answer=pl.col("answer").fill_null(stand_in),
        cited_sentences=pl.lit(None, CITED_SENTENCES.dtype),
    ).select(*COLUMNS, "prompt_id", "answer", "cited_sentences", "known")


def likelihood_work(
    asked: pl.DataFrame, store: LikelihoodStore, generator: GeneratorEntry, device: str | None
) -> pl.DataFrame:
    """Return one row (columns WORK) per distinct likelihood in ``asked`` (prompt_id, prompt, system, token_ids)."""
    keyed, missing = missing_of(asked, store)
    rows = list(_requested(missing, generator, block_tokens(generator, device)))
    keys = keyed.select(
        "prompt_id",
        item="continuation",
        store=pl.lit(f"likelihoods/{store.folder.name}"),
        part=pl.lit(0, pl.Int64),
        certain=pl.lit(True),
    )
    return work(keys, pl.DataFrame(rows, schema=REQUESTED, orient="row"))


def _requested(missing: pl.DataFrame, generator: GeneratorEntry, block: int) -> Iterator[tuple[object, ...]]:
    """Yield rows of REQUESTED. A request's figures are in its first continuation's row; the other rows have zeros."""
    if not GENERATOR_KINDS[generator["engine"]].in_job:
        for asked in word_requests(missing, generator, window_of(generator)):
            figures = (1, float(asked.tokens), 0.0, 0.0)
            for name, _ in asked.words:
                yield asked.prompt_id, name, *figures
                figures = (0, 0.0, 0.0, 0.0)
        return
    before: Sequence[int] = ()
    window = window_of(generator) if len(missing) else None
    for request in scorings_of(missing, generator, window or 0):
        # The prefix cache can't serve prompts whose own log-probabilities are requested.
        whole = (len(request.given) - 1) // block * block if request.single and generator["prefix_caching"] else 0
        shared = min(whole, shared_prefix(before, request.given, block))
        figures = (1, float(len(request.given)), float(shared), 0.0)
        for continuation in request.continuations:
            yield request.prompt_id, continuation_id(continuation), *figures
            figures = (0, 0.0, 0.0, 0.0)
        before = request.given
