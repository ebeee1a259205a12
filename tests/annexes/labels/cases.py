"""Cases of labels for shared tables (tests.support.annex_cases)."""

import json
import re
import shutil
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.labels.file_labels import label_by_file, read_labels
from ragrelay.annexes.labels.passage_checks import build_check_prompts
from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.config.study import Study
from ragrelay.prompting.layout import build_single_prompts
from ragrelay.prompting.templates import load_template

from tests.support import changes
from tests.support.asked_world import Given, World
from tests.support.bad_input_changes import (
    FINE,
    NO_CONTEXTS,
    Case,
    Change,
    Expected,
    answered,
    both,
    damaged_parquet,
    file,
    judge_template,
    judging,
    key,
)
from tests.support.changes import CODE
from tests.support.sandbox import ROOT

CEILING = {"annex labels": 8450}  # tests of it that the core had; public names' Args; sources' data; clearer sentences
QRELS_KIND, ERAG_KIND = {"qrels": {"kind": "qrels"}}, {"erag": {"kind": "erag"}}
JUDGE = {"kind": "llm", "generator": "lmm", "prompt": "plain"}
PEOPLE = {"people": {"kind": "file", "path": "people.qrels"}}
PARQUET_LABELS = {"people": {"kind": "file", "path": "people.parquet"}}
BLEND = {"kind": "combination", "sources": ["qrel", "erag"], "combine": "mean"}


def annotated(name: str, catalogue: dict[str, Any], *changes: Change) -> Change:
    """Asks for the annotation source ``name`` of ``catalogue``."""
    return both(key("grid.annotations", [name]), key("annotations", catalogue), *changes)


BAD_INPUT = {
    "Annotation sources": [
        Case("Unknown annotation source", annotated("qrel", QRELS_KIND)),
        Case("A combination of an unknown source", annotated("blend", {**QRELS_KIND, **ERAG_KIND, "blend": BLEND})),
        Case("Labels by a scorer outside the grid", annotated("erag", {"erag": {"kind": "erag", "scorer": "bleu"}})),
        Case(
            "Labels by a scorer without bounds",
            annotated("erag", ERAG_KIND, key("scorers.minilm", {"kind": "length"})),
        ),
        Case("Labels from gold answers that don't exist", annotated("gold", {"gold": {"kind": "containment"}})),
        Case("Labels without a cutoff above 1", annotated("qrels", QRELS_KIND, key("grid.k", [1]))),
        Case("Labels deeper than the contexts", annotated("qrels", QRELS_KIND, key("annotation_depth", 80))),
        Case(
            "Labels without the ordering descending",
            annotated("qrels", QRELS_KIND, key("grid.orderings", ["ascending"])),
        ),
        Case("An unknown judge", annotated("llm", {"llm": JUDGE})),
        Case("A grading prompt without a placeholder", both(
            annotated("grades", {"grades": {"kind": "graded_llm", "prompt": "bare"}}),
            file("prompts/bare.yaml", NO_CONTEXTS),
        )),
        Case("Labels from a missing file", annotated("people", PEOPLE)),
        Case("A file of labels with a grade that isn't a number", annotated("people", PEOPLE, file(
            "people.qrels", "q1 0 d1 good\n"
        ))),
        Case("A file of labels with 3 columns", annotated("people", PEOPLE, file("people.qrels", "q1 d1 2\n"))),
        Case("A flipped bit in a Parquet file of labels", annotated(
            "people", PARQUET_LABELS, damaged_parquet("people.parquet"))),
        Case("Labels for other queries only", annotated("people", PEOPLE, file("people.qrels", "7 0 d1 3\n"))),
        Case("Labels for other passages only", annotated("people", PEOPLE, file("people.qrels", "q1 0 D1 3\n"))),
        Case("People that aren't a grid source", annotated("qrels", QRELS_KIND, key("agreement.people", "qrel"))),
        Case("A random sample without people", annotated("qrels", QRELS_KIND, key("agreement.random_sample", True))),
        Case("A threshold of κ above 1", key("agreement.least_kappa", 40)),
    ],
    "Answers judged by a generator": [
        Case("Labels by a judge of answers", both(
            annotated("erag", ERAG_KIND, judging()), judge_template('question: "{query} {references} {answer}"')
        )),
    ],
    "Imported answers": [
        Case("eRAG labels from imported answers", both(answered(), annotated("erag", ERAG_KIND))),
    ],
}  # fmt: skip


