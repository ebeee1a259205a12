"""Ask a judge about the answers generated from each retriever's contexts, and compute scores from the replies."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, Question, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.generation.likelihoods.asker import Asker
    from ragrelay.questions.judging.judge_requests import Judging
    from ragrelay.questions.judging.scores import JudgeReceipt
    from ragrelay.questions.question import StudyOfRules


class JudgeAnswers(Question):
    """A question to a judge about a retriever's answers, or about the zero-shot answers."""

    asks, reads = "judge_answers", "score_judged_answers"
    does = (
        "Ask a judge about all retrievers' answers and the zero-shot answers, and store the replies.",
        "Compute the scores of a retriever's answers from a judge's probabilities for the reply words.",
    )
    key = "{dataset}/{scorer}/{generator}/{retriever}"
    ask_key = "{dataset}/{generator}/{judge}"
    asked = StudyFile("{dataset}/judged/{scorer}/{generator}/{retriever}.parquet", "score_judged_answers",
        "the questions that the judge was asked about each answer, with the keys of the cached replies",
        "ragrelay.questions.judging.judge_requests:ASKED_COLUMNS")  # fmt: skip
    made: ClassVar = {
        "scores": StudyFile("{dataset}/scores/{scorer}/{generator}/{retriever}.parquet",
            "score_answers, score_judged_answers, read_scores",
            "each answer's score against each reference set; rows with the ordering `none` contain the zero-shot "
            "answers' scores against references that aren't in the retriever's contexts",
            "ragrelay.scoring.retriever_table:SCORE_COLUMNS"),
        "left_out": StudyFile("{dataset}/scores/{scorer}/{generator}/{retriever}.left_out.json",
            "score_judged_answers, read_scores",
            "counts of answers without a score, and of questions for which the judge gives the reply words little "
            "probability; for a score file, also counts of ignored scores, for all retrievers together (in the file "
            "for `zeroshot`)"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return [
            {"dataset": dataset, "scorer": scorer, "generator": generator, "retriever": retriever}
            for dataset in study.grid.datasets
            for scorer in study.scoring.judged_by
            for generator in study.grid.generators
            for retriever in [ZEROSHOT, *study.grid.retrievers]
        ]

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        return study.scoring.judged_by[key["scorer"]]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        files = study.files
        alone, judged = key["retriever"] == ZEROSHOT, study.scoring.judges[key["scorer"]].references == "judged"
        contexts = study.zeroshot_cells[:1] if alone else study.contexts
        baseline_cells = [] if alone or not judged else study.zeroshot_cells
        return {
            "answers": files.answers.each(study.zeroshot_cells if alone else study.cells),
            "prompts": files.prompts.at(template=study.generation.template_of(key["generator"])).each(contexts),
            "zeroshot": files.zeroshot_answers.each(baseline_cells),
            "contexts": [] if alone else [study.generation.passages(key["generator"])],
            **judged_by(study, key),
        }

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        """Return the inputs that exist before any engine runs: all except generated answers and nugget lists."""
        inputs = self.inputs(study, key)
        lists = study.scoring.nuggets.get(key["scorer"])
        if lists is not None and lists.written_by:
            inputs["own"] = []
        if key["generator"] in study.generation.imported:
            return inputs
        prompts = study.files.zeroshot_prompts.at(template=study.generation.template_of(key["generator"]))
        return {
            **inputs,
            "answers": [],
            "zeroshot": [],
            "zeroshot_prompts": [prompts] if inputs.get("zeroshot") else [],
        }

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        files = study.files
        answers, prompts = dict.fromkeys(("answers", "zeroshot"), files.answers), ("prompts", "zeroshot_prompts")
        return {
            **answers,
            **dict.fromkeys(prompts, files.prompts),
            "contexts": study.generation.passages(key["generator"]),
        }

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        scorer, scoring = key["scorer"], study.scoring
        judged = scoring.judges[scorer].references == "judged"
        return {
            "scorer": scoring.of_jobs(scorer),
            "template": {name: part for name, part in scoring.judge_template(scorer).items() if name != "swapped"},
            "grades": study.reference_sets(key["dataset"], scorer),
            "near_copy": study.settings.near_copy if judged else None,
        }

    def planned_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {**self.settings(study, key), "answers_of": key["generator"]}

    def modules(self, study: "StudyOfRules", key: Key) -> list[str]:
        return [study.scoring.module(key["scorer"])]

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {"scorer": study.scoring.of_jobs(key["scorer"])}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    """Ask the judge about the answers, and add counts to the receipt.

    The counts are ``answers`` (without baselines), ``unasked`` (rows of the score table without any question) and, if
    the scorer reads citations, ``brackets``.
    """
    import polars as pl

    from ragrelay.generation.likelihoods.word_questions import ask_words
    from ragrelay.questions.judging.judge_requests import asked_about, bracket_counts
    from ragrelay.questions.judging.scores import KEY
    from ragrelay.scoring.near_copies import PassageTexts

    judge, is_exact = read_judging(job)
    answers = job.answers(judge.qids)
    passages, scorer = PassageTexts(job.paths("contexts")), judge.scorer
    for some, certain in answers.split(answers.texts(answers.keys), is_exact):
        asked, questions = asked_about(some, answers.contexts, passages, answers.baseline_cells, judge)
        receipt = ask_words(questions, scorer.words(), scorer.prefix, asker, certain)
    unasked = asked.group_by(KEY).agg(pl.col("prompt_id").is_null().all())["prompt_id"].sum()
    own = answers.keys.filter(pl.col("ordering") != NO_ORDERING) if answers.baseline_cells else answers.keys
    cites = scorer.references == "context"  # type: ignore[comparison-overlap]
    brackets = {"brackets": bracket_counts(some, answers.contexts)} if cites else dict[str, Any]()
    return asked, {**receipt, "answers": own.height, "unasked": int(unasked), **brackets}


plan = ask


def read(job: QuestionJob, receipt: "JudgeReceipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.questions.judging.scores import judged_scores
    from ragrelay.scoring.judge_scorer import judge_scorer

    asked, scorer = pl.read_parquet(job.path("asked"), glob=False), judge_scorer(job.settings["scorer"])
    return dict(zip(("scores", "left_out", "asked"), judged_scores(asked, receipt, scorer, cache_dir), strict=True))


def judged_by(study: "StudyOfRules", key: Key) -> Inputs:
    """Return the inputs of a judge's questions, except the answers: queries, references and the scorer's own files."""
    files = study.files
    scorer = study.scoring.judges[key["scorer"]]
    return {
        "queries": files.queries,
        "references": [files.references] if scorer.references == "judged" else [],
        "own": scorer.own_inputs(key["dataset"]),
    }


def read_judging(job: QuestionJob) -> "tuple[Judging, bool]":
    """Return a judge's inputs, and whether they are exact (False if estimates replace missing files)."""
    from dataclasses import replace

    from ragrelay.questions.judging.judge_requests import judging
    from ragrelay.questions.judging.templates import JudgeTemplate
    from ragrelay.scoring.judge_scorer import judge_scorer

    settings, own = job.settings, job.paths("own")
    scorer, template = judge_scorer(settings["scorer"]), JudgeTemplate(**settings["template"])
    references = job.paths("references")
    judge = judging(scorer, template, job.path("queries"), references, own, settings["grades"], settings["near_copy"])
    expected = {} if own else scorer.expected(judge.qids)
    return (replace(judge, own=expected), False) if expected else (judge, True)
