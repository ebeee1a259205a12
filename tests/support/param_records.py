"""What Snakemake compares of the params of jobs: read inside a run of Snakemake."""

from typing import Any

PLAIN = (str, int, float, bool, type(None))


def leaves(value: Any) -> list[Any]:
    """The values inside lists, tuples and dictionaries."""
    if isinstance(value, dict):
        return [leaf for inside in value.values() for leaf in leaves(inside)]
    return [leaf for inside in value for leaf in leaves(inside)] if isinstance(value, list | tuple) else [value]


def changes(value: Any) -> list[Any]:
    """``value`` with one leaf changed, for each of its leaves."""
    if isinstance(value, dict):
        return [{**value, key: other} for key, inside in value.items() for other in changes(inside)]
    if isinstance(value, list | tuple):
        return [
            type(value)([*value[:place], other, *value[place + 1 :]])
            for place, inside in enumerate(value)
            for other in changes(inside)
        ]
    return ["changed" if value is None else value + "x" if isinstance(value, str) else value + 7]


def records(persistence: Any, job: Any) -> dict[str, Any]:
    """Return what of a job's params is not plain, what changes Snakemake does not see, and the whole numbers."""
    own = {name: value for name, value in job.params.items() if any(value is one for one in job.non_derived_params)}
    before = set(persistence._params(job))
    return {
        "job": f"{job.rule.name} {dict(job.wildcards.items())}",
        "params": len(own),
        "odd": [
            f"{name}: {type(leaf).__name__}"
            for name, value in own.items()
            for leaf in leaves(value)
            if not isinstance(leaf, PLAIN)
        ],
        "missed": [
            name
            for name, value in own.items()
            for other in changes(value)
            if persistence._serialize_param(other) in before or persistence._serialize_param(value) not in before
        ],
        "numbers": [name for name, value in own.items() if type(value) is int],
    }
