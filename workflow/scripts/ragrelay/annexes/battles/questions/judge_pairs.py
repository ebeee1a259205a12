"""Ask a judge which of two retrievers' answers to a query is better, once for each order of the answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.bases import AboutPairs
from ragrelay.questions.question import Inputs, Key, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.annexes.battles.rules import Battles
    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Asker, Receipt

MODULE = "ragrelay.annexes.battles.votes"


class JudgePairs(AboutPairs):
    """A question that asks a battle's judge about every pair of compared answers."""

    asks, reads = "judge_pairs", "read_pair_votes"
    does = (
        "Ask a judge which of two answers is better, and store the replies.",
        "Derive judges' votes on pairs of answers from the stored replies.",
    )
    key, ask_key = "{dataset}/{battle}/{generator}/{retriever}/{against}", "{dataset}/{generator}/{judge}"
    read_key = "{dataset}/{battle}/{generator}"
    asked = StudyFile("{dataset}/battles/{battle}/{generator}/asked.parquet", "read_pair_votes",
        "the questions that a judge was asked about each pair of answers, with their keys in the cache",
        f"{MODULE}:ASKED_COLUMNS")  # fmt: skip
    made: ClassVar = {
        "votes": StudyFile("{dataset}/battles/{battle}/{generator}/votes.parquet", "read_pair_votes, read_vote_file",
            "the votes on each pair of answers, in both orders", f"{MODULE}:VOTES"),
        "left_out": StudyFile("{dataset}/battles/{battle}/{generator}/votes.left_out.json",
            "read_pair_votes, read_vote_file",
            "counts of pairs without a vote, and of questions whose reply words get little probability from the judge; "
            "for a file, also counts of ignored votes"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        battles = of_rules(study)
        return [
            {**key, "retriever": retriever, "against": against}
            for name in battles.judged
            for key in battles.keys_of(name)
            for retriever, against in battles.met(name)
        ]

    def read_jobs(self, study: "StudyOfRules") -> list[Key]:
        battles = of_rules(study)
        return [key for name in battles.judged for key in battles.keys_of(name)]

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        judge: str = of_rules(study).judged[key["battle"]].generator
        return judge

    def planned_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        references = of_rules(study).judged[key["battle"]].references
        judged = [study.files.references] if references == "judged" else []
        return {**super().planned_inputs(study, key), "references": judged}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        judge = of_rules(study).judged[key["battle"]]
        shown = {"references": judge.references, "best": judge.best, "prefix": judge.prefix}
        return {**shown, "template": dict(judge.parts(study))}

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {"judge": self.asker(study, key)}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    import polars as pl

    from ragrelay.annexes.battles.votes import WORDS, asked_pairs, joined_answers
    from ragrelay.generation.likelihoods.word_questions import ask_words
    from ragrelay.questions.answers import pair_answers
    from ragrelay.questions.judging.templates import JudgeTemplate
    from ragrelay.scoring.reference_sets import read_gold, read_references

    settings, path = job.settings, job.path("queries")
    queries = dict(pl.read_parquet(path, columns=["qid", "query"], glob=False).iter_rows())
    of_kind = {"judged": lambda: read_references(job.path("references")), "gold": lambda: read_gold(path)}
    references = of_kind[settings["references"]]() if settings["references"] in of_kind else None
    retriever, against = job.wildcards["retriever"], job.wildcards["against"]
    own, other = (pair_answers(job, list(queries), name) for name in (retriever, against))
    template, asked = JudgeTemplate(**settings["template"]), []
    for number, pairs in enumerate(joined_answers(own, other, retriever, against)):
        rows, questions = asked_pairs(pairs, queries, references, settings["best"], template)
        asked.append(rows)
        if not number or questions.height:
            receipt = ask_words(questions, WORDS, settings["prefix"], asker, certain=not number)
    return pl.concat(asked), receipt


plan = ask


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.annexes.battles.votes import read_votes
    from ragrelay.generation.likelihoods.mass import mass_counts
    from ragrelay.questions.judging.scores import judged_shares

    asked = pl.read_parquet(job.path("asked"), glob=False)
    shares = judged_shares(asked, receipt, cache_dir)
    votes = read_votes(asked, shares)
    unread = {"what": "pairs of answers without a vote in both orders", "count": votes["score"].null_count()}
    counts = [unread, *mass_counts(shares["mass"], receipt["words"], job.settings["judge"])]
    masses = shares.select("prompt_id", "mass")
    with_mass = asked.select(pl.exclude("mass")).join(masses, on="prompt_id", how="left", maintain_order="left")
    return {"votes": votes, "left_out": counts, "asked": with_mass}


def of_rules(study: "StudyOfRules") -> "Battles":
    from ragrelay.annexes.battles.rules import of_study as battles_of  # here, since rules import the questions

    return battles_of(study)
