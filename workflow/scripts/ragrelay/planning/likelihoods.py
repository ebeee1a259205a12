"""What jobs will be asked for that score given texts: judged passages, claims, contexts, answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.annotations.judgements import passage_questions
from ragrelay.claims.requests import Asked
from ragrelay.context_perplexity.requests import context_requests
from ragrelay.context_use.requests import AnswerScores
from ragrelay.generation.prefixes import block_tokens, shared_prefix
from ragrelay.generation.requests import window_of
from ragrelay.generation.store import KEY
from ragrelay.generation.thinking import without_thinking
from ragrelay.generation.thought_marks import thought_marks
from ragrelay.generation.tokens import PromptTokenizer, load_tokenizer
from ragrelay.likelihoods.continuations import continuation_id, raw
from ragrelay.likelihoods.job import missing_of, scorings_of
from ragrelay.likelihoods.store import LikelihoodStore, text_store
from ragrelay.likelihoods.word_questions import with_words
from ragrelay.likelihoods.words import first_tokens, text_ids
from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.work import NONE, WORK, Job, work

PROMPT = ["qid", "prompt_id", "prompt", "system"]
REQUESTED = {"prompt_id": pl.String, "item": pl.String, **{name: WORK[name] for name in NONE}}


def judged_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of the questions about passages, as they are or changed for checks, of each of the job's sources."""
    frames = [pl.DataFrame(schema=WORK)]
    for part, question in enumerate(job.questions):
        asked = passage_questions(job.paths(question["files"], dataset=job.dataset, **question["of"]))
        frames.append(words_work(asked, question["words"], question["begins"], generators[job.generator], part))
    return pl.concat(frames)