def label_by_files(study: Study) -> None:
    """Label by each file of the grid as label_by_file.py does."""
    for name in study.config["grid"]["annotations"]:
        if path := ANNOTATION_KINDS.of(study.config["annotations"][name]).file("small"):
            label_by_file(Path(path), "queries.parquet", ["contexts.parquet"], study.config["annotation_depth"])


BAD_INPUT_STAGES = {"label_by_file": label_by_files}


def _people(**columns: Any) -> Change:
    """Labels by people from a Parquet file of these columns, where they are others than one right row has."""
    entry = {"people": {"kind": "file", "path": "people.parquet"}}
    frame = pl.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [2], **columns})
    return annotated("people", entry, lambda _: frame.write_parquet("people.parquet"))


HOSTILE: list[Expected] = [
    *((f"people's labels: {columns}", _people(**columns), expected) for columns, expected in (
        ({"label": [1e300]}, "1e+300"), ({"label": [float("inf")]}, "inf"), ({"label": [True]}, "Boolean"),
        ({"qid": [["q1"]]}, "column qid"), ({"qid": [1.0]}, "Float64"), ({"docno": ["d1\u200b"]}, "U+200B"),
        ({"docno": [b"d1"]}, "large_binary"), ({"docno": [""]}, "docno ''"),
    )),
    ("an empty file of labels", annotated(
        "people", {"people": {"kind": "file", "path": "p.parquet"}}, file("p.parquet", "")), "an unreadable Parquet"),
    ("a judge's grade beyond its scale", annotated("grades", {"grades": {
        "kind": "graded_llm", "relevant": 4, "prompt": "plain"}}), "annotations.grades.relevant"),
    ("a judge that is a file", annotated("llm", {"llm": {**JUDGE, "generator": "theirs"}}, answered()), "generator"),
    *((f"{path}: {value}", annotated("people", PEOPLE, file("people.qrels", "q1 0 d1 1\n"), key(path, value)), path)
      for path, value in (("agreement.least_kappa", float("nan")), ("agreement.least_kappa", "0.4"),
                          ("agreement.random_sample", 1), ("agreement.people", ["people"]), ("agreement", []))),
    ("half of the labels foreign", annotated("people", PEOPLE, file("people.qrels", "q1 0 d1 1\nq7 0 d1 1\n")), FINE),
    ("dates for labels", _people(label=[date(2026, 1, 1)]), "column label"),
    ("dates for qids", _people(qid=[datetime(2026, 1, 1)]), "found qid '2026-01-01 00"),
]  # fmt: skip


