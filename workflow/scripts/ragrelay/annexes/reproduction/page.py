"""Make the part of a page that compares a study with published tables."""

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
"""Tables with a published value in each row."""


def reproduction_section(study: Reproduction, page: Page) -> dict[str, Any]:
    """Return the values for ``reproduction.html.j2``. Charts are added to those of ``page``."""
    return {
        "anchor": ANCHOR,
        "answer": reproduction_answer(study),
        "sentences": reproduction_sentences(study),
        "parts": page.parts(study, available(OUTPUTS, study.tables), PARTS, ANCHOR),
    }


def reproduction_answer(study: Reproduction) -> Conclusion:
    """Conclude in how many cells, of all kinds, the published value lies in our interval."""
    compared = [study[name] for name in COMPARED if name in study.tables]
    inside = [value for table in compared for value in table["inside"].drop_nulls()]
    strong = f"{count(sum(inside))} of {counted(len(inside), 'published value')} in our 95% intervals"
    heading = "Reproduction", "Do we find what was published?"
    return Conclusion(*heading, strong if inside else "No published value can be compared with an interval of ours")


def reproduction_sentences(study: Reproduction) -> list[str]:
    """Say how well the study reproduces the published tables, a sentence per table."""
    sentences = []
    for row in study.tables["reproduced_summary"].to_dicts() if "reproduced_summary" in study.tables else ():
        tau = row["kendall"]
        ranked = "" if tau is None else f" Kendall’s τ between our cells and the published ones is {number(tau, 2)}."
        of_intervals = f"{count(row['n_inside'])} of {count(row['n_with_interval'])}"
        sentences.append(
            f"{row['dataset']} · {row['generator']} · {row['scorer']}: {counted(row['n'], 'cell')} of "
            f"{count(row['n_published'])} published; the published value lies in our interval in {of_intervals}, and "
            f"the RMSE is {number(row['rmse'])}.{ranked}"
        )
    for name, what in (("reproduced_labels", "correlation"), ("reproduced_claims", "mean ACU")):
        inside = study[name]["inside"].drop_nulls().to_list() if name in study.tables else []
        if inside:
            sentences.append(
                f"Of {counted(len(inside), what, f'{what}s')} with a 95% interval in this study, the published value "
                f"lies inside for {count(sum(inside))}."
            )
    if "reproduced_findings" in study.tables:
        verdicts = study["reproduced_findings"].group_by("finding", maintain_order=True).agg("verdict")
        parts = [
            f"{finding}: {listing([f'{count(words.count(word))} {word}' for word in dict.fromkeys(words)])}"
            for finding, words in verdicts.iter_rows()
        ]
        if parts:
            tests = study["reproduced_findings"]["p_value"].count()
            sentences.append(
                f"The paper’s findings, by dataset, references and pair: {'; '.join(parts)}. Of these "
                f"{counted(tests, 'test')}, not corrected for multiplicity, {about(ALPHA * tests)} would be decided "
                "even if no finding held."
            )
    return sentences
