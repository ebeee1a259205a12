"""Declare the characteristics of a piece of evidence that are correlated with ACU."""

from ragrelay.base.vocabulary.columns import real, schema_of, text, truth, whole

OF_MODELS = ("evidence_perplexity", "p_true", "p_none", "p_false", "memory_conflict")
"""Characteristics that depend on the generator, from the table of pairs; p_…: probabilities without the evidence."""
COLUMNS = {
    "id": text("id of the pair of claim and evidence"),
    "claim_evidence_jaccard_sim": real("Jaccard similarity of the words of claim and evidence", "0 to 1"),
    "claim_words_in_evidence": real("share of the claim's words that are in the evidence", "0 to 1"),
    "claim_repeated_in_evidence": truth("whether the claim's words occur in the evidence as one sequence"),
    "claim_entity_overlap": real("share of the claim's entities that are in the evidence", "0 to 1"),
    "flesch_reading_ease_score": real("Flesch's reading ease of the evidence"),
    "claim_length": whole("length of the claim", "characters"),
    "evidence_length": whole("length of the evidence", "characters"),
    "hedging_rate": real("hedging words and phrases of the evidence per word"),
    "contains_hedging": truth("whether the evidence has a hedging word"),
    "contains_hedging_phrase": truth("whether the evidence has a hedging phrase"),
    "contains_true": truth("whether the evidence contains “true”, in any case"),
    "contains_false": truth("whether the evidence contains “false”, in any case"),
    "refers_external_source": truth("whether the evidence refers to a source elsewhere"),
    "published_after_claim": truth("whether the evidence is of a later day than the claim; empty without two dates"),
    "is_factcheck_article": truth("whether the evidence is a fact-check article, as the claims' file says"),
    "is_gold": truth("whether the evidence is gold, as the claims' file says"),
    "is_unreliable": truth("whether the evidence's domain is on the list of unreliable sources; empty without a list, "
                           "and for a source that is neither on it nor known to be reliable"),
    "relevant": truth("whether the evidence is relevant to the claim, as the claims' file says"),
    "factcheck_verdict": whole("the claim's verdict, as the claims' file says: "
                               "5 true, 4 half true, 1 false; empty for others"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
NAMES = tuple(name for name in SCHEMA if name != "id") + OF_MODELS
