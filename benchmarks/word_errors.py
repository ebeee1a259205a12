"""Error rates of the words of a mean difference (docs/error-rates.md): how often each is said where it is false.

    python benchmarks/word_errors.py --out benchmarks/results/word_errors.json --studies results/demo/demo
    python benchmarks/word_errors.py --out benchmarks/results/word_errors.json --only remarks model

Differences of n queries are drawn whose true mean is 0, or ± the margin; a word is false where its interval leaves out
the truth on that side. *Real* columns are those of finished studies (``--studies``, folders of a dataset's results;
differences of P of two retrievers, and of P and P₀), drawn with replacement around the truth, zeros kept. What is
recorded without a gate is known to fail: no test of a mean holds its level there with few queries.

Steady differences that few large ones make up for, as refused answers do, are where words are most often false: there
and for a true difference it is counted, too, how often a word is said that stands with one more query
(``ragrelay.analysis.standing``), so that the page has no remark beside it.

Columns of a real language model (benchmarks/shared/model_columns.py) are drawn from in the same way, beside these.

*Relay: it is* is said of cells without relay: real ones in which every query has the answers of another one, and
simulated ones; and of cells with a known slope, which it has to find (``benchmarks/shared/relay_cells.py``). In
simulated cells without relay, each row of relay.csv is counted too, as measured and adjusted, if its slope is above or
below zero. Rows of real cells that ``--studies`` lack stay as they are in the file.

Rates are shares of ``--draws`` data sets (of relay ``--relay-draws``), each with its standard error. A false word's
rate less two of these must be at most its gate, a true word's rate and two of these at least. With ``--only``, the rows
of the other parts stay as they are in the file.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.relay import Cell, all_pairs, pair_sums, slope
from ragrelay.analysis.standing import stands
from ragrelay.analysis.verdicts import (
    ABOVE,
    BELOW,
    DIFFERENT_AT_LEAST,
    EQUIVALENT,
    NOT_BETTER,
    QUERIES_AT_LEAST,
    SAY_BETTER,
    SAY_WORSE,
    UNDECIDED,
    WORDS_AT_LEAST,
    of_difference,
)
from ragrelay.base.vocabulary.names import UNSEEN
from scipy import stats

from benchmarks.shared import model_columns, relay_cells
from benchmarks.shared.model_columns import MODEL

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, int], Array]
SIZES = (8, 12, 20, 36, 54, 100, 500)
REMARK_SIZES = (12, 20, 36, 43, 54, 100, 500)
DRAWN = ("words", "remarks", "relay", "model")
PARTS = ("words", "remarks", "relay", "slopes", "model")
"""Tables of the page; *slopes* are drawn with *relay*."""
BATCH = 1000
CELL = ["ordering", "k", "references"]
RELAYED = "relay: it is"
REASON = "no word, and the reason that Student's t alone has one"
SLOPES = ("relay, as measured: above, below zero", "relay, adjusted: above, below zero")
RELAY_SIZES = (12, 20, 36, 54, 100)
FALSE_AT_MOST, RELAY_AT_MOST, SLOPE_AT_MOST, FOUND_AT_LEAST = 0.05, 0.035, 0.06, 0.7
UNREMARKED_AT_MOST = 0.02
ZEROS_AT_MOST = 0.06
"""Of the language model's 17 columns with many zeros, each of 14 to 25 other values, which are drawn over and over."""
REFUSALS = {(-0.02, 0.05): True, (-0.02, 0.1): True, (-0.02, 0.02): False, (-0.05, 0.05): False}
"""A steady difference and the share of queries whose large one makes the mean 0; whether words without a remark hold.

They do not where a single refused answer makes up for many times the query that a word has to stand with.
"""
EFFECT, MARGIN, NOISE = (0.1, 0.15), 0.02, 0.01
"""Mean and standard deviation of a true difference; of P, as are the margin and the noise of a steady difference."""
LEVEL = 0.95
FOUND_AT = ("slope of 0.3, 5 retrievers", 36)
"""What FOUND_AT_LEAST is promised of: the data and number of queries."""
COLUMNS = ("word", "data", "n", "draws", "share", "standard_error", "gate")


