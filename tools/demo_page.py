"""Take README's numbers and picture, and what the demo's page is computed from, from the finished demo: `make docs`.

resources/demo/measured gets Parquet files: scores, answers (a hash in place of each text), contexts, measures, cost.
From them the tests compute the page's numbers without an engine, and compare README and every sentence with them.
Without a finished demo nothing changes.
"""

import json
import re
import shutil
import textwrap
from pathlib import Path

import polars as pl
from ragrelay.analysis.systems import PRIMARY
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.keyed_files import WILDCARD, KeyedFiles
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.numbers import number
from ragrelay.report.display.sections import Section
from ragrelay.report.lead_figure import zero_shot
from ragrelay.report.reading import read_section
from ragrelay.report.verdict_sentences import answers

from tools import page_pictures

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PACKED = ROOT / "results" / "demo" / "demo", ROOT / "resources" / "demo" / "measured"
README = ROOT / "README.md"
PARAGRAPH = re.compile(r"(<!-- the demo, by tools/demo_page.py -->\n).*?(\n<!-- -->)", re.DOTALL)
PARTS = {
    "scores": (
        "scores/minilm/demo-lm/{retriever}.parquet",
        [
            "qid",
            "ordering",
            "k",
            "seed",
            "references",
            "f1",
            "best_in_context",
            "n_references",
            "n_near_copies",
            "n_zero",
        ],
    ),
    "answers": (
        "answers/demo-lm/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
        ["qid", "answer", "finish_reason", "answer_tokens"],
    ),
    "contexts": ("prompts/tian2025/{retriever}/{ordering}/k{k}.parquet", ["qid", "docnos"]),
    "retrieval": ("retrieval/{retriever}.parquet", ["qid", "measure", "k", "value"]),
}
"""Pattern of each part's files below RESULTS, and the columns that are kept."""


def packed(name: str) -> pl.DataFrame:
    """Return a part's rows, with the values of its pattern as columns."""
    pattern, columns = PARTS[name]
    files = KeyedFiles(pattern, tuple(sorted(RESULTS.glob(WILDCARD.sub("*", pattern)))))
    rows = pl.concat(
        pl.read_parquet(path, columns=columns).select(*(pl.lit(v).alias(n) for n, v in key.items()), *columns)
        for key, path in files.keyed
    )
    if "answer" in columns:
        texts = {text: text_hash(text)[:8] if re.search(r"\S", text) else "" for text in rows["answer"].unique()}
        rows = rows.with_columns(pl.col("answer").replace_strict(texts, return_dtype=pl.String))
    return rows


def demo_section() -> Section:
    """Return the tables of the finished demo that its first screen needs."""
    config = json.loads((RESULTS.parent / "report" / "provenance.json").read_text(encoding="utf-8"))["config"]
    analysis = RESULTS / "analysis" / "minilm" / "demo-lm"
    files = {name: analysis / f"{name}.csv" for name in ("utility", "systems", "relay", "correlation")}
    files["per_query"] = RESULTS / "utility" / "minilm" / "demo-lm.parquet"
    pair = pl.read_csv(files["systems"]).filter(role=PRIMARY).row(0, named=True)
    where = (pair[name] for name in ("retriever", "against_retriever", "ordering", "k", "references"))
    grid = config["grid"] | {"references": {"demo": list(config["datasets"]["demo"]["references"])}}
    kinds = {name: config["retrievers"][name]["kind"] for name in grid["retrievers"]}
    retrieval = {name: RESULTS / "retrieval" / f"{name}.parquet" for name in grid["retrievers"]}
    primary = Primary(*where, grid["measures"][0], "minilm")._asdict()  # type: ignore[arg-type]
    keys = {"dataset": "demo", "generator": "demo-lm", "scorer": "minilm"}
    section = {**keys, "files": files, "retrieval": retrieval, "primary": primary}
    return read_section(section, grid | {"kinds": kinds}, None)


def readme(section: Section) -> str:
    """README's paragraph on the demo: mean P of each retriever, and the page's answers as they are there."""
    lead, base = section.lead, zero_shot(section)
    where = {name: lead[name] for name in ("ordering", "k", "references")}
    means = dict(section["utility"].filter(**where).select("retriever", "mean_p").iter_rows())
    p = {name: number(mean, 2) for name, mean in means.items()}
    said = " ".join(f"*{answer.question}* {answer.sentence}" for answer in answers(section))
    text = (
        f"In the demo, answers made without any passage score {number(base.value if base else None, 2)} (P: BERTScore "
        f"F1 with the best judged passage). With {lead['k']} passages from BM25 they score {p['bm25']}, from a dense "
        f"retriever {p['dense']}, with relevant passages {p['rel']} and with non-relevant ones {p['nrel']}. The report "
        f"opens with three answers. {said} The demo’s model is tiny and only copies from its prompt: these numbers "
        "only show what the report contains."
    )
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    page = RESULTS.parent / "report" / "index.html"
    if not page.is_file():
        print("README's numbers and picture stay as they are: no finished demo in results/demo (make demo)")
        return
    PACKED.mkdir(parents=True, exist_ok=True)
    frames = {name: packed(name) for name in PARTS} | {
        "cost": pl.read_csv(RESULTS / "described/answers/demo-lm/cost.csv")
    }
    for name, frame in frames.items():
        frame.write_parquet(PACKED / f"{name}.parquet", compression="zstd", compression_level=19)
    text = README.read_text(encoding="utf-8")
    README.write_text(PARAGRAPH.sub(lambda found: found[1] + readme(demo_section()) + found[2], text), encoding="utf-8")
    if shutil.which("chromium"):
        page_pictures.main(page, "report")


if __name__ == "__main__":
    main()