def words_work(
    questions: pl.DataFrame, words: Sequence[str], begins: str, judge: GeneratorPlan, part: int = 0
) -> pl.DataFrame:
    """WORK of ``words`` after the text ``begins``, as likelihoods.word_questions.ask_words asks for them."""
    tokenizer = load_tokenizer(judge.generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {judge.generator['model']!r}")
    wanted = with_words(questions, tokens, text_ids(tokenizer, begins))
    return likelihood_work(wanted, judge.likelihoods, judge, judge.generator, part)


def claims_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of the words after every prompt of a set of claims, and of the evidence."""
    planned = generators[job.generator]
    files = job.files["claim_prompts"].matching(claims=job.dataset).by("template")
    prompts = {template: pl.read_parquet(path) for template, path in files.items()}
    [claims] = job.paths("claims", claims=job.dataset)
    asked, generator = Asked(pl.read_parquet(claims), prompts, planned.generator), planned.generator
    texts = text_store(generator, planned.cache_dir)
    return pl.concat(
        [
            likelihood_work(asked.of_words, planned.likelihoods, planned, generator),
            likelihood_work(asked.of_evidence, texts, planned, raw(generator)),
        ]
    )


def context_use_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of a retriever's answers after their prompts, and after those without contexts.

    Of answers that are not yet made, both are counted: at most so many, as equal or empty ones ask for less.
    """
    planned = generators[job.generator]
    template, store = planned.generator["prompt"], planned.likelihoods
    prompts = pl.concat(pl.read_parquet(path, columns=PROMPT) for path in job.prompts(template, job.retriever))
    [path] = job.prompts(template, "zeroshot")
    zeroshot = pl.read_parquet(path, columns=PROMPT)
    rows = prompts.unique(["qid", "prompt_id"], maintain_order=True)
    asked = rows.join(pl.DataFrame({"seed": list(seeds)}), how="cross", maintain_order="left_right")
    found = planned.store.look_up(asked)
    if thinking := thought_marks(planned.generator):
        found = without_thinking(found, thinking)
    answers = asked.select("qid", *KEY).join(found, on=KEY, maintain_order="left")
    scores = AnswerScores(answers, prompts, zeroshot, planned.generator)
    known = likelihood_work(scores.asked(), store, planned, planned.generator)
    missing = asked.join(found, on=KEY, how="anti", maintain_order="left")
    return pl.concat([known, _to_come(missing, zeroshot, planned)])


def contexts_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of a retriever's contexts after the query, passage by passage and whole."""
    planned = generators[job.generator]
    [queries] = job.paths("queries", dataset=job.dataset)
    [contexts] = job.paths("contexts", dataset=job.dataset, retriever=job.retriever)
    texts = raw(planned.generator)
    asked = context_requests(pl.read_parquet(queries), pl.read_parquet(contexts), job.ks, texts)
    return likelihood_work(asked, text_store(texts, planned.cache_dir), planned, texts)


def likelihood_work(
    asked: pl.DataFrame, store: LikelihoodStore, planned: GeneratorPlan, generator: Mapping[str, Any], part: int = 0
) -> pl.DataFrame:
    """WORK of ``asked`` (prompt_id, prompt, system, token_ids), as likelihoods.job.fill_likelihoods asks for it.

    Raises InputError for a prompt that is too long with its continuation.
    """
    keyed, missing = missing_of(asked, store)
    rows = list(_requested(missing, generator, block_tokens(generator, planned.pace.device)))
    keys = keyed.select(
        "prompt_id",
        item="continuation",
        store=pl.lit(f"likelihoods/{store.folder.name}"),
        part=pl.lit(part, pl.Int64),
        certain=pl.lit(True),
    )
    return work(keys, pl.DataFrame(rows, schema=REQUESTED, orient="row"))


def _requested(missing: pl.DataFrame, generator: Mapping[str, Any], block: int) -> Iterator[tuple[Any, ...]]:
    """Rows REQUESTED: the first continuation of a request has its figures."""
    before: Sequence[int] = ()
    window = window_of(generator) if len(missing) else None
    for request in scorings_of(missing, generator, window or 0):
        # A prompt whose own log-probabilities are asked for is computed whole.
        whole = (len(request.given) - 1) // block * block if request.single and generator["prefix_caching"] else 0
        shared = min(whole, shared_prefix(before, request.given, block))
        figures = (1, float(len(request.given)), float(shared), 0.0)
        for continuation in request.continuations:
            yield request.prompt_id, continuation_id(continuation), *figures
            figures = (0, 0.0, 0.0, 0.0)
        before = request.given


def _to_come(missing: pl.DataFrame, zeroshot: pl.DataFrame, planned: GeneratorPlan) -> pl.DataFrame:
    """WORK of the answers of the keys ``missing`` (qid, prompt_id, prompt, system, seed), of the mean length."""
    tokenizer = PromptTokenizer(planned.generator)
    without = missing.select("qid", "seed", of="prompt_id").join(zeroshot, on="qid", maintain_order="left")
    both = pl.concat(
        [missing.select(*PROMPT, "seed", of="prompt_id"), without.select(*PROMPT, "seed", "of")], how="vertical"
    )
    distinct = both.unique("prompt_id", maintain_order=True).select("prompt_id", "prompt", "system")
    lengths = [(name, len(tokenizer(prompt, system))) for name, prompt, system in distinct.iter_rows()]
    tokens = pl.DataFrame(lengths, schema={"prompt_id": pl.String, "tokens": pl.Float64}, orient="row")
    return (
        both.join(tokens, on="prompt_id", how="left", maintain_order="left")
        .select(
            pl.lit(f"likelihoods/{planned.likelihoods.folder.name}").alias("store"),
            "prompt_id",
            pl.format("answer {} with seed {}", "of", "seed").alias("item"),
            pl.lit(0, pl.Int64).alias("part"),
            pl.lit(False).alias("cached"),
            pl.lit(False).alias("certain"),
            pl.lit(1, pl.Int64).alias("requests"),
            (pl.col("tokens") + planned.pace.answer_tokens).alias("prompt_tokens"),
            pl.lit(0.0).alias("shared_tokens"),
            pl.lit(0.0).alias("answer_tokens"),
        )
        .select(*WORK)
    )
