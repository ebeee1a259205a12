"""What jobs will be asked for that have answers judged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ragrelay.generation.answer_files import read_cited_sentences
from ragrelay.generation.store import KEY
from ragrelay.generation.thinking import without_thinking
from ragrelay.generation.thought_marks import thought_marks
from ragrelay.judging.asked import Judging, asked_about, judging
from ragrelay.judging.bias_checks import ANSWER_KEY, checked, sampled
from ragrelay.judging.templates import JudgeTemplate
from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.likelihoods import words_work
from ragrelay.planning.work import Job
from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, Cell
from ragrelay.scoring.judged_scorer import judged_scorer
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.vocabulary.columns import CITED_SENTENCES
from ragrelay.vocabulary.names import ZEROSHOT


def judged_answers_work(job: Job, planned: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of the questions about a retriever's answers, or zero-shot's.

    Of an answer that is not yet made, the questions about a text of the mean length count, of one sentence: equal or
    empty answers ask for less, and more sentences for more. So do what the scorer expects of files of its own that are
    still to be made.
    """
    by, sure = _judging(job)
    beside: set[Cell] = set()
    if by.scorer.references == "judged" and job.retriever != ZEROSHOT:
        beside = {(*ZEROSHOT_CONTEXT, seed) for seed in seeds}
    prompts, contexts = _prompts(job, [job.retriever, *([ZEROSHOT] if beside else [])])
    answers = _answers(job, prompts, planned, seeds).filter(pl.col("qid").is_in(by.qids))

    def work_of(some: pl.DataFrame) -> pl.DataFrame:
        return _work(asked_about(some, contexts, _passages(job), beside, by)[1], by, planned[job.generator])

    known, to_come = (answers.filter((pl.col("known") & sure) == known) for known in (True, False))
    return pl.concat([work_of(known), work_of(to_come).with_columns(certain=pl.lit(False))])


def judge_checks_work(job: Job, planned: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of the changed questions of a judge's checks, about answers of all retrievers; as judged_answers_work."""
    by, sure = _judging(job)
    of_each, answers = {}, []
    for name in job.judged["retrievers"]:
        one = replace(job, retriever=name)
        prompts, contexts = _prompts(one, [name])
        of_each[name] = one, contexts
        found = _answers(one, prompts, planned, seeds).with_columns(retriever=pl.lit(name, pl.String))
        answers.append(found.filter(pl.col("qid").is_in(by.qids)))
    chosen = sampled(pl.concat(answers), ANSWER_KEY, by.scorer.bias_checks)
    works = []
    for name, (one, contexts) in of_each.items():
        for known in (True, False):
            some = chosen.filter((pl.col("known") & sure) == known, retriever=name)
            work = _work(checked(some, contexts, _passages(one), by, name)[1], by, planned[job.generator])
            works.append(work if known else work.with_columns(certain=pl.lit(False)))
    return pl.concat(works).unique(["store", "prompt_id", "item"], keep="first", maintain_order=True)


def _judging(job: Job) -> tuple[Judging, bool]:
    """By what answers are judged, and whether its own files are known; what is expected of them stands for them."""
    said = job.judged
    scorer = judged_scorer(said["scorer"])
    [queries] = job.paths("queries", dataset=job.dataset)
    references = job.paths("references", dataset=job.dataset) if scorer.references == "judged" else []
    own, template = job.paths("own", dataset=job.dataset, scorer=said["name"]), JudgeTemplate(**said["template"])
    by = judging(scorer, template, queries, references, own, said["grades"], said["near_copy"])
    if own:
        return by, True
    expected = scorer.expected(by.qids)
    return replace(by, own=expected), not expected


def _passages(job: Job) -> PassageTexts:
    return PassageTexts(job.paths(job.judged["passages"], dataset=job.dataset, retriever=job.retriever))


def _work(questions: pl.DataFrame, by: Judging, judge: GeneratorPlan) -> pl.DataFrame:
    return words_work(questions, by.scorer.words(), by.scorer.prefix, judge)


def _prompts(job: Job, retrievers: Sequence[str]) -> tuple[pl.DataFrame, dict[tuple[str, int], dict[str, list[str]]]]:
    """The prompts of ``retrievers`` (qid, ordering, k, prompt_id); and the docnos by ordering and k, then qid."""
    frames, contexts = [], {}
    for retriever in retrievers:
        files = job.files["prompts"].matching(dataset=job.dataset, template=job.judged["prompts"], retriever=retriever)
        for key, path in files.keyed:
            table = pl.read_parquet(path, columns=["qid", "docnos", "prompt_id"], glob=False)
            contexts[key["ordering"], key["k"]] = dict(zip(table["qid"], table["docnos"].to_list(), strict=True))
            of_cell = {"ordering": pl.lit(key["ordering"], pl.String), "k": pl.lit(key["k"], pl.Int64)}
            frames.append(table.select("qid", "prompt_id", **of_cell))
    return pl.concat(frames), contexts


def _answers(
    job: Job, prompts: pl.DataFrame, planned: Mapping[str, GeneratorPlan], seeds: Sequence[int]
) -> pl.DataFrame:
    """An answer (qid, ordering, k, seed, answer) to each of ``prompts`` and seed, and whether it is ``known``."""
    asked = prompts.join(pl.DataFrame({"seed": list(seeds)}), how="cross", maintain_order="left_right")
    name = job.judged["answers_of"]
    if name not in planned:  # imported
        files = job.files["answers"].matching(dataset=job.dataset, generator=name).keyed
        brought = [
            pl.read_parquet(path, columns=["qid", "answer"], glob=False)
            .join(read_cited_sentences(path), on="qid", maintain_order="left")
            .with_columns(**{of: pl.lit(key[of]) for of in ("ordering", "k", "seed")})
            for key, path in files
            if key["retriever"] in (job.retriever, ZEROSHOT)
        ]
        return asked.join(pl.concat(brought, how="vertical_relaxed"), on=COLUMNS).with_columns(known=pl.lit(True))
    generator = planned[name]
    found = generator.store.look_up(asked.unique(KEY))
    if thinking := thought_marks(generator.generator):
        found = without_thinking(found, thinking)
    # What is missing is not judged.
    asked = asked.join(found.filter(pl.col("answer").is_null()), on=KEY, how="anti", maintain_order="left")
    joined = asked.join(found.select(*KEY, "answer"), on=KEY, how="left", maintain_order="left")
    # As long as the others, and unlike any other.
    words = " word" * max(0, round(generator.pace.answer_tokens) - 1)
    stand_in = pl.concat_str(pl.struct(KEY).rank("dense").cast(pl.String), pl.lit(words))
    return joined.with_columns(
        known=pl.col("answer").is_not_null(),
        answer=pl.col("answer").fill_null(stand_in),
        cited_sentences=pl.lit(None, CITED_SENTENCES.dtype),
    )
