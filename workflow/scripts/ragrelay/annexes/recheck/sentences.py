"""Write the page's sentences about whether the models still generate the stored answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.generation.generator import ENDPOINT, SERVED, SYSTEM
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import count, counted, listing, number, share, with_interval

Record = Mapping[str, Any]
Row = Mapping[str, Any]


def recheck_answer(record: Record) -> Conclusion:
    """State how many of the regenerated answers are identical to the stored answers."""
    heading = "Recheck", "Is it still the same model?"
    parts = record["parts"]
    n, equal, stored = (sum(part[name] for part in parts) for name in ("n", "n_equal", "n_stored"))
    if not n:
        return Conclusion(*heading, "Answers from files cannot be regenerated")
    many = f"All {count(n)}" if equal == n else f"{count(equal)} of {count(n)}"
    return Conclusion(*heading, f"{many} regenerated answers{_drawn(n, stored)} are bit-identical to the stored ones")


def recheck_sentences(record: Record) -> list[str]:
    """Write sentences about identical answers, changes and engines, for each dataset and generator."""
    sentences = []
    for part in record["parts"]:
        rows = [row for row in record["rows"] if all(row[name] == part[name] for name in ("dataset", "generator"))]
        sentences += [f"{part['dataset']} · {part['generator']}: {_equality(part)} {_makers(part)}"]
        sentences += [_change(row) for row in rows if row["scorer"] and part["n_equal"] < part["n"]]
    for name in record["imported"]:
        sentences.append(f"{name}: answers from files cannot be regenerated.")
    return sentences


def _equality(part: Row) -> str:
    n, equal = part["n"], part["n_equal"]
    again = f"{counted(n, 'regenerated answer')}{_drawn(n, part['n_stored'])}"
    if equal == n:
        return (
            f"all {again} are bit-identical to the stored ones: texts, finish reasons and token counts match, so P is "
            "unchanged."
        )
    texts = "" if part["median_until"] is None else (
        f" Differing texts first differ after a median of {part['median_until']:g} {part['unit']}.")  # fmt: skip
    interval = f"{share(part['equal'])}, 95% interval {share(part['equal_low'])} to {share(part['equal_high'])}"
    return f"{count(equal)} of {again} are bit-identical to the stored ones ({interval}).{texts}{_second_making(part)}"


def _drawn(n: int, stored: int) -> str:
    return "" if n == stored else f" (drawn from {count(stored)})"


def _second_making(part: Row) -> str:
    """State how many answers differed between two regenerations here, if they depend on batches or on chance."""
    if part.get("n_equal_here") is None:  # a record of a version that regenerated them only once
        return ""
    changed = part["n"] - part["n_equal_here"]
    of = f"{count(changed)} of the {count(part['n'])} answers" if changed else "none of the answers"
    who = "by the endpoint" if _served(part["now"]) else "on this machine"
    return f" A second regeneration {who}, in two halves, changed {of}."


def _change(row: Row) -> str:
    which = f"{row['dataset']} · {row['generator']} · {row['scorer']}, {row['references']} references"
    if not row["n_scored"]:
        return f"{which}: no answer has both a stored and a new score."
    flips = (
        f"{count(row['n_flips'])} of {counted(row['n_scored'], 'score')} changed by more than {number(row['margin'])}"
    )
    change = with_interval(row["mean_difference"], row["low"], row["high"])
    over = counted(row["n_queries"], "query", "queries")
    mean = "mean P did not change" if row["mean_difference"] == 0 else f"mean P changed by {change} over {over}"
    word = f" ({row['verdict']})" if row["verdict"] else ""
    lost = (
        f" {counted(row['n_unpaired'], 'answer has', 'answers have')} only one of the two scores."
        if row["n_unpaired"]
        else ""
    )
    return f"{which}: {flips}; {mean}{word}.{lost}"


def _makers(part: Row) -> str:
    then, now = part["then"], part["now"]
    day = now["first_made"].partition("T")[0]
    on = "; its software and processor are unknown" if _served(now) else f" (processor: {now['processor']})"
    differ = _settings(then["settings"], now["settings"])
    return f"Stored answers: from {_engines(then)}. Regenerated on {day} with {_engines(now)}{on}.{differ}"


def _engines(made: Mapping[str, Any]) -> str:
    """Name the engines, or an endpoint's addresses and what its replies say about it."""
    if not _served(made):
        return listing(list(made["engines"]))
    place = f"the endpoint {listing(made['addresses'])}" if made.get("addresses") else "an endpoint"
    model, system = (" or ".join(made["settings"].get(name, ["not given"])) for name in (SERVED, SYSTEM))
    return f"{place} (served model {model}, system fingerprint {system})"


def _served(made: Mapping[str, Any]) -> bool:
    """Return whether an endpoint made the answers; the engine's version is then the client's."""
    return all(engine.endswith(f" on {ENDPOINT}") for engine in made["engines"])


def _settings(then: Mapping[str, Mapping[str, int]], now: Mapping[str, Mapping[str, int]]) -> str:
    """Name the settings that differ, if there are any."""
    differ = [
        f"{name.replace('_', ' ')} (was {' or '.join(then[name])}, now {' or '.join(now[name])})"
        for name in then
        if name in now and set(then[name]) != set(now[name])
    ]
    return f" Settings that changed: {listing(differ)}." if differ else ""


def lines(record: Record, page: str) -> Sequence[str]:
    """Return the lines to print to the terminal. ``page``: the study's page, which the study's next run updates."""
    return [
        recheck_answer(record).sentence,
        *recheck_sentences(record),
        f"The study’s next run adds these results to {page}.",
    ]
