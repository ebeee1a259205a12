"""Ask a model whether evidence refers to an external source (Hagström et al., section 4.1)."""

import polars as pl

from ragrelay.base.vocabulary.columns import number, text
from ragrelay.generation.likelihoods.mass import MASS
from ragrelay.prompting.layout import prompt_id

PROMPT = (
    "Evidence: {evidence}\n"
    "Does the evidence refer to an external source, such as a study, a report, a website, a broadcaster or a quoted "
    "person? Answer Yes or No.\nAnswer:"
)
"""The judge's prompt: zero-shot as in the paper, but with different wording."""
WORDS = ("Yes", "No")
REFERS_FROM = 0.5
"""Evidence refers to a source if `yes` has at least this share of the total probability of `yes` and `no`."""
COLUMNS = {
    "id": text("id of the claim–evidence pair"),
    "p_refers": number("a model's probability of yes divided by the probability of yes or no, when asked whether the "
        "evidence refers to an external source"),
    "mass": MASS,
}  # fmt: skip


def evidence_questions(claims: pl.DataFrame) -> pl.DataFrame:
    """Build a prompt about each claim's evidence (columns id, prompt_id, prompt and system)."""
    prompts = [PROMPT.replace("{evidence}", evidence) for evidence in claims["evidence"]]
    ids = [prompt_id(prompt, "") for prompt in prompts]
    return claims.select("id", prompt_id=pl.Series(ids, dtype=pl.String), prompt=pl.Series(prompts, dtype=pl.String),
                         system=pl.lit(""))  # fmt: skip
