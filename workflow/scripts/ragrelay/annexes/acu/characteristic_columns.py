"""Declare the characteristics of a piece of evidence that are correlated with ACU."""

from ragrelay.base.vocabulary.columns import boolean, integer, number, schema_of, text

OF_MODELS = ("evidence_perplexity", "p_true", "p_none", "p_false", "memory_conflict")
"""Characteristics that depend on the generator, from the table of pairs; p_…: probabilities without the evidence."""
COLUMNS = {
    "id": text("the id of the claim–evidence pair"),
    "claim_evidence_jaccard_sim": number("Jaccard similarity between the words of claim and evidence", "0 to 1"),
    "claim_words_in_evidence": number("share of the claim's words that are in the evidence", "0 to 1"),
    "claim_repeated_in_evidence": boolean("whether the claim's words occur in the evidence as one sequence"),
    "claim_entity_overlap": number("share of the claim's entities that are in the evidence", "0 to 1"),
    "flesch_reading_ease_score": number("Flesch's reading ease of the evidence"),
    "claim_length": integer("length of the claim", "characters"),
    "evidence_length": integer("length of the evidence", "characters"),
    "hedging_rate": number("the evidence's hedging words and phrases per word"),
    "contains_hedging": boolean("whether the evidence has a hedging word"),
    "contains_hedging_phrase": boolean("whether the evidence has a hedging phrase"),
    "contains_true": boolean("whether the evidence contains “true”, in any case"),
    "contains_false": boolean("whether the evidence contains “false”, in any case"),
    "refers_external_source": boolean("whether the evidence refers to a source elsewhere"),
    "published_after_claim": boolean("whether the evidence is dated later than the claim; empty unless both have a "
                                     "date"),
    "is_factcheck_article": boolean("whether the evidence is a fact-check article, according to the claims file"),
    "is_gold": boolean("whether the evidence is gold, according to the claims file"),
    "is_unreliable": boolean("whether the evidence's domain is on the list of unreliable sources; empty without a "
                             "list, and for sources that are neither on it nor known to be reliable"),
    "relevant": boolean("whether the evidence is relevant to the claim, according to the claims file"),
    "factcheck_verdict": integer("the claim's verdict, according to the claims file: 5 true, 4 half true, 1 false; "
                                 "empty for others"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
NAMES = tuple(name for name in SCHEMA if name != "id") + OF_MODELS
