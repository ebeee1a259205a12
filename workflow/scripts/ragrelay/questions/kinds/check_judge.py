"""Repeat a sample of a judge's questions about answers, with changes that shouldn't affect the score."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.kinds.judge_answers import JudgeAnswers, judged_by, read_judging
from ragrelay.questions.question import Inputs, Key, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.generation.likelihoods.asker import Asker, Receipt
    from ragrelay.questions.question import StudyOfRules


class CheckJudge(JudgeAnswers):
    """A question to a judge about a sample of all retrievers' answers, repeated with changes to reveal bias."""

    asks, reads = "check_judge", "score_judge_checks"
    does = (
        "Ask a judge again about a sample of answers after changes that shouldn't matter, and store the replies.",
        "Compute a judge's scores for a sample of answers before and after changes that shouldn't matter.",
    )
    key = "{dataset}/{scorer}/{generator}"
    follows = JudgeAnswers
    asked = StudyFile("{dataset}/judged/{scorer}/{generator}/checks/asked.parquet", "score_judge_checks",
        "the questions asked in a judge's bias checks, with their keys in the cache",
        "ragrelay.questions.judging.bias_checks:CHECKED_COLUMNS")  # fmt: skip
    made: ClassVar = {
        "scores": StudyFile("{dataset}/judged/{scorer}/{generator}/checks/scores.parquet", "score_judge_checks",
            "the scores from a judge's bias checks", "ragrelay.questions.judging.bias_checks:SCORE_COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return [
            {"dataset": dataset, "scorer": scorer, "generator": generator}
            for dataset in study.grid.datasets
            for scorer in study.scoring.checked
            for generator in study.grid.generators
        ]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        files = study.files
        of_each = study.each_retriever
        cells, contexts = (
            [{**retriever, **cell} for retriever in of_each for cell in each] for each in (study.cells, study.contexts)
        )
        return {
            "answers": files.answers.each(cells),
            "prompts": files.prompts.at(template=study.generation.template_of(key["generator"])).each(contexts),
            "contexts": study.generation.passages(key["generator"]).each(of_each),
            **judged_by(study, key),
        }

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        template, size = study.scoring.judge_template(key["scorer"]), study.scoring.judges[key["scorer"]].bias_checks
        return {**super().settings(study, key), "template": template, "size": size}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    import polars as pl

    from ragrelay.generation.likelihoods.word_questions import ask_words
    from ragrelay.questions.judging.bias_checks import ANSWER_KEY, checked, sampled
    from ragrelay.scoring.near_copies import PassageTexts

    judge, is_exact = read_judging(job)
    contexts = job.keyed("contexts").by("retriever")
    answers = {name: job.answers(judge.qids, name) for name in contexts}
    keys = [of_retriever.keys.with_columns(retriever=pl.lit(name, pl.String)) for name, of_retriever in answers.items()]
    chosen = sampled(pl.concat(keys), ANSWER_KEY, job.settings["size"])
    tables: dict[bool, list[tuple[pl.DataFrame, pl.DataFrame]]] = {}
    for name, of_retriever in answers.items():
        some = chosen.filter(retriever=name).drop("retriever")
        for part, certain in of_retriever.split(of_retriever.texts(some), is_exact) if some.height else ():
            changed = checked(part, of_retriever.contexts, PassageTexts([contexts[name]]), judge, name)
            tables.setdefault(certain, []).append(changed)
    for certain, pairs in tables.items():
        asked = pl.concat([rows for rows, _ in pairs])
        questions = pl.concat([prompts for _, prompts in pairs])
        distinct = questions.unique("prompt_id", keep="first", maintain_order=True)
        receipt = ask_words(distinct, judge.scorer.words(), judge.scorer.prefix, asker, certain)
    return asked, {**receipt, "answers": chosen.height}


plan = ask


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.questions.judging.check_scores import score_judge_checks
    from ragrelay.scoring.judge_scorer import judge_scorer

    asked, score = pl.read_parquet(job.path("asked"), glob=False), judge_scorer(job.settings["scorer"]).score()
    return {"scores": score_judge_checks(asked, receipt, score, cache_dir)}
