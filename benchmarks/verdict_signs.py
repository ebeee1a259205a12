"""Whether every verdict and sentence of a finished study has the sign of the paired mean gain of its own cell.

    python -m benchmarks.verdict_signs results/demo --out verdict_signs.json

Mean gains are computed anew from the utility tables (P_k - P_0 over the queries that have both). Checked are the
verdicts of gain.csv, the words better and worse of the page's sentences with the numbers that they name, and the cells
that the page counts. Ends with status 1 where one has another sign.
"""

import argparse
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from ragrelay.analysis.multiplicity import distinct
from ragrelay.analysis.verdicts import TOO_FEW

CELL = ["retriever", "ordering", "k", "references"]
ROUNDING = 1e-9
ALL_TOO_FEW = re.compile(
    r"All (\d+) cells have too few queries to say whether answers are better with context than without"
)
IN_COUNTS = (
    r"Answers are better with context than without in none of the \1 cells, worse in 0 and undecided in 0; "
    r"\1 have too few queries"
)
SIGNS = {"better": 1, "worse": -1}
PLACE = re.compile(r"sentences refer to k = (\d+), (\S+) order, (.+?) references")
COUNTS = re.compile(
    r"are better with context than without in (?:(\d+) of|(all)|none of the) (\d+) cells?"
    r"(?:, worse in (\d+) and undecided in (\d+)(?:; (\d+) ha(?:s|ve) too few queries)?)? \((.+?) references"
)


def gains(study: Path) -> pl.DataFrame:
    """A row per dataset, generator, scorer and cell: the verdict of gain.csv, and the mean gain (``gain``)."""
    frames = []
    for path in sorted(study.glob("*/analysis/*/*/gain.csv")):
        scorer, generator = path.parts[-3:-1]
        utility = pl.read_parquet(study / path.parts[-5] / "utility" / scorer / f"{generator}.parquet")
        means = utility.drop_nulls(["p", "p0"]).group_by(CELL).agg(gain=(pl.col("p") - pl.col("p0")).mean())
        table = pl.read_csv(path, infer_schema_length=None)
        frames.append(table.join(means, on=CELL, how="left", maintain_order="left"))
    return pl.concat(frames, how="diagonal_relaxed")


def sentences(study: Path) -> Iterator[tuple[str, str]]:
    """(the section's title, text) of every list item and paragraph of the page, without markup."""
    page = (study / "report" / "index.html").read_text(encoding="utf-8")
    title = ""
    for section, _, inside in re.findall(
        r'<section id="s\d+"[^>]*aria-label="([^"]*)"|<(li|p)\b[^>]*>(.*?)</\2>', page, re.DOTALL
    ):
        title = html.unescape(section) or title
        if inside:
            yield title, html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", inside))).strip()


def wrong_words(cells: pl.DataFrame, study: Path) -> tuple[int, list[str]]:
    """How many words of the page were checked, and what is wrong of them."""
    checked, wrong, place = 0, [], None
    for title, text in sentences(study):
        place = PLACE.search(text) or place
        text = ALL_TOO_FEW.sub(IN_COUNTS, text)
        if found := COUNTS.search(text):
            part = _part(cells, text.split(": ")[0] if " · " in text.split(": ")[0] else title)
            rows = part.filter(references=found[7]).drop_nulls("p_verdict")
            own = distinct(rows, ["retriever", "ordering"])
            better, worse = (
                own.filter(pl.col("gain").sign() == sign, verdict=word).height for word, sign in SIGNS.items()
            )
            few = own.filter(verdict=TOO_FEW).height
            counted = (better, own.height, worse, own.height - better - worse - few, few)
            checked += 1
            some, every, total, *others = found.groups()[:6]
            if tuple(int(number or 0) for number in (some or (every and total), total, *others)) != counted:
                wrong.append(f"{text}: {better} better, {worse} worse of {own.height}")
        if text.startswith("Mean gain over") and place is not None:
            part = _part(cells, title).filter(k=int(place[1]), ordering=place[2], references=place[3])
            gains = {row["retriever"]: row["gain"] for row in part.iter_rows(named=True)}
            for word, name, minus in _named(text, gains):
                checked += 1
                signs = {gains[name] > 0, minus != "−", *({SIGNS[word] > 0} if word in SIGNS else ())}
                if len(signs) > 1:
                    wrong.append(f"{title}, {name}: {word}, of a mean gain of {gains[name]:.3f}")
    return checked, wrong


def _part(cells: pl.DataFrame, title: str) -> pl.DataFrame:
    """The rows of a title ``dataset · generator · scorer``."""
    return cells.filter(pl.concat_str("dataset", "generator", "scorer", separator=" · ") == title)


def _named(text: str, names: dict[str, float]) -> Iterator[tuple[str, str, str]]:
    """(word, retriever, sign of its number) of a sentence that lists retrievers by verdict."""
    for clause in text.split("; "):
        word = next((word for word in (*SIGNS, "undecided") if word in clause), "")
        for name in names:
            if found := re.search(rf"(?<!\w){re.escape(name)} \((−?)[\d.]", clause):
                yield word, name, found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", type=Path, nargs="+", help="folders of finished studies")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    arguments = parser.parse_args()
    records = []
    for study in arguments.studies:
        cells = gains(study)
        decided = cells.filter(pl.col("verdict").is_in(list(SIGNS)))
        sign = pl.col("verdict").replace_strict(SIGNS, return_dtype=pl.Float64)
        other = decided.filter(pl.col("gain").sign() != sign).select(*CELL, "verdict", "gain")
        words, wrong = wrong_words(cells, study)
        wrong += [f"{', '.join(map(str, row))}: of another sign" for row in other.rows()]
        odd = cells.filter((pl.col("mean_difference") - pl.col("gain")).abs() > ROUNDING).height
        record = {"study": study.name, "cells": cells.height, "verdicts": decided.height, "words": words}
        records.append(record | {"other_mean": odd, "wrong": wrong})
        print(
            f"{study.name}: {cells.height} cells, {decided.height} better or worse, {words} words of the page checked; "
            f"{len(wrong)} of another sign, {odd} with another mean than the tables"
        )
        print("".join(f"{line}\n" for line in wrong), end="")
    arguments.out.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(any(record["wrong"] or record["other_mean"] or not record["words"] for record in records))


if __name__ == "__main__":
    main()
