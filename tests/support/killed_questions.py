"""Every question to a model with a small input of its own, to be asked by jobs that are killed (killed_jobs.py)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.acu.prompts import build_claim_prompts, load_claim_template
from ragrelay.annexes.labels.passage_checks import build_check_prompts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.prompting.layout import build_single_prompts, kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template, load_template
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.question import QuestionJob, question_module

from tests.support.sandbox import ROOT

Given = tuple[dict[str, str | list[str]], dict[str, Any], dict[str, str]]
"""Files, settings and wildcards of a job."""
QIDS = ("q1", "q2")
WORDS = (
    "tea", "iron", "copper", "paper", "glass", "stone", "water", "silver", "cotton", "amber", "coal", "salt", "sugar",
    "grain", "clay", "wool", "linen", "bronze", "pearl", "maple",
)  # fmt: skip
TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{text} ")
GRADES = load_template(ROOT / "config/prompts/grades.yaml")


def texts(qid: str) -> list[str]:
    """Four passages of a query."""
    start = 8 * QIDS.index(qid)
    return [" ".join(WORDS[start + place : start + place + 6]) for place in range(4)]


class World:
    """Two queries with four passages each, their prompts and answers, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        queries = pl.DataFrame({"qid": QIDS, "query": [f"what is {words[0]}" for words in map(texts, QIDS)]})
        rows = [(q, n + 1, f"{q}d{n}", text) for q in QIDS for n, text in enumerate(texts(q))]
        self.contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
        self.queries = queries
        labelled = self.contexts.select("qid", "docno", label=4 - pl.col("rank"), text="text")
        for name, table in {"queries": queries, "contexts/bm25": self.contexts, "references": labelled}.items():
            write_parquet(table, self.path(f"{name}.parquet"))
        self.prompts = {k: kshot_prompts(queries, self.contexts, TEMPLATE, "descending", k) for k in (1, 2)}
        for k, prompts in self.prompts.items():
            write_parquet(prompts, self.path(f"prompts/bm25/descending/k{k}.parquet"))
            answers = prompts.select("qid", "prompt_id", seed=pl.lit(1, pl.Int64), dropped_passages=pl.lit(0, pl.Int64))
            said = pl.Series([f"{texts(qid)[k]} {k}" for qid in answers["qid"]])
            write_parquet(answers.with_columns(answer=said), self.path(f"answers/bm25/descending/k{k}/seed1.parquet"))
        write_parquet(zeroshot_prompts(queries, TEMPLATE), self.path("zeroshot.parquet"))

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def files(self, *names: str) -> list[str]:
        return [str(self.folder / f"{name}.parquet") for name in names]

    @property
    def answered(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Answers with their prompts and contexts, and the patterns of these files."""
        cells = ("bm25/descending/k1", "bm25/descending/k2")
        found = {"answers": self.files(*(f"answers/{cell}/seed1" for cell in cells)), "zeroshot": [],
                 "prompts": self.files(*(f"prompts/{cell}" for cell in cells))}  # fmt: skip
        patterns = {"answers": "answers/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
                    "prompts": "prompts/{retriever}/{ordering}/k{k}.parquet",
                    "contexts": "contexts/{retriever}.parquet"}  # fmt: skip
        return {**found, "contexts": self.files("contexts/bm25")}, patterns


def judged_answers(world: World, **more: Any) -> Given:
    from tests.unit.judging.test_judged_answers import judge_template, scorer_of

    scorer = scorer_of(kind="llm_judge", references="judged")
    files, patterns = world.answered
    given = {**files, "queries": world.files("queries"), "references": world.files("references"), "own": []}
    return given, {
        "scorer": {"kind": "llm_judge", **scorer.model_dump()}, "template": asdict(judge_template(scorer)),
        "grades": {"all": 1, "best": 3}, "near_copy": None, "patterns": patterns, **more,
    }, {}  # fmt: skip


def checked_answers(world: World) -> Given:
    return judged_answers(world, size=2)


def judged_passages(world: World) -> Given:
    write_parquet(build_single_prompts(world.queries, world.contexts, GRADES, 4), world.path("single.parquet"))
    return {"prompts": world.files("single")}, {"words": ["0", "1", "2", "3"], "begins": ""}, {}


def checked_passages(world: World) -> Given:
    _, prompts = build_check_prompts(world.queries, [world.contexts], GRADES, 4, 4)
    write_parquet(prompts, world.path("checks.parquet"))
    return {"prompts": world.files("checks")}, {"words": ["0", "1", "2", "3"], "begins": ""}, {}


def nuggets(world: World) -> Given:
    template = load_nugget_template(ROOT / "config/nugget_prompts/nuggets.yaml")
    settings = {"passages": {"depth": 4, "least_label": None}, "shards": 1, "template": vars(template),
                "limits": {"window": 2, "most": 3, "max_tokens": 8}}  # fmt: skip
    return {"queries": world.files("queries"), "passages": world.files("contexts/bm25")}, settings, {"shard": "0"}


def context_use(world: World) -> Given:
    files, patterns = world.answered
    del files["zeroshot"], files["contexts"]
    return {**files, "zeroshot_prompts": world.files("zeroshot")}, {"patterns": patterns}, {}


def contexts(world: World) -> Given:
    return {"queries": world.files("queries"), "contexts": world.files("contexts/bm25")}, {"ks": [1, 2]}, {}


def claims(world: World) -> Given:
    stances = ["supports", "refutes"]
    table = pl.DataFrame(
        {"id": ["c1", "c2"], "claim_id": ["c1", "c2"], "claim": [f"{words[0]} is new" for words in map(texts, QIDS)],
         "evidence": [texts(qid)[1] for qid in QIDS], "evidence_stance": stances, "claimant": [None, None]},
        schema_overrides={"claimant": pl.String},
    )  # fmt: skip
    write_parquet(table, world.path("claims.parquet"))
    template = load_claim_template(ROOT / "config/claim_prompts/claims_zeroshot.yaml")
    write_parquet(build_claim_prompts(table, template), world.path("claims/plain.parquet"))
    files = {"claims": world.files("claims"), "prompts": world.files("claims/plain")}
    return files, {"patterns": {"prompts": "claims/{template}.parquet"}}, {}


def evidence(world: World) -> Given:
    claims(world)
    return {"claims": world.files("claims")}, {}, {}


INPUTS: dict[str, Callable[[World], Given]] = {
    "judge_answers": judged_answers,
    "check_judge": checked_answers,
    "judge_passages": judged_passages,
    "check_passages": checked_passages,
    "write_nuggets": nuggets,
    "score_context_use": context_use,
    "score_contexts": contexts,
    "judge_evidence": evidence,
    "score_claims": claims,
}
"""Of every question."""


def ask(names: Sequence[str], cache: Path, results: Path, generator: Mapping[str, Any], start: Any) -> None:
    """Ask each of the questions ``names`` in one job each; the rows that were asked go to ``results``."""
    world = World(cache.parent / "given")
    for name in names:
        files, settings, wildcards = INPUTS[name](world)
        asker = EngineAsker(generator, "print", cache, 1)
        asker.start = start
        asked, receipt = question_module(name).ask(QuestionJob(files, settings, wildcards), asker)
        rows = pl.DataFrame({"asked": [receipt.get("asked", 0)]}) if asked is None else asked
        write_parquet(rows, results / f"{name}.parquet")