def columns_of(studies: Sequence[Path]) -> list[Array]:
    """Differences of P over queries: of every two retrievers in a cell, and of P and P₀."""
    found = []
    for study in studies:
        for path in sorted((study / "utility").rglob("*.parquet")):
            utility = pl.read_parquet(path).filter(pl.col("k") > 0, ~pl.col("references").str.ends_with(UNSEEN))
            for _, cell in utility.sort("qid").group_by(CELL, maintain_order=True):
                wide = cell.pivot(on="retriever", index="qid", values="p").drop("qid").to_numpy()
                places = itertools.combinations(range(wide.shape[1]), 2)
                pairs = [wide[:, one] - wide[:, other] for one, other in places]
                gains = [part["p"].to_numpy() - part["p0"].to_numpy() for _, part in cell.group_by("retriever")]
                found += [one[np.isfinite(one)] for one in (*pairs, *gains)]
    rounded = [np.where(np.abs(one) < 1e-9, 0.0, one) for one in found]
    return [one for one in rounded if len(one) > WORDS_AT_LEAST and np.ptp(one) > 0]


def nulls(real: Sequence[Array]) -> dict[str, Draw]:
    """Kinds of differences (n, draws) of mean 0 and sd near 1, for which the words must hold."""
    kinds: dict[str, Draw] = {
        "normal": lambda random, draws, n: random.standard_normal((n, draws)),
        "spread that differs by query": lambda random, draws, n: (
            random.standard_normal((n, draws)) * random.choice([0.2, 1.0, 3.0], (n, draws))
        ),
        "exponential": lambda random, draws, n: random.exponential(size=(n, draws)) - 1.0,
    }
    if real:
        skewed = sorted(real, key=lambda one: -abs(float(stats.skew(one))))[: max(1, len(real) // 5)]
        zeros = [one for one in real if np.mean(one == 0) >= 0.4]
        kinds |= {"real": _resampled(real), "real, the most skewed fifth": _resampled(skewed)}
        kinds |= {"real, 40% zeros or more": _resampled(zeros)} if zeros else {}
    return kinds


def limits() -> dict[str, Draw]:
    """Kinds that are known to fail with few queries."""

    def zeros(random: np.random.Generator, draws: int, n: int) -> Array:
        drawn = np.exp(random.standard_normal((n, draws)))
        return np.where(random.random((n, draws)) < 0.6, 0.0, drawn) - 0.4 * np.exp(0.5)

    def rare(random: np.random.Generator, draws: int, n: int) -> Array:
        return 0.1 * random.standard_normal((n, draws)) + 0.5 * (random.random((n, draws)) < 0.1) - 0.05

    return {
        "log-normal": lambda random, draws, n: np.exp(random.standard_normal((n, draws))) - np.exp(0.5),
        "60% zeros, the rest log-normal": zeros,
        "0.5 more on a tenth of the queries": rare,
    }


def _resampled(columns: Sequence[Array]) -> Draw:
    """A column's values less their mean; what was 0 stays apart from the rest, as minus the mean."""

    def draw(random: np.random.Generator, draws: int, n: int) -> Array:
        chosen = [columns[at] for at in random.integers(0, len(columns), draws)]
        return np.column_stack([(random.choice(one, n) - one.mean()) / one.std() for one in chosen])

    return draw


def false_words(differences: Array) -> dict[str, Array]:
    """Whether each kind of word is said (draws,) of ``differences`` (n, draws) less their true mean.

    A word says that the mean is above or below the value it is read against (0 or a margin), which is the truth here.
    Words need as many queries, and as many that are not alike, as in a study; with fewer queries the interval counts.
    """
    n, said = len(differences), np.ptp(differences, axis=0) > 0
    if n >= WORDS_AT_LEAST:
        said &= n - stats.mode(np.round(differences, 9), axis=0).count >= DIFFERENT_AT_LEAST
    low, high = Means.cautious(np.where(said, differences, np.arange(n)[:, None])).interval(0.95)
    return {
        "better, worse (truth 0)": said & ((low > 0) | (high < 0)),
        "above the truth: more than the margin, not worse": said & (low > 0),
        "below the truth: equivalent, less than the margin": said & (high < 0),
    }


def records(real: Sequence[Array], draws: int, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Rates of ``false_words``, a row of COLUMNS per word, kind of data and number of queries."""
    for gated, kinds in ((True, nulls(real)), (False, limits())):
        for (kind, draw), n in itertools.product(kinds.items(), sizes):
            random, found = np.random.default_rng([n, len(kind)]), []
            for start in range(0, draws, BATCH):
                found.append(false_words(draw(random, min(BATCH, draws - start), n)))
            for word in found[0]:
                gate = f"<= {FALSE_AT_MOST}" if gated else ""
                yield rate(word, kind, n, np.concatenate([one[word] for one in found]), gate)


def refusals() -> dict[str, tuple[Draw, bool]]:
    """Kinds of differences of P (n, draws) of mean 0, few of them large; and whether words without a remark hold."""

    def kind(steady: float, share: float) -> tuple[str, Draw]:
        large = -steady * (1 - share) / share

        def draw(random: np.random.Generator, draws: int, n: int) -> Array:
            rare = random.random((n, draws)) < share
            return np.where(rare, large, steady) + NOISE * random.standard_normal((n, draws))

        return f"−{-steady:.2f} steady, a refusal (+{large:.2f}) on {share:.0%}", draw

    return {name: (draw, holds) for one, holds in REFUSALS.items() for name, draw in [kind(*one)]}


def said_and_stands(differences: Array, words: Sequence[str], margin: float | None = None) -> tuple[Array, Array]:
    """Whether a column of ``differences`` (n, draws) has one of ``words``, and whether that stands: (draws,) each."""
    found = []
    for column, low, high in zip(differences.T, *Means.cautious(differences).interval(), strict=True):
        word = of_difference(column, low, high, margin)
        found.append((word in words, word in words and stands(column, word, margin=margin) is True))
    said, standing = np.array(found).T
    return said, standing


def remark_records(draws: int, sizes: Sequence[int] = REMARK_SIZES) -> Iterator[dict[str, Any]]:
    """Rates of words and of those without a remark, in the rows of ``records``: of ``refusals``, and of EFFECT."""
    either, inside = (*SAY_BETTER, *SAY_WORSE), (EQUIVALENT, NOT_BETTER)
    planted = f"normal, mean of {EFFECT[0]}, standard deviation of {EFFECT[1]}"
    cases = [
        (word, kind, draw, words, shift, f"<= {UNREMARKED_AT_MOST}" if gated else "")
        for kind, (draw, gated) in refusals().items()
        for word, words, shift in (("better, worse (truth 0)", either, 0.0),
                                   ("equivalent, not better (truth: the margin)", inside, MARGIN))
    ]  # fmt: skip
    cases.append(
        ("better (true)", planted, lambda random, draws, n: random.normal(*EFFECT, (n, draws)), SAY_BETTER, 0.0, "")
    )
    for (word, kind, draw, words, shift, gate), n in itertools.product(cases, sizes):
        differences = draw(np.random.default_rng([n, len(kind)]), draws, n) + shift
        said, standing = said_and_stands(differences, words, MARGIN)
        yield rate(word, kind, n, said, "")
        yield rate(f"{word}, without a remark", kind, n, standing, gate)
    # The mean is 0: how often Student's t, named in ``ragrelay.analysis.remarks``, would say a word that is not said.
    for (kind, draw), n in itertools.product((nulls([]) | limits()).items(), sizes):
        differences = draw(np.random.default_rng([n, len(kind)]), draws, n)
        said = false_words(differences)["better, worse (truth 0)"]
        student = stats.ttest_1samp(differences, 0.0).pvalue < 1 - LEVEL
        yield rate(REASON, kind, n, student & ~said, "")


def part_of(one: Mapping[str, Any]) -> str:
    """The part of PARTS that a row belongs to."""
    if MODEL in one["data"]:
        return "model"
    of_remarks = one["data"] in refusals() or one["word"].startswith(("better (true)", REASON))
    if one["word"] in SLOPES:
        return "slopes"
    return "relay" if one["word"] == RELAYED else "remarks" if of_remarks else "words"


def model_records(draws: int, relay_draws: int, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Rates of ``false_words`` of a language model's columns, and of *it is* with its answers of other queries."""
    with model_columns.as_study() as study:
        columns, cells = columns_of([study]), relay_cells.real_cells([study])
    kinds = {name.replace("real", MODEL): draw for name, draw in nulls(columns).items() if name.startswith("real")}
    for (kind, draw), n in itertools.product(kinds.items(), sorted({*sizes, 43})):
        random, found = np.random.default_rng([n, len(kind)]), []
        for start in range(0, draws, BATCH):
            found.append(false_words(draw(random, min(BATCH, draws - start), n)))
        most = FALSE_AT_MOST if "zeros" not in kind else ZEROS_AT_MOST
        for word in found[0]:
            yield rate(word, kind, n, np.concatenate([one[word] for one in found]), f"<= {most}")
    for kind, (draw, n) in relay_cells.permuted(cells).items():
        random = np.random.default_rng([n, len(kind)])
        said = np.array([relayed(draw(random, n)) for _ in range(relay_draws)])
        yield rate(RELAYED, kind, n, said, f"<= {RELAY_AT_MOST}")


def slope_words(cell: Cell) -> tuple[str, str]:
    """The verdicts on the slope over all rankings of ``cell``, as measured and adjusted."""
    words = []
    for adjusted in (False, True):
        sums = all_pairs(dict(pair_sums(cell, adjusted)).values())
        xp = sums.of_units[1]
        # Most have no slope that the test finds, which is quicker to see than the interval of which it is read off.
        none = len(xp) < QUERIES_AT_LEAST or Means.cautious(xp[:, None]).p_value()[0] > 2 * FALSE_AT_MOST
        words.append(UNDECIDED if none else str(slope(sums)["verdict"]))
    return words[0], words[1]


def relayed(cell: Cell) -> bool:
    """Whether all rankings of ``cell`` have the answer *it is*."""
    return slope_words(cell) == (ABOVE, ABOVE)


def relay_records(
    real: Mapping[str, Sequence[Cell]], draws: int, sizes: Sequence[int] = RELAY_SIZES
) -> Iterator[dict[str, Any]]:
    """Rates of *it is* and, without relay, of SLOPES, in the rows of ``records``; real cells keep their queries."""
    gate, few = f"<= {RELAY_AT_MOST}", draws // 4
    kinds = [(kind, draw, n, draws, gate) for kind, (draw, n) in relay_cells.permuted(real).items()]
    kinds += [(kind, draw, n, draws, gate) for kind, draw in relay_cells.nulls().items() for n in sizes]
    # Rates that are not near their bound need fewer.
    kinds += [(kind, draw, n, few, f">= {FOUND_AT_LEAST}" if (kind, n) == FOUND_AT else "")
              for kind, draw in (relay_cells.planted() | relay_cells.limits()).items() for n in sizes]  # fmt: skip
    for kind, draw, n, count, gate in kinds:
        random = np.random.default_rng([n, len(kind)])
        words = np.array([slope_words(draw(random, n)) for _ in range(count)])
        yield rate(RELAYED, kind, n, (words == ABOVE).all(axis=1), gate)
        if kind in relay_cells.nulls():
            for word, said in zip(SLOPES, np.isin(words, (ABOVE, BELOW)).T, strict=True):
                yield rate(word, kind, n, said, f"<= {SLOPE_AT_MOST}")


def rate(word: str, kind: str, n: int, said: Array, gate: str) -> dict[str, Any]:
    share = float(said.mean())
    error = float(np.sqrt(share * (1 - share) / len(said)))
    return dict(zip(COLUMNS, (word, kind, n, len(said), share, round(error, 6), gate), strict=True))


def holds(one: Mapping[str, Any]) -> bool:
    """Whether the gate of a row, if it has one, holds after two standard errors."""
    sign, _, bound = one["gate"].partition(" ")
    margin = 2 * one["standard_error"]
    return not sign or (
        one["share"] - margin <= float(bound) if sign == "<=" else one["share"] + margin >= float(bound)
    )


def table(made: Sequence[Mapping[str, Any]]) -> str:
    """Markdown of rows: one per word and kind of data, a column per number of queries; gated shares are marked."""
    sizes = sorted({one["n"] for one in made})
    lines = [["verdict", "data", *(f"n = {n}" for n in sizes)], ["---"] * (len(sizes) + 2)]
    for word, kind in dict.fromkeys((one["word"], one["data"]) for one in made):
        row = {one["n"]: one for one in made if (one["word"], one["data"]) == (word, kind)}
        known = "" if any(one["gate"] for one in row.values()) else " (no gate)"
        shares = (f"{100 * row[n]['share']:.1f}" if n in row else "–" for n in sizes)
        shown = "no verdict, although Student's t alone has one" if word == REASON else word
        lines.append([shown, kind + known, *shares])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a record."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in json.loads(path.read_text(encoding="utf-8"))["rates"]]


def write(path: Path, made: Sequence[Mapping[str, Any]], columns: int | None) -> None:
    """A record of rows, one a line, and of what made it; with no number of real ``columns``, the file's stays."""
    if columns is None:
        columns = json.loads(path.read_text(encoding="utf-8"))["real columns"]
    head = {
        "page": "docs/error-rates.md",
        "command": "python benchmarks/word_errors.py --studies results/demo/demo",
        "versions": {name: version(name) for name in ("numpy", "scipy")},
        "real columns": columns,
        "columns": COLUMNS,
    }
    rows = ",\n  ".join(json.dumps([one[name] for name in COLUMNS], ensure_ascii=False) for one in made)
    text = json.dumps({**head, "rates": []}, indent=1)
    path.write_text(text.replace('"rates": []', f'"rates": [\n  {rows}\n ]') + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--studies", type=Path, nargs="*", default=[Path("results/demo/demo")])
    parser.add_argument("--draws", type=int, default=8000)
    parser.add_argument("--relay-draws", type=int, default=4000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--only", nargs="*", default=DRAWN, choices=DRAWN, help="parts to draw anew")
    arguments = parser.parse_args()
    real = columns_of(arguments.studies) if "words" in arguments.only else []
    sizes = [n for n in arguments.sizes if n >= QUERIES_AT_LEAST]
    drawn: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "words": lambda: records(real, arguments.draws, sizes),
        "remarks": lambda: remark_records(arguments.draws),
        "relay": lambda: relay_records(relay_cells.real_cells(arguments.studies), arguments.relay_draws),
        "model": lambda: model_records(arguments.draws, arguments.relay_draws, sizes),
    }
    kept = read(arguments.out) if arguments.out.exists() else []
    only = {*arguments.only, *(("slopes",) if "relay" in arguments.only else ())}
    fresh = [one for part in arguments.only for one in drawn[part]()]
    of_real = {one["data"] for one in kept if one["data"].startswith("P of another query")}
    stays = of_real - {one["data"] for one in fresh}
    made = [one for one in kept if part_of(one) not in only or (part_of(one) == "relay" and one["data"] in stays)]
    parts = {part: [one for one in (*made, *fresh) if part_of(one) == part] for part in PARTS}
    made = [one for rows in parts.values() for one in rows]
    write(arguments.out, made, len(real) if "words" in arguments.only else None)
    print(*map(table, parts.values()), sep="\n\n")
    if broken := [one for one in made if not holds(one)]:
        sys.exit("broken gates:\n" + "\n".join(str(one) for one in broken))


if __name__ == "__main__":
    main()