N = 40
FLIPPED: dict[str, Any] = {
    "labels": (
        {"qid": [f"q{number}" for number in range(N)], "docno": ["d1", "d2"] * (N // 2), "label": list(range(N))},
        read_labels,
    )
}
TEMPLATE = load_template(ROOT / "config/prompts/grades.yaml")


def judged_passages(world: World) -> Given:
    write_parquet(build_single_prompts(world.queries, world.contexts, TEMPLATE, 4), world.path("single.parquet"))
    return {"prompts": world.files("single")}, {"words": ["0", "1", "2", "3"], "begins": ""}, {}


def checked_passages(world: World) -> Given:
    _, prompts = build_check_prompts(world.queries, [world.contexts], TEMPLATE, 4, 4)
    write_parquet(prompts, world.path("checks.parquet"))
    return {"prompts": world.files("checks")}, {"words": ["0", "1", "2", "3"], "begins": ""}, {}


ASKED = {"judge_passages": judged_passages, "check_passages": checked_passages}


TARGETS = {
    **dict.fromkeys(("optional", "judged", "processed", "asked"), "erag"),
    "rare": "results/small/small/annotations/pages/gold.parquet",
    "counted": "results/small/small/annotations/erag/minilm/demo-lm.parquet",
    "rerun": "results/small/small/annotations/checks/grades/demo-lm/judge_checks.csv "
             "results/small/small/annotations/labels/minilm/demo-lm/labels.parquet",
}  # fmt: skip
SOURCES = ["qrels", "erag", "llm", "qrels_and_erag", "p0"]
OF_ANSWERS = {"annotation_depth": 2, "grid": {"annotations": ["qrels", "erag"]}}
GRADES = {"kind": "graded_llm", "generator": "demo-lm", "bias_checks": 5}
LLM = {"kind": "llm", "generator": "demo-lm", "bias_checks": 5}
FROM_FILES = {"people": {"kind": "file", "path": "people.qrels"}, "erag": {"scorer": "minilm"}}
GOLD = {"kind": "provenance", "path": "pages.jsonl"}
CONFIG: dict[str, dict[str, Any]] = {
    "optional": {"annotation_depth": 3, "grid": {"annotations": SOURCES}},
    "everything": {"annotations": {"grades": GRADES, **FROM_FILES},
                   "grid": {"annotations": [*SOURCES, "grades", "people"]}},
    "judged": {"annotations": {"grades": GRADES, "llm": LLM}, "annotation_depth": 2,
               "grid": {"annotations": ["grades", "llm"]}},
    "asked": {"annotations": {"llm": {"kind": "llm", "generator": "smollm2"}}, "annotation_depth": 2,
              "grid": {"annotations": ["qrels", "llm"]}},
    "rerun": {"annotations": {"grades": GRADES}, "grid": {"annotations": ["qrels", "grades"]}},
    "counted": OF_ANSWERS, "processed": OF_ANSWERS,
    "rare": {"annotations": {"gold": GOLD}, "grid": {"annotations": ["gold"]}},
    "of files": {"annotations": {**FROM_FILES, "pages": GOLD},
                 "grid": {"annotations": ["qrels", "erag", "people", "pages"]}},
    "params": {"annotations": {"grades": {"bias_checks": 6}}, "annotation_depth": 2},
    "rare params": {"annotations": {"gold": {"path": "other.jsonl"}}},
}  # fmt: skip
EDITS = {
    "inputs": [("people.qrels", " 3\n", " 2\n")],
    "params": [(f"config/prompts/{name}.yaml", "Question:", "The question:") for name in ("grades", "relevance")],
    "rare inputs": [("pages.jsonl", "page 1", "page 2")],
    "rare code": [(f"{CODE}/annexes/labels/gold_pages.py", "in pages[qid])", "not in pages[qid])")],
}


def _copied_qrels(folder: Path) -> None:
    shutil.copy(folder / "small/qrels.txt", folder / "people.qrels")


def _pages(folder: Path) -> None:
    """Write titles of passages, and gold pages, the same for all queries."""
    passages, queries = folder / "small/passages.jsonl", folder / "small/queries.tsv"
    records = [json.loads(line) for line in passages.read_text(encoding="utf-8").splitlines()]
    titled = [json.dumps({**record, "title": f"page {place % 3}"}) for place, record in enumerate(records)]
    passages.write_text("\n".join(titled) + "\n", encoding="utf-8")
    qids = [line.split("\t")[0] for line in queries.read_text(encoding="utf-8").splitlines()]
    for name, page in (("pages", "page 1"), ("other", "page 2")):
        lines = [json.dumps({"id": qid, "input": "", "output": [{"provenance": [{"title": page}]}]}) for qid in qids]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


FILES = {
    "everything": _copied_qrels, "rare": _pages,
    "of files": lambda folder: (_copied_qrels(folder), (folder / "pages.jsonl").write_text("{}\n")),
}  # fmt: skip
JUDGED_RERUNS: dict[str, dict[str, changes.Change]] = {
    "an annotation source's `bias_checks`": {
        "grades: more": lambda study: study.entry("annotations", "grades", bias_checks=6),
        "grades: swapped": lambda study: study.edit("config/prompts/grades.yaml", 'swapped: "', 'swapped: "New. '),
    },
}
COUNTED = {"label_passages": "count_label_scores"}
STAGE_KINDS = {"scoring": {"annotations"}}
UNCLUSTERED = {"annotations"}
RARELY = {"label_by_pages"}
GENERATED = {"generate_single_answers": "small/annotations/generated/demo-lm/shard0.json"}
SEVERAL = {
    "correlate_labels": {"label_correlations", "leads", "label_within"},
    "draw_annotations": {"gather", "write_table", "draw_figures"},
}
JUDGING = {"judge_passages", "check_passages"}
ASKED_BY = {
    "annexes/labels/questions/judge_passages.py": JUDGING,
    "questions/judging/bias_checks.py": {"check_passages"},
    "generation/tokens.py": JUDGING,
    "generation/likelihoods/words.py": JUDGING,
    "generation/likelihoods/endpoint_words.py": JUDGING,
}
FILE_KEYS = {
    "annotations.*.file.path": ["people.qrels"],
    "annotations.*.provenance.path": ["pages.jsonl"],
    "generators.*.single_passages": ["alone.jsonl"],
}
NO_FILE_KEYS = {"yes_word", "no_word"}


def check_page_of_questions(page: str) -> None:
    """The page says that the small model judges otherwise than people."""
    said = r"labels from llm depend on a judge whose agreement with human labels \(qrels\) is κ = (\S+)"
    doubted = re.search(said, page)
    assert doubted and float(doubted[1].rstrip(",").replace("−", "-")) < 0.4
