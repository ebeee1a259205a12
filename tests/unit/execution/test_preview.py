"""Previews of stores made for the purpose: which queries count, which scores they have, and what the page says."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.gain import gains
from ragrelay.analysis.utility import compute_utility
from ragrelay.analysis.verdicts import OF_DIFFERENCE
from ragrelay.base.io.part_index import NAME as INDEX
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.execution.plan.preview import Answered, Preview, Previewed, ScorerPreview, preview_answers
from ragrelay.execution.plan.preview_page import WHY, preview_lines, render_preview
from ragrelay.execution.study import files
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.prompting.layout import SCHEMA as PROMPTS
from ragrelay.scoring.retriever_table import References, score_answers
from ragrelay.scoring.scorer import SCORER_KINDS

from tests.support.sandbox import ROOT

QIDS = [f"q{number}" for number in range(1, 21)]
CONTEXTS = [("descending", 1), ("ascending", 2)]
SEEDS = [1, 2]
RETRIEVERS = ["bm25", "dense"]
KEY = {"dataset": "d", "generator": "lm", "template": "plain"}
F1 = {"kind": "token_f1", "references": "gold"}
OWN = {"kind": "python", "function": "measure:same_words", "references": "gold"}


class Unfinished:
    """A study in ``folder`` whose prompts are there, and the answers of some queries."""

    def __init__(self, folder: Path, retrievers: Sequence[str] = RETRIEVERS) -> None:
        self.folder, self.results, self.cache = folder, folder / "results", folder / "cache"
        self.retrievers, self.scorers, self.imported = list(retrievers), {"f1": F1}, False
        self.store = AnswerStore(self.cache, "fp")
        self.write(files.queries, {"qid": QIDS, "query": QIDS, "answers": [[f"gold words of {qid}"] for qid in QIDS]})
        for name in self.retrievers:
            self.build(name)
        self.write_prompts(ZEROSHOT, "none", 0)

    def path(self, file: Any, **key: Any) -> Path:
        return Path(str(file.at(**KEY, **key)).replace("<results>", str(self.results)))

    def write(self, file: Any, rows: Mapping[str, Any], **key: Any) -> None:
        path = self.path(file, **key)
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(rows).write_parquet(path)

    def build(self, retriever: str) -> None:
        """Contexts and prompts of a retriever."""
        passages = {"qid": QIDS, "docno": [f"{retriever}-{qid}" for qid in QIDS], "text": ["a passage"] * len(QIDS)}
        self.write(files.contexts, passages, retriever=retriever)
        for ordering, k in CONTEXTS:
            self.write_prompts(retriever, ordering, k)

    def write_prompts(self, retriever: str, ordering: str, k: int) -> None:
        rows = [(qid, [f"{retriever}-{qid}"][:k], qid, "", self.prompt_id(retriever, k, qid)) for qid in QIDS]
        path = self.path(files.prompts, retriever=retriever, ordering=ordering, k=k)
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(rows, schema=PROMPTS, orient="row").write_parquet(path)

    @staticmethod
    def prompt_id(retriever: str, k: int, qid: str) -> str:
        return f"{retriever} {k} {qid}"

    def contexts(self, retriever: str) -> list[tuple[str, int]]:
        return [("none", 0)] if retriever == ZEROSHOT else CONTEXTS

    def text(self, retriever: str, k: int, qid: str, seed: int) -> str:
        """An answer that is the closer to the gold one the higher k, by a number of words that differs by query."""
        return " ".join(["gold", "words", "of", qid][: 1 + k + int(qid[1:]) % 2] + ["other"] * seed)

    def answer(self, retriever: str, qids: Sequence[str], seeds: Sequence[int] = SEEDS) -> None:
        rows = [
            dict.fromkeys(SCHEMA) | {"prompt_id": self.prompt_id(retriever, k, qid), "seed": seed,
                                     "answer": self.text(retriever, k, qid, seed), "finish_reason": "stop"}
            for _, k in self.contexts(retriever) for qid in qids for seed in seeds
        ]  # fmt: skip
        self.store.append(rows, {})

    def answer_all(self, qids: Sequence[str]) -> None:
        for name in (ZEROSHOT, *self.retrievers):
            self.answer(name, qids)

    @property
    def part(self) -> Answered:
        """Return the cells as study.plan gives them."""
        own = [(name, *context) for name in (*self.retrievers, ZEROSHOT) for context in self.contexts(name)]
        cells = [dict(zip(("retriever", "ordering", "k"), cell, strict=True)) for cell in own]
        answers = [{**cell, "seed": seed} for cell in cells for seed in SEEDS]
        retrievers = [{"retriever": name} for name in self.retrievers]
        named = {
            "prompts": files.prompts.each(cells),
            "answers": files.answers.each(answers),
            "passages": files.contexts.each(retrievers),
            "ranked": [],
            "queries": [files.queries],
        }
        patterns = {"prompts": files.prompts, "answers": files.answers, "ranked": "", "passages": files.contexts}
        scorers = [
            {"name": name, "definition": scorer, "references": [str(self.path(files.queries)), {"gold": 0}, None],
             "mode": "absolute", "primary": self.primary}
            for name, scorer in self.scorers.items()
        ]  # fmt: skip
        return Answered("d", "lm", None if self.imported else "fp", None,
                        {name: [str(self.path(path)) for path in paths] for name, paths in named.items()},
                        patterns, scorers)  # fmt: skip

    @property
    def primary(self) -> dict[str, Any]:
        return {"retriever": "dense", "reference": "bm25", "ordering": "descending", "k": 1, "references": "gold",
                "measure": "nDCG", "scorer": "f1"}  # fmt: skip

    @property
    def previewed(self) -> Previewed:
        margins = dict.fromkeys(self.scorers, 0.02)
        return Previewed(self.retrievers, SEEDS, [], "bm25", margins, 200, 1, str(self.cache))

    def preview(self) -> Preview:
        """Its preview, which changes no file of the study; an index of a store may be new."""
        before = self.contents()
        made = preview_answers(self.part, self.previewed, self.folder / f"preview{len([*self.folder.iterdir()])}")
        assert self.contents() == before
        return made

    def contents(self) -> dict[Path, bytes]:
        paths = [*self.results.rglob("*"), *self.cache.rglob("*")]
        return {path: path.read_bytes() for path in paths if path.is_file() and path.name != INDEX}

    def view(self, retriever: str, qids: Sequence[str] = QIDS) -> None:
        """The answer files of a retriever, as imported answers have them and a run has at its end."""
        for ordering, k in self.contexts(retriever):
            for seed in SEEDS:
                texts = [self.text(retriever, k, qid, seed) for qid in qids]
                ids = [self.prompt_id(retriever, k, qid) for qid in qids]
                rows = {"qid": qids, "prompt_id": ids, "seed": [seed] * len(qids), "answer": texts}
                self.write(files.answers, rows, retriever=retriever, ordering=ordering, k=k, seed=seed)

    def score(self, retriever: str, scorer: Mapping[str, Any], output: Path) -> None:
        """Score a retriever's viewed answers, into the score store and the table ``output``."""
        key = {"retriever": retriever}
        cells = [(ordering, k, seed) for ordering, k in self.contexts(retriever) for seed in SEEDS]
        answers = {cell: self.path(files.answers, **key, ordering=cell[0], k=cell[1], seed=cell[2]) for cell in cells}
        prompts = {cell[:2]: self.path(files.prompts, **key, ordering=cell[0], k=cell[1]) for cell in cells}
        output.parent.mkdir(parents=True, exist_ok=True)
        references = References(self.path(files.queries), {"gold": 0})
        score_answers(answers, prompts, references, scorer, self.cache, output)


