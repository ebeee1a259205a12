"""Take README's numbers and picture, and what the demos' pages are computed from, from finished demos: `make docs`.

resources/demo/measured and measured_real get Parquet files: scores, answers, contexts, measures, cost. From them the
tests compute the pages' numbers without an engine, and compare README and every sentence with them. Without a finished
demo nothing changes.
"""

import json
import re
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from ragrelay.analysis.systems import PRIMARY
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.keyed_files import WILDCARD, KeyedFiles
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.numbers import number
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import facts_of
from ragrelay.report.lead_answers import answers
from ragrelay.report.reading import read_section

from tools import page_pictures

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PARAGRAPH = re.compile(r"(<!-- the demo, by tools/demo_page.py -->\n).*?(\n<!-- -->)", re.DOTALL)


@dataclass(frozen=True)
class Demo:
    """A study of the demo's collection, whose results are in ``results``, and the folder of its packed ``measured``."""

    results: Path
    measured: Path
    generator: str
    template: str
    hashed: bool
    """Whether a hash stands for each text of an answer."""

    @property
    def tables(self) -> Path:
        """The folder of the dataset's results."""
        return self.results / "demo"

    @property
    def page(self) -> Path:
        """The report's page."""
        return self.results / "report" / "index.html"

    @property
    def parts(self) -> dict[str, tuple[str, list[str]]]:
        """Pattern of each part's files below ``tables``, and the columns that are kept."""
        scored = ["qid", "ordering", "k", "seed", "references", "f1"]
        return {
            "scores": (
                f"scores/minilm/{self.generator}/{{retriever}}.parquet",
                [*scored, "best_in_context", "n_references", "n_near_copies", "n_zero"],
            ),
            "answers": (
                f"answers/{self.generator}/{{retriever}}/{{ordering}}/k{{k}}/seed{{seed}}.parquet",
                ["qid", "answer", "finish_reason", "answer_tokens"],
            ),
            "contexts": (f"prompts/{self.template}/{{retriever}}/{{ordering}}/k{{k}}.parquet", ["qid", "docnos"]),
            "retrieval": ("retrieval/{retriever}.parquet", ["qid", "measure", "k", "value"]),
        }


COPIES = Demo(ROOT / "results/demo", ROOT / "resources/demo/measured", "demo-lm", "tian2025", True)
"""The study of config/config.yaml, whose model copies: the tests' pages are made of it."""
REAL = Demo(ROOT / "results/demo_real", ROOT / "resources/demo/measured_real", "smollm2", "question_first", False)
"""The study of config/demo_real.yaml, with a real language model: README's."""


def packed(demo: Demo, name: str) -> pl.DataFrame:
    """Return a part's rows, with the values of its pattern as columns."""
    pattern, columns = demo.parts[name]
    files = KeyedFiles(pattern, tuple(sorted(demo.tables.glob(WILDCARD.sub("*", pattern)))))
    rows = pl.concat(
        pl.read_parquet(path, columns=columns).select(*(pl.lit(v).alias(n) for n, v in key.items()), *columns)
        for key, path in files.keyed
    )
    if demo.hashed and "answer" in columns:
        texts = {text: text_hash(text)[:8] if re.search(r"\S", text) else "" for text in rows["answer"].unique()}
        rows = rows.with_columns(pl.col("answer").replace_strict(texts, return_dtype=pl.String))
    return rows


def demo_section(demo: Demo) -> Section:
    """Return the tables of a finished demo that its first screen needs."""
    config = json.loads((demo.results / "report" / "provenance.json").read_text(encoding="utf-8"))["config"]
    analysis = demo.tables / "analysis" / "minilm" / demo.generator
    files = {name: analysis / f"{name}.csv" for name in ("utility", "systems", "relay", "correlation")}
    files["per_query"] = demo.tables / "utility" / "minilm" / f"{demo.generator}.parquet"
    pair = pl.read_csv(files["systems"]).filter(role=PRIMARY).row(0, named=True)
    where = (pair[name] for name in ("retriever", "against_retriever", "ordering", "k", "references"))
    grid = config["grid"] | {"references": {"demo": list(config["datasets"]["demo"]["references"])}}
    kinds = {name: config["retrievers"][name]["kind"] for name in grid["retrievers"]}
    retrieval = {name: demo.tables / "retrieval" / f"{name}.parquet" for name in grid["retrievers"]}
    primary = Primary(*where, grid["measures"][0], "minilm")._asdict()  # type: ignore[arg-type]
    keys = {"dataset": "demo", "generator": demo.generator, "scorer": "minilm"}
    section = {**keys, "files": files, "retrieval": retrieval, "primary": primary}
    return read_section(section, grid | {"kinds": kinds}, None)


def readme(section: Section) -> str:
    """README's paragraph on the demo: mean P of each retriever, and the page's answers as they are there."""
    lead, base = section.lead, facts_of(section).zero_shot
    where = {name: lead[name] for name in ("ordering", "k", "references")}
    means = dict(section["utility"].filter(**where).select("retriever", "mean_p").iter_rows())
    p = {name: number(mean, 2) for name, mean in means.items()}
    said = " ".join(f"*{answer.question}* {answer.sentence}" for answer in answers(facts_of(section)))
    text = (
        f"In the demo, answers generated without passages have a mean P of {number(base.value if base else None, 2)} "
        f"(BERTScore F1 with the nearest relevant passage). With {lead['k']} passages, mean P is {p['bm25']} for BM25, "
        f"{p['dense']} for a dense retriever, {p['rel']} for relevant passages and {p['nrel']} for non-relevant "
        f"passages. The report first answers three questions. {said} The model, SmolLM2-135M-Instruct, is small, and "
        "the collection was written for the demo, so your study may come to different conclusions."
    )
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def pack(demo: Demo) -> None:
    """Write what the page of a finished demo is computed from, and which processor answered."""
    demo.measured.mkdir(parents=True, exist_ok=True)
    frames = {name: packed(demo, name) for name in demo.parts} | {
        "cost": pl.read_csv(demo.tables / f"described/answers/{demo.generator}/cost.csv")
    }
    for name, frame in frames.items():
        frame.write_parquet(demo.measured / f"{name}.parquet", compression="zstd", compression_level=19)
    if not demo.hashed:
        (demo.measured / "made_on.json").write_text(json.dumps(made_on(demo), indent=2) + "\n", encoding="utf-8")


def made_on(demo: Demo) -> dict[str, str]:
    """Return this machine's processor with its widest vectors, and the engine."""
    info = dict(re.findall(r"^(model name|flags)\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M))
    vectors = [name for name in ("avx2", "avx512f", "amx_tile") if name in info.get("flags", "").split()]
    receipt = demo.tables / f"generated/{demo.generator}/shard0.json"
    (engine,) = json.loads(receipt.read_text(encoding="utf-8"))["engines"]
    return {"processor": info.get("model name", "unknown"), "vectors": " ".join(vectors), "engine": engine}


def main() -> None:
    for demo, command in ((COPIES, "snakemake --cores 2"), (REAL, "make demo")):
        if not demo.page.is_file():
            print(f"What is taken from {demo.results.name} stays as it is: no finished study there ({command})")
            continue
        pack(demo)
        if demo is REAL:
            text, said = README.read_text(encoding="utf-8"), readme(demo_section(demo))
            README.write_text(PARAGRAPH.sub(lambda found: found[1] + said + found[2], text), encoding="utf-8")  # noqa: B023
            if shutil.which("chromium"):
                page_pictures.main(demo.page, "report")


if __name__ == "__main__":
    main()
