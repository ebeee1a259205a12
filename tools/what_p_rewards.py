"""Write into docs/what-p-rewards.md which kinds of answers a real model gives, and what they score.

From resources/demo/measured_real alone: python -m tools.what_p_rewards
"""

import json
import re
from pathlib import Path

import polars as pl
from ragrelay.collection.local import LocalCollection
from ragrelay.scoring.near_copies import grams

from tools.blocks import replaced
from tools.demo_page import REAL

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "what-p-rewards.md"
MARK = "<!-- kinds of answers, by tools/what_p_rewards.py -->"
COPIED = 0.5
"""Share of an answer's 5-grams that its passages contain."""
KINDS = {
    "announces an answer and stops": r"(?i)^(the )?answer( to (this|the|your) question)?( is)?:?\W*$",
    "repeats itself": r"(?s)(.{12,}?)(\W*\1){3,}",
    "says that the passages do not tell": (
        r"(?i)\b(passages?|text|context)\b[^.]*\b(do|does|did|is)(n't| not)\b[^.]*"
        r"\b(provide|mention|contain|state|specify|say|explain|enough|clear)"
    ),
    "speaks about the passages": r"(?i)\b(passages?|the text|the author)\b",
}
"""Patterns of kinds; an answer is of the first that fits, else copied or free."""


def answers() -> pl.DataFrame:
    """Return every answer with context: its kind, P (lenient), and P with the references that it was not shown."""
    frames = {name: pl.read_parquet(REAL.measured / f"{name}.parquet") for name in ("answers", "scores", "contexts")}
    collection = LocalCollection(ROOT / "resources/demo/collection")
    texts = {passage["docno"]: passage["text"] for passage in collection.passages()}
    shown = {
        (row["retriever"], row["k"], row["qid"]): frozenset().union(*(grams(texts[docno]) for docno in row["docnos"]))
        for row in frames["contexts"].iter_rows(named=True)
        if row["docnos"]
    }
    cell = ["retriever", "ordering", "k", "qid"]
    scores = frames["scores"].select(*cell, "references", "f1").pivot("references", index=cell, values="f1")
    rows = frames["answers"].join(scores, on=cell, how="left", maintain_order="left")

    def kind(row: dict[str, object]) -> str:
        text = str(row["answer"])
        for name, pattern in KINDS.items():
            if re.search(pattern, text):
                return name
        own = grams(text)
        seen = shown.get((row["retriever"], row["k"], row["qid"]), frozenset())  # type: ignore[arg-type]
        return "copies from the passages" if own and len(own & seen) >= COPIED * len(own) else "uses its own words"

    kinds = pl.Series("kind", [kind(row) for row in rows.iter_rows(named=True)], dtype=pl.String)
    return rows.with_columns(kinds)


def table(rows: pl.DataFrame) -> str:
    """Return the table: per kind the number of answers, tokens, P, and P with unseen references."""
    order = ["uses its own words", "copies from the passages", *reversed(KINDS)]
    lines = [
        "| an answer that … | answers | mean tokens | mean P | mean P, unseen references |",
        "|---|---|---|---|---|",
    ]
    given = rows.filter(pl.col("k") > 0)
    whole = [("is generated with passages (all)", given), ("is generated without passages (all)", rows.filter(k=0))]
    for name, some in [*((name, given.filter(kind=name)) for name in order), *whole]:
        if some.height:
            unseen = some["lenient-unseen"].mean() if "lenient-unseen" in some.columns and some["k"].max() else None
            last = "" if unseen is None else f"{unseen:.2f}"
            tokens, p = some["answer_tokens"].mean(), some["lenient"].mean()
            lines.append(f"| {name} | {some.height} | {tokens:.0f} | {p:.2f} | {last} |")
    return "\n".join(lines)


def text() -> str:
    """Return what stands between the marks."""
    rows, made = answers(), json.loads((REAL.measured / "made_on.json").read_text(encoding="utf-8"))
    given = rows.filter(pl.col("k") > 0)
    cut = (given["finish_reason"] == "length").mean()
    length = given.select(pl.corr("answer_tokens", "lenient", method="spearman")).item()
    return (
        f"{table(rows)}\n\n{cut:.0%} of the answers with passages were cut off at `max_tokens`. Spearman's ρ between "
        f"an answer's length and its P is {length:.2f}. The answers were generated with {made['engine']} "
        f"({made['processor']}; {made['vectors']})."
    )


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), MARK, text()), encoding="utf-8")