@pytest.fixture
def study(tmp_path: Path) -> Unfinished:
    return Unfinished(tmp_path)


def test_a_query_counts_with_all_its_answers_alone(study: Unfinished) -> None:
    """Its answers may be in parts of several jobs, of which one was killed."""
    study.answer_all(QIDS[:8])
    study.answer(ZEROSHOT, QIDS[9:14])
    study.answer("bm25", QIDS[8:14])
    study.answer("dense", QIDS[8:10])
    study.answer("dense", QIDS[10:12], seeds=[1])
    study.answer("dense", QIDS[11:12], seeds=[2])
    made = study.preview()
    assert made.answered == {ZEROSHOT: 13, "bm25": 14, "dense": 11}
    assert (made.complete, made.queries, made.retrievers) == (10, 20, RETRIEVERS)
    assert made.scorers[0].scored == 10 and set(made.scorers[0].means["n"]) == {10}
    assert preview_lines([made])[0] == "d, lm: 10 of 20 queries, complete for every retriever"


def test_the_numbers_are_those_of_a_study_of_these_queries(study: Unfinished, tmp_path: Path) -> None:
    """Means and intervals are those of the analysis of answer files and score tables with the same queries."""
    qids = [QIDS[at] for at in (0, 1, 3, 4, 6, 7, 9, 12, 15)]
    study.answer_all(qids)
    scorer = study.preview().scorers[0]
    tables = {}
    for name in (ZEROSHOT, *RETRIEVERS):
        study.view(name, qids)
        tables[name] = tmp_path / f"{name}.parquet"
        study.score(name, F1, tables[name])
    utility = pl.concat(compute_utility(tables, "absolute"))
    for name in RETRIEVERS:
        expected = gains(utility.filter(retriever=name), 200, 1)
        found = scorer.means.filter(retriever=name)
        assert len(found) == len(CONTEXTS) and (found["p_low"] < found["mean_p"]).all()
        columns = ["ordering", "k", "references", "n", "mean_p", "mean_p0", "mean_difference", "low", "high"]
        assert found.select(columns).equals(expected.select(columns))
    zero = scorer.means.filter(retriever=ZEROSHOT).row(0, named=True)
    assert zero["mean_p"] == pytest.approx(expected["mean_p0"][0]) and zero["mean_difference"] is None
    assert scorer.pairs.select("retriever", "against_retriever").unique().rows() == [("dense", "bm25")]


