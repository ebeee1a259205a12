"""Corrections for many tests, within families that the tables name."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import false_discovery_control

Array = npt.NDArray[np.float64]

ALPHA = 0.05


def holm(p_values: Array) -> Array:
    """p-values (n,) adjusted by Holm's step-down method (1979), as statsmodels' ``multipletests`` adjusts them.

    That function collects garbage on every call, a tenth of a second each in a process as large as an analysis.
    """
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(p_values: Array) -> Array:
    """p-values (n,) adjusted by Benjamini and Hochberg's step-up method (1995), by scipy."""
    adjusted: Array = false_discovery_control(p_values, method="bh")
    return adjusted


METHODS = {"holm": holm, "bh": benjamini_hochberg}


def with_adjusted(tests: pl.DataFrame, family: Sequence[str], p_values: Mapping[str, str]) -> pl.DataFrame:
    """Add family, family_size, and for each of ``p_values`` (column: prefix) prefix_holm and prefix_bh.

    A family is the tests that agree in the columns ``family``; its size counts those with the first of the p-values.
    Holm (1979) bounds the chance of any false finding in the family, Benjamini and Hochberg (1995) the expected share
    of false ones. Null where there is no test.
    """
    tests = tests.with_columns(family=pl.concat_str(*family, separator=" "))
    families = tests["family"].to_numpy()
    added = {
        f"{prefix}_{name}": np.full(tests.height, np.nan) for prefix in p_values.values() for name in METHODS
    }  # fmt: skip
    sizes = np.zeros(tests.height, dtype=np.int64)
    for column, prefix in p_values.items():
        values = tests[column].cast(pl.Float64).to_numpy()
        for one in tests["family"].unique():
            tested = (families == one) & np.isfinite(values)
            if column == next(iter(p_values)):
                sizes[families == one] = tested.sum()
            for name, method in METHODS.items() if tested.any() else ():
                added[f"{prefix}_{name}"][tested] = method(values[tested])
    return tests.with_columns(
        *(pl.Series(name, values).fill_nan(None) for name, values in added.items()), pl.Series("family_size", sizes)
    )
