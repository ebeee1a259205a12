"""Build the section that compares a study with published tables."""

from typing import Any

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.annexes.reproduction.outputs import OUTPUTS, PARTS
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import about, count, counted, listing, number
from ragrelay.report.display.outputs import available
from ragrelay.report.display.page import Page

ANCHOR = "reproduction"
COMPARED = ("reproduced_cells", "reproduced_labels", "reproduced_claims")
"""The tables with a published value in each row."""


def reproduction_section(study: Reproduction, page: Page) -> dict[str, Any]:
    """Return the variables for the template ``reproduction.html.j2``, and add the comparison's charts to ``page``."""
    return {
        "anchor": ANCHOR,
        "answer": reproduction_answer(study),
        "sentences": reproduction_sentences(study),
        "parts": page.parts(study, available(OUTPUTS, study.tables), PARTS, ANCHOR),
    }


def reproduction_answer(study: Reproduction) -> Conclusion:
    """State how many of the published values lie in our intervals."""
    compared = [study[name] for name in COMPARED if name in study.tables]
    inside = [value for table in compared for value in table["inside"].drop_nulls()]
    lie = "lies" if len(inside) == 1 else "lie"
    strong = f"{count(sum(inside))} of {counted(len(inside), 'published value')} {lie} in our 95% intervals"
    heading = "Reproduction", "Do our results match the published ones?"
    return Conclusion(*heading, strong if inside else "No published value can be compared with one of our intervals")


def reproduction_sentences(study: Reproduction) -> list[str]:
    """Write a sentence per table about how well the study reproduces the published values."""
    sentences = []
    for row in study.tables["reproduced_summary"].to_dicts() if "reproduced_summary" in study.tables else ():
        tau = row["kendall"]
        ranked = "" if tau is None else f" Kendall’s τ between our cells and the published ones is {number(tau, 2)}."
        some = "all" if row["n_inside"] == row["n_with_interval"] > 1 else f"{count(row['n_inside'])} of the"
        of_intervals = f"{some} {counted(row['n_with_interval'], 'cell')} with an interval"
        sentences.append(
            f"{row['dataset']} · {row['generator']} · {row['scorer']}: this study covers {count(row['n'])} of "
            f"the {counted(row['n_published'], 'published cell')}. The published value lies in our interval for "
            f"{of_intervals}; the RMSE is {number(row['rmse'])}.{ranked}"
        )
    for name, what in (("reproduced_labels", "correlation"), ("reproduced_claims", "mean ACU")):
        inside = study[name]["inside"].drop_nulls().to_list() if name in study.tables else []
        if inside:
            which = f"the only {what}" if len(inside) == 1 else f"{count(sum(inside))} of {count(len(inside))} {what}s"
            lies = "does not lie" if inside == [False] else "lies"
            sentences.append(f"The published value {lies} in our 95% interval for {which} with an interval.")
    if "reproduced_findings" in study.tables:
        verdicts = study["reproduced_findings"].group_by("finding", maintain_order=True).agg("verdict")
        parts = [
            f"“{finding}” ({listing([f'{count(words.count(word))} {word}' for word in dict.fromkeys(words)])})"
            for finding, words in verdicts.iter_rows()
        ]
        if parts:
            tests = study["reproduced_findings"]["p_value"].count()
            sentences.append(
                f"Verdicts on the paper’s findings, for each dataset, reference set and pair of retrievers: "
                f"{listing(parts)}. The {counted(tests, 'test is', 'tests are')} uncorrected; if no finding held, "
                f"chance alone would make {about(ALPHA * tests)} of them significant on average."
            )
    return sentences