def test_nothing_finished_is_one_line(study: Unfinished) -> None:
    """The line is said when one retriever has some answers, and before there are queries."""
    study.answer("bm25", QIDS[:3])
    started = study.preview()
    for path in [*study.results.rglob("*.parquet")]:
        path.unlink()
    for made, own in (
        (started, "zeroshot 0, bm25 3, dense 0 of 20"),
        (study.preview(), "the queries are not there yet"),
    ):
        assert (made.complete, made.scorers) == (0, ())
        [line] = preview_lines([made, made])
        assert "no query has all its answers yet" in line and line.count(own) == 2


def test_a_damaged_and_a_half_written_part_do_not_count(study: Unfinished, caplog: pytest.LogCaptureFixture) -> None:
    study.answer_all(QIDS[:6])
    study.answer_all(QIDS[6:9])
    latest = sorted(study.store.folder.glob("part-*"))[-1]
    latest.write_bytes(latest.read_bytes()[:-20])
    (study.store.folder / ".tmp-1-part-20260101T000000000000-00.parquet").write_bytes(b"PAR1")
    assert study.preview().complete == 6
    assert latest.name in caplog.text


def test_a_retriever_added_later_is_left_out_until_it_has_a_query(tmp_path: Path) -> None:
    study = Unfinished(tmp_path)
    study.answer_all(QIDS)
    study.retrievers.append("new")
    unbuilt = study.preview()
    study.build("new")
    waiting = study.preview()
    for made, reason in ((unbuilt, "not there yet"), (waiting, "0")):
        assert (made.complete, made.retrievers) == (20, RETRIEVERS)
        line = f"d, lm: 20 of 20 queries, complete for bm25, dense; left out: new ({reason})"
        assert preview_lines([made])[0] == line
        assert "new" not in made.scorers[0].means["retriever"]
    study.answer("new", QIDS[:5])
    begun = study.preview()
    assert (begun.complete, begun.retrievers) == (5, [*RETRIEVERS, "new"])


def test_an_answer_that_is_missing_for_good_does_not_hold_its_query_up(study: Unfinished) -> None:
    """A refused one is stored with its reason, so its query is complete."""
    study.answer_all(QIDS[:9])
    for name in (ZEROSHOT, "bm25"):
        study.answer(name, QIDS[10:11])
    refused = dict.fromkeys(SCHEMA) | {"finish_reason": "refusal"}
    keys = [(study.prompt_id(name, k, qid), seed) for name in (ZEROSHOT, *RETRIEVERS) for _, k in study.contexts(name)
            for qid in QIDS[9:11] if qid == QIDS[9] or name == "dense" for seed in SEEDS]  # fmt: skip
    study.store.append([refused | {"prompt_id": one, "seed": seed} for one, seed in keys], {})
    made = study.preview()
    counts = made.scorers[0].means.select("retriever", "n").unique().rows()
    assert made.complete == 11 and set(counts) == {(ZEROSHOT, 10), ("bm25", 10), ("dense", 9)}


def test_queries_without_anything_to_compare_with(study: Unfinished) -> None:
    """They are no reason to wait, and give nothing."""
    gold = [None if at < 15 else ["gold"] for at in range(len(QIDS))]
    study.write(files.queries, {"qid": QIDS, "query": QIDS, "answers": gold})
    study.answer_all(QIDS[:10])
    made = study.preview()
    assert made.complete == 10 and made.scorers[0].means.is_empty()
    page = render_preview("mine", [made], datetime(2026, 1, 2), study.results, study.folder / "preview.html")
    assert "10 of 20 queries" in page and "Means so far" not in page


