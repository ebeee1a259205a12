"""Read YAML templates with named placeholders, and build prompts that ask for a verdict on a claim."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.acu.claims import with_stance
from ragrelay.annexes.acu.stances import WORDS
from ragrelay.base.errors import InputError
from ragrelay.prompting.layout import prompt_id
from ragrelay.prompting.templates import check_part, template_data

PARTS = ("without_evidence", "with_evidence")
PROMPTED = ("id", "claim", "claimant", "evidence")
OPTIONAL = ("claimant", "source", "system", "words_with_evidence")
SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "evidence": pl.Boolean,
    "prompt": pl.String,
    "system": pl.String,
    "prompt_id": pl.String,
}


@dataclass(frozen=True)
class ClaimTemplate:
    """The texts of a claims prompt, including any examples (shots)."""

    without_evidence: str
    """The text without evidence; contains {claim}."""
    with_evidence: str
    """The text with evidence; contains {claim} and {evidence}."""
    claimant: str = ""
    """A line with {claimant}; it replaces {claimant} in both texts, and is omitted if a claim's claimant is unknown."""
    system: str = ""
    """The chat's system message, without placeholders."""
    words_with_evidence: tuple[str, ...] = ()
    """The label words that ``with_evidence`` asks for; empty if these are True, None and False."""

    def render(self, claim: str, claimant: str | None, evidence: str | None) -> str:
        """Return the prompt for ``claim``. The prompt contains ``evidence`` unless ``evidence`` is None."""
        claimant_line = self.claimant.format(claimant=claimant) if self.claimant and claimant else ""
        if evidence is None:
            return self.without_evidence.format(claim=claim, claimant=claimant_line)
        return self.with_evidence.format(claim=claim, claimant=claimant_line, evidence=evidence)


def load_claim_template(path: str | Path) -> ClaimTemplate:
    """Read a claims template.

    Raises InputError if the file is not a valid template, or if ``words_with_evidence`` is not a list of three
    different words.
    """
    path = Path(path)
    data = template_data(path, PARTS, OPTIONAL)
    names = {"claim", "claimant"} if "claimant" in data else {"claim"}
    check_part(path, "without_evidence", data.get("without_evidence"), names)
    check_part(path, "with_evidence", data.get("with_evidence"), names | {"evidence"})
    for part, allowed in (("claimant", {"claimant"}), ("system", set[str]())):
        if part in data:
            check_part(path, part, data[part], allowed)
    words = data.get("words_with_evidence", [])
    if "words_with_evidence" in data and not _three_words(words):
        expected = f"three different words for {', '.join(WORDS)}, in quotation marks (YAML reads True as a Boolean)"
        raise InputError(f"{path}, key 'words_with_evidence'", repr(words), expected)
    texts = {part: data[part] for part in (*PARTS, "claimant") if part in data}
    system = data["system"].format() if "system" in data else ""
    return ClaimTemplate(**texts, system=system, words_with_evidence=tuple(words))


def _three_words(words: object) -> bool:
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        return False
    return len(set(words)) == len(words) == len(WORDS)


def build_claim_prompts(claims: pl.DataFrame, template: ClaimTemplate) -> pl.DataFrame:
    """Build two prompts for each row of ``claims`` that has a stance: one with the evidence and one without.

    Returns columns id, evidence (whether the prompt contains the evidence), prompt, system and prompt_id. A claim's
    prompts without evidence all have the same prompt_id, so the model answers this prompt only once per claim.
    """
    rows = []
    for name, claim, claimant, evidence in with_stance(claims).select(*PROMPTED).iter_rows():
        for shown in (None, evidence):
            prompt = template.render(claim, claimant, shown)
            rows.append((name, shown is not None, prompt, template.system, prompt_id(prompt, template.system)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def check_system(place: str, template: ClaimTemplate, chat: bool) -> None:
    """Raise InputError if a template for raw completions has a system message."""
    if template.system and not chat:
        raise InputError(
            place, "a template with a system part", "generators with chat: true, or a template without a system part"
        )
