"""Draw the cost of generating the answers: tokens by retriever and k, and device seconds by retriever."""

import altair as alt
import polars as pl

from ragrelay.analysis.cost import ALL
from ragrelay.report.display import charts
from ragrelay.report.display.charts import Spec, Theme
from ragrelay.report.display.numbers import number
from ragrelay.report.display.sections import Section

TOKENS = {"computed": "prompt, computed", "cached_tokens": "prompt, from the cache", "answer_tokens": "answer"}


def total(section: Section) -> dict[str, object] | None:
    """Return the cost table's row for all answers, or None if the answers are imported."""
    if section["cost"].is_empty():
        return None
    return section["cost"].row(by_predicate=pl.col("retriever") == ALL, named=True)


def tokens_by_k(section: Section, theme: Theme) -> Spec:
    """Draw the tokens at each k as stacked bars, with a panel per retriever. Panel titles give the device time."""
    grid = section.grid
    whole = section["cost"].filter(pl.col("k").is_null())
    seconds = dict(whole.select("retriever", "device_seconds").iter_rows())
    panels = {
        retriever: f"{retriever} · {number(seconds.get(retriever), 0)} device-seconds" for retriever in grid.retrievers
    }
    cells = (
        section["cost"]
        .filter(pl.col("retriever").is_in(grid.retrievers), pl.col("k").is_not_null())
        .with_columns((pl.col("prompt_tokens") - pl.col("cached_tokens")).alias("computed"))
        .unpivot(list(TOKENS), index=["retriever", "k", "answers"], variable_name="kind", value_name="tokens")
        .with_columns(
            pl.col("retriever").replace_strict(panels).alias("panel"),
            pl.col("kind").replace_strict(list(TOKENS), list(range(len(TOKENS))), return_dtype=pl.Int64).alias("order"),
            pl.col("kind").replace_strict(TOKENS),
        )
        .select("panel", "retriever", "k", "kind", "order", "tokens", "answers")
        .drop_nulls("tokens")
    )
    tooltip = [alt.Tooltip("retriever:N"), alt.Tooltip("k:O"), alt.Tooltip("kind:N", title="tokens"),
               alt.Tooltip("tokens:Q", title="count", format=","), alt.Tooltip("answers:Q", format=",")]  # fmt: skip
    y = alt.Y("tokens:Q", title="tokens", axis=alt.Axis(format="~s", grid=True))
    bars = charts.stacked_bars(y, "kind", list(TOKENS.values()), "tokens", section.looks, tooltip, theme)
    return charts.facetted(
        [bars],
        charts.rows(cells),
        charts.Panels(list(panels.values()), charts.columns_for(len(grid.retrievers)), width=210, height=150),
        f"Tokens in prompts and answers by retriever and k; {section.title}",
        theme,
    )