def test_a_scorer_with_a_model_takes_the_stored_scores_alone(
    study: Unfinished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does a function of the user's, since it may load a model."""
    (tmp_path / "measure.py").write_text(
        "def same_words(answer, reference):\n"
        "    open('called', 'a').write('.')\n"
        "    return len(set(answer.split()) & set(reference.split()))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    own = SCORER_KINDS.completed(OWN, tmp_path)
    study.scorers["own"] = own
    study.answer_all(QIDS[:12])
    none = study.preview()
    assert [one.scored for one in none.scorers] == [12, 0]
    assert "  own: 0 of 12 scored; the others aren't scored yet" in preview_lines([none])[2]
    for name in (ZEROSHOT, *RETRIEVERS):
        study.view(name, QIDS[:7])
        study.score(name, own, tmp_path / "table.parquet")
    called = Path("called").read_bytes()
    some = study.preview().scorers[1]
    assert some.scored == 7 and set(some.means["n"]) == {7} and Path("called").read_bytes() == called


def test_a_judge_has_no_scores_here(study: Unfinished) -> None:
    study.scorers = {"judge": {"kind": "llm_judge", "generator": "lm", "prompt": "p", "references": "gold"}}
    study.answer_all(QIDS)
    found = study.preview().scorers[0]
    assert (found.scored, found.remark) == (0, "its scores are only on the study's page")


def test_imported_answers_count_once_their_files_are_read(study: Unfinished) -> None:
    study.imported = True
    assert study.preview().answered == {ZEROSHOT: None, "bm25": None, "dense": None}
    for name in (ZEROSHOT, "bm25"):
        study.view(name)
    made = study.preview()
    assert (made.complete, made.retrievers) == (20, ["bm25"])
    assert preview_lines([made])[0].endswith("left out: dense (not there yet)")
    assert made.scorers[0].primary is None and made.scorers[0].scored == 20


def test_a_scorer_that_cannot_work_leaves_the_others(study: Unfinished) -> None:
    study.scorers = {"none": {"kind": "bertscore", "model": "no/such", "layer": 1, "references": "gold"}, "f1": F1}
    study.answer_all(QIDS)
    broken, whole = study.preview().scorers
    assert broken.scored == 0 and "no/such" in broken.remark and whole.scored == 20


def test_the_page_has_no_word_of_a_result(study: Unfinished) -> None:
    """It says what it is instead, and escapes names."""
    study.answer_all(QIDS[:13])
    made = study.preview()
    other = made._replace(dataset="<b>e", complete=0, scorers=())
    unscored = ScorerPreview("unscored", None, 0, pl.DataFrame(), pl.DataFrame(), "not yet")
    made = made._replace(scorers=[*made.scorers, unscored])
    page = study.folder / "results-preview/preview.html"
    text = render_preview("mine", [made, other], datetime(2026, 1, 2, 3, 4), study.results, page)
    assert "treat them as independent" not in text
    clustered = render_preview("mine", [made], datetime(2026, 1, 2), study.results, page, ["talks"])
    assert "Queries of talks come in clusters; these intervals treat them as independent." in clustered
    main = re.sub(r"<[^>]+>", " ", text[text.index("<main") : text.index("</main>")])
    assert "Preview of mine: not the result" in main and "2026-01-02 at 03:04" in main and WHY in main
    assert "13 of 20 queries, complete for every retriever" in main and "13 of 13 scored" in main
    assert "0 of 13 scored; not yet" in main and main.count("Means so far") == 1
    assert not re.search(rf"\b({'|'.join(OF_DIFFERENCE)}|wins?|verdict)\b", main)
    assert "<b>e" not in text and "../results/report/pages.js" in text
    scorer = made.scorers[0]
    row = scorer.means.filter(retriever="dense", k=2).row(0, named=True)
    assert f"{row['mean_difference']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in main
    assert f"{scorer.pairs['mean_difference'][0]:.3f}" in main.replace("−", "-")


def test_why_there_are_no_words_is_as_recorded() -> None:
    record = json.loads((ROOT / "benchmarks/results/early_words.json").read_text(encoding="utf-8"))
    rates = {label: 100 * one["value"] for label, one in record["figures"].items()}

    def between(*words: str) -> str:
        of_words = [rate for label, rate in rates.items() if all(word in label for word in words)]
        return f"{min(of_words):.0f} to {max(of_words):.0f}%"

    page = " ".join((ROOT / "docs/error-rates.md").read_text(encoding="utf-8").split())
    for words in (("43 queries", "ten looks, one pair"), ("200 queries", "ten looks, one pair"), ("nine pairs",)):
        assert between(*words) in WHY and between(*words) in page
    for words in (("43 queries", "order that"), ("200 queries", "order that"), ("random order",)):
        assert between(*words) in page
