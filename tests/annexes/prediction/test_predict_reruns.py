"""What a change reruns of the target predict: tests/support/reruns.md, by dry runs on a finished study."""

from functools import partial

import polars as pl
import pytest

from tests.support.changes import CODE, Change, Changes, changed
from tests.support.graphs import Job, graph
from tests.support.reruns import Table
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.process

TABLE = Table("change with `predict`", "step of `predict`")
TARGETS = ("predict",)


def predicting(**keys: object) -> Change:
    return lambda study: study.config.update(prediction={**study.config["prediction"], **keys})


def analysing(**keys: object) -> Change:
    return lambda study: study.config.update(analysis={**study.config["analysis"], **keys})


def code(module: str) -> Change:
    return lambda study: study.edit_code(f"{CODE}/{module}")


def quality(study: Changes) -> None:
    """Another quality of every passage."""
    file = study.folder / "quality/small.parquet"
    study.keep(file)
    pl.read_parquet(file).with_columns(pl.col("quality") + 1).write_parquet(file)


CHANGES: dict[str, dict[str, Change]] = {
    "comment or docstring in the code, or `touch` on every input": {
        "docstring": lambda study: study.edit(f"{CODE}/annexes/prediction/best.py", '"""', '# A comment.\n"""New: '),
        "touch": Changes.touch,
    },
    "predictor's cutoff": {"nqc": predicting(score_depth=50)},
    "passage quality file edited": {"another": quality},
    "predictor's code": {"scores": code("annexes/prediction/predictors/ranking_scores.py")},
    "regressions' code": {"ensembles": code("annexes/prediction/ensembles.py")},
    "code for regressions on another dataset": {"transfer": code("annexes/prediction/transfer.py")},
    "agreement scores' code": {"agreement": code("annexes/prediction/self_consistency.py")},
    "the analysis's `seed`": {"seed": analysing(seed=7)},
    "the analysis's `resamples`": {"resamples": analysing(resamples=400)},
    "`context_perplexity` turned off": {"off": predicting(context_perplexity=False)},
    "reranker edited": {"tiny: batch": lambda study: study.entry("retrievers", "tiny", batch_size=8)},
    "agreement scorer added": {"minilm": predicting(agreement_scorers=["token_f1", "minilm"])},
    "retriever added": {"some": lambda study: study.add("some", kind="oracle", min_label=1)},
    "retriever removed": {"rel": partial(Changes.remove, name="rel")},
    "ordering or seed added": {
        "ordering": lambda study: study.grid(orderings=["descending", "ascending", "random"]),
        "seed": lambda study: study.grid(seeds=[1, 2, 3]),
    },
    "k added": {"larger": lambda study: study.grid(k=[1, 2, 5])},
    "k removed (not the largest)": {"smaller": lambda study: study.grid(k=[2])},
    "generator's decoding parameters edited": {"demo-lm": lambda s: s.entry("generators", "demo-lm", temperature=0.5)},
    "measure added": {"precision": lambda study: study.grid(measures=["nDCG", "P"])},
    "query or judgement edited": {
        "query": lambda study: study.edit("small/queries.tsv", "\t", "\tNow "),
        "judgement": lambda study: study.edit("small/qrels.txt", " 3\n", " 2\n"),
    },
    "passage edited": {"passage": lambda study: study.edit("small/passages.jsonl", '"text": "', '"text": "Now ')},
}
CASES = [(row, case) for row, cases in CHANGES.items() for case in cases]


@pytest.fixture(scope="module")
def study(optional: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return optional.copied_to(tmp_path_factory.mktemp("predict_reruns") / "study")


def test_every_row_is_tried_and_every_rule_is_in_a_step(before: dict[str, Job]) -> None:
    assert list(CHANGES) == list(TABLE.first)
    assert {*TABLE.rules} <= {job.rule for job in before.values()}


@pytest.mark.parametrize(("row", "case"), CASES, ids=[f"{row.split(',')[0]}: {case}" for row, case in CASES])
def test_a_change_reruns_what_follows_from_it(study: Sandbox, before: dict[str, Job], row: str, case: str) -> None:
    with changed(study, CHANGES[row][case]):
        jobs = graph(study, TARGETS)
    TABLE.check(row, case, before, jobs)
