"""Request the log-probability of each answer from its generator, after the answer's prompt and the zero-shot prompt."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.bases import AboutRetrievers
from ragrelay.questions.question import Inputs, Key, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.generation.likelihoods.asker import Asker, Receipt
    from ragrelay.questions.question import StudyOfRules

PROMPT = ["qid", "prompt_id", "prompt", "system"]


class ScoreContextUse(AboutRetrievers):
    """A question about how much likelier a retriever's context makes each answer."""

    asks, reads = "score_context_use", "compute_context_use"
    does = (
        "Have a generator score its answers with and without their contexts, and store the log-probabilities.",
        "Compute how much likelier each answer is with its context than without it.",
    )
    asked = StudyFile("{dataset}/context_use/{generator}/{retriever}.asked.parquet", "compute_context_use",
        "the requested log-probabilities, with the keys under which they are cached",
        "ragrelay.report.stage_columns:CONTEXT_USE_REQUESTS")  # fmt: skip
    made: ClassVar = {
        "table": StudyFile("{dataset}/context_use/{generator}/{retriever}.parquet", "compute_context_use",
            "each answer's log-probability with and without its context",
                "ragrelay.questions.context_use.table:COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return super().jobs(study) if study.settings.context_use else []

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        return {"answers": study.files.answers.each(study.cells), **self.planned_inputs(study, key)}

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        files = study.files
        template = study.generation.template_of(key["generator"])
        prompts = files.prompts.at(template=template).each(study.contexts)
        return {"prompts": prompts, "zeroshot_prompts": [files.zeroshot_prompts.at(template=template)]}

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        return {"answers": study.files.answers}

    def read_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        return {"zeroshot_answers": study.files.zeroshot_answers.each(study.zeroshot_cells)}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    """Request two log-probabilities per answer; the receipt also counts answers that can't be scored."""
    from ragrelay.generation.answer_files import read_answers
    from ragrelay.questions.context_use.requests import ANSWER, KEYS, AnswerScores

    answers = read_answers(job.keyed("answers"), ANSWER)
    scores = AnswerScores(answers, *_prompts(job), asker.generator)
    receipt = asker.likelihoods(scores.asked())
    asked = scores.rows.select(*KEYS, "prompt_id", "prompt_id_without", "continuation")
    return asked, receipt | {"unscored": answers.height - asked.height}


def plan(job: QuestionJob, asker: Any) -> None:
    """Count the requests for both log-probabilities; if answers are missing, the count is an upper limit."""
    import polars as pl

    from ragrelay.generation.store import KEY
    from ragrelay.questions.context_use.requests import AnswerScores

    prompts, zeroshot = _prompts(job)
    rows = prompts.unique(["qid", "prompt_id"], maintain_order=True)
    seeds = pl.DataFrame({"seed": list(job.seeds)})  # type: ignore[attr-defined]
    asked = rows.join(seeds, how="cross", maintain_order="left_right")
    stored = asker.planned.store.look_up(asked)
    answers = asked.select("qid", *KEY).join(stored, on=KEY, maintain_order="left")
    asker.likelihoods(AnswerScores(answers, prompts, zeroshot, asker.generator).asked())
    missing = asked.join(stored, on=KEY, how="anti", maintain_order="left")
    asker.to_come(_to_come(missing, zeroshot, asker.planned))


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.generation.answer_files import read_answers
    from ragrelay.generation.likelihoods.store import LikelihoodStore
    from ragrelay.questions.context_use.requests import ANSWER
    from ragrelay.questions.context_use.table import use_table

    columns = ["qid", "seed", "answer"]
    without = pl.concat([pl.read_parquet(path, columns=columns) for path in job.paths("zeroshot_answers")])
    store = LikelihoodStore(cache_dir, receipt["fingerprint"])
    answers = read_answers(job.keyed("answers"), ANSWER)
    return {"table": use_table(answers, without, pl.read_parquet(job.path("asked")), store)}


def _prompts(job: QuestionJob) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """Read the prompts with contexts and the zero-shot prompts."""
    import polars as pl

    prompts = pl.concat([pl.read_parquet(path, columns=PROMPT) for path in job.paths("prompts")])
    return prompts, pl.read_parquet(job.path("zeroshot_prompts"), columns=PROMPT)


def _to_come(missing: "pl.DataFrame", zeroshot: "pl.DataFrame", planned: Any) -> "pl.DataFrame":
    """Return prompt_id, item and prompt_tokens for ``missing`` keys (PROMPT, seed), assuming mean answer length."""
    import polars as pl

    from ragrelay.generation.tokens import PromptTokenizer

    tokenizer = PromptTokenizer(planned.generator)
    without = missing.select("qid", "seed", of="prompt_id").join(zeroshot, on="qid", maintain_order="left")
    both = pl.concat([missing.select(*PROMPT, "seed", of="prompt_id"), without.select(*PROMPT, "seed", "of")])
    distinct = both.unique("prompt_id", maintain_order=True).select("prompt_id", "prompt", "system")
    lengths = [(name, len(tokenizer(prompt, system))) for name, prompt, system in distinct.iter_rows()]
    tokens = pl.DataFrame(lengths, schema={"prompt_id": pl.String, "tokens": pl.Float64}, orient="row")
    return both.join(tokens, on="prompt_id", how="left", maintain_order="left").select(
        "prompt_id",
        item=pl.format("answer {} with seed {}", "of", "seed"),
        prompt_tokens=pl.col("tokens") + planned.pace.answer_tokens,
    )
