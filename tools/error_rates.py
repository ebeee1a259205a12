"""Write the tables of docs/error-rates.md from their records: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "error-rates.md"
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from benchmarks import cluster_errors, panel_errors, rho_errors  # noqa: E402
from benchmarks.shared import model_columns  # noqa: E402
from benchmarks.word_errors import PARTS, part_of, read, table  # noqa: E402
from tools.blocks import relabelled, replaced  # noqa: E402

VERDICTS = {
    "better, worse (truth 0)": "*better* or *worse* (true mean 0)",
    "better, worse (truth 0), without a remark": "*better* or *worse* without a remark (true mean 0)",
    "above the truth: more than the margin, not worse":
        "*better by more than the margin* (true mean +margin) or *not worse* (true mean −margin)",
    "below the truth: equivalent, less than the margin":
        "*equivalent* or *better, by less than the margin* (true mean +margin)",
    "equivalent, not better (truth: the margin)": "*equivalent* or *not better* (true mean +margin)",
    "equivalent, not better (truth: the margin), without a remark":
        "*equivalent* or *not better* without a remark (true mean +margin)",
    "better (true)": "correct verdict *better*",
    "better (true), without a remark": "correct verdict *better* without a remark",
    "no verdict, although Student's t alone has one": "no verdict, although Student's t alone would give one",
    "relay: it is": "*answers improve more*",
    "relay, as measured: above, below zero": "*above* or *below zero*, measured slope",
    "relay, adjusted: above, below zero": "*above* or *below zero*, adjusted slope",
}  # fmt: skip
"""How the page shows the verdicts in the records."""
COLUMNS = {
    "spread that differs by query": "normal, with a spread that differs between queries",
    "real, the most skewed fifth": "real, most skewed 20% of columns",
    "real, 40% zeros or more": "real, columns with at least 40% zeros",
    "60% zeros, the rest log-normal": "60% zeros, otherwise log-normal",
    "0.5 more on a tenth of the queries": "normal, with 0.5 added for one query in ten",
    "normal, mean of 0.1, standard deviation of 0.15": "normal with mean 0.1 and standard deviation 0.15",
    "language model": "language model, all columns",
    "language model, the most skewed fifth": "language model, most skewed 20% of columns",
    "language model, 40% zeros or more": "language model, columns with at least 40% zeros",
    **{
        f"−{steady} steady, a refusal (+{large}) on {share}%": f"+{large} for {share}% of queries (refused), "
        f"−{steady} for the others"
        for steady, large, share in (
            ("0.02", "0.38", 5),
            ("0.02", "0.18", 10),
            ("0.02", "0.98", 2),
            ("0.05", "0.95", 5),
        )
    },
}
RELAY = {
    **{
        f"P of another query: {source}, k = {k}": f"{source}, k = {k}; P and P₀ shuffled across queries"
        for source in ("demo", "pool", "language model")
        for k in (1, 2, 3, 5)
    },
    **{
        f"{name}, {count} retrievers": f"{count} retrievers; {label}"
        for name, label in {
            "spread that differs by query": "spread differs between queries",
            "one spread": "equal spread for all queries",
            "slope of 0.3": "true slope 0.3",
        }.items()
        for count in (2, 5, 10)
    },
    "5 retrievers that share most contexts": "5 retrievers; most contexts are the same",
    "10 retrievers that share most contexts": "10 retrievers; most contexts are the same",
    "two retrievers that share half of their contexts": "2 retrievers; same context for half the queries",
    "five retrievers that share contexts and lead by a constant elsewhere":
        "5 retrievers; same context for half the queries; elsewhere, each retriever beats the next by a constant",
    "slopes that differ by query (sd 0.29), measure's sd 0.16":
        "10 retrievers; slopes differ between queries (SD 0.29); the measure has SD 0.16",
    "slopes that differ by query (sd 0.43), measure's sd 0.35":
        "10 retrievers; slopes differ between queries (SD 0.43); the measure has SD 0.35",
}  # fmt: skip
FEW = {
    "40% and 70% zeros": "40% of utility values and 70% of the measure's are 0",
    "uncorrelated, dependent": "uncorrelated but dependent",
    "two values, spread unequal": "measure with two values; utility has unequal spread",
    "test": "significant test",
    "test and interval": "significant test, interval excludes 0",
    "verdict": "verdict",
}
PANELS = {
    "b better by .10": "b is better by .10",
    "b better by .20": "b is better by .20",
    "no relay, the worst judge's scores follow the measure by .3":
        "no relay, but the worst judge's scores rise with the measure (slope .3)",
    "relay of .2": "relay with slope .2", "*it is*": "*answers improve more*",
    **{
        f"no difference, {bias}": f"no difference, but {bias}"
        for bias in (
            "the worst judge favours b by .10",
            "the worst judge favours b by .20",
            "the best judge favours b by .20",
            "all judges favour b by .05",
        )
    },
}  # fmt: skip
"""How the page shows the simulated data in the records."""


def page(text: str) -> str:
    """Replace the tables in ``text``, docs/error-rates.md, from the records of verdicts, relay, clusters and panels."""
    rates = read(ROOT / "benchmarks" / "results" / "word_errors.json")
    for part in PARTS:
        made = table([one for one in rates if part_of(one) == part])
        shown = relabelled(made, VERDICTS | COLUMNS | RELAY)
        text = replaced(text, f"<!-- error rates of {part}, by tools/error_rates.py -->", shown)
    columns = "<!-- a language model's answers, by tools/error_rates.py -->"
    text = replaced(text, columns, model_columns.table())
    clustered = cluster_errors.table(ROOT / "benchmarks" / "results" / "cluster_errors.json")
    text = replaced(text, "<!-- error rates by cluster, by tools/error_rates.py -->", clustered)
    panels = panel_errors.table(ROOT / "benchmarks" / "results" / "panel_errors.json")
    text = replaced(text, "<!-- error rates of panels, by tools/error_rates.py -->", relabelled(panels, PANELS))
    few = rho_errors.table(ROOT / "benchmarks" / "results" / "rho_errors.json")
    return replaced(text, "<!-- error rates of rho, by tools/error_rates.py -->", relabelled(few, FEW))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
