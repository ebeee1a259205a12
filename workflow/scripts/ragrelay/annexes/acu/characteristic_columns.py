"""Declare the columns for evidence characteristics (such as length) that are tested for a correlation with ACU."""

from ragrelay.base.vocabulary.columns import boolean, integer, number, schema_of, text

OF_MODELS = ("evidence_perplexity", "p_true", "p_none", "p_false", "memory_conflict")
"""Characteristics that depend on the generator; ``p_`` marks a word's probability when the prompt has no evidence."""
COLUMNS = {
    "id": text("id of the claim–evidence pair"),
    "claim_evidence_jaccard_sim": number("Jaccard similarity between the words of the claim and the words of the "
                                         "evidence", "0 to 1"),
    "claim_words_in_evidence": number("share of the claim's words that occur in the evidence", "0 to 1"),
    "claim_repeated_in_evidence": boolean("whether the claim's words occur in the evidence as one uninterrupted "
                                          "sequence"),
    "claim_entity_overlap": number("share of the entities named in the claim that are also named in the "
                                   "evidence", "0 to 1"),
    "flesch_reading_ease_score": number("Flesch reading-ease score of the evidence"),
    "claim_length": integer("length of the claim", "characters"),
    "evidence_length": integer("length of the evidence", "characters"),
    "hedging_rate": number("number of hedging words and phrases in the evidence, per word"),
    "contains_hedging": boolean("whether the evidence contains a hedging word"),
    "contains_hedging_phrase": boolean("whether the evidence contains a hedging phrase"),
    "contains_true": boolean("whether the evidence contains the word “true”, in upper or lower case"),
    "contains_false": boolean("whether the evidence contains the word “false”, in upper or lower case"),
    "refers_external_source": boolean("whether the evidence refers to an external source"),
    "published_after_claim": boolean("whether the evidence is dated later than the claim; empty if the claim or the "
                                     "evidence has no date"),
    "is_factcheck_article": boolean("whether the evidence is a fact-check article, according to the claims file"),
    "is_gold": boolean("whether the evidence is gold evidence, according to the claims file"),
    "is_unreliable": boolean("whether the evidence comes from a domain on the list of unreliable sources; empty if "
                             "there is no list, and for domains that are neither listed nor known to be reliable"),
    "relevant": boolean("whether the evidence is relevant to the claim, according to the claims file"),
    "factcheck_verdict": integer("fact check's verdict on the claim, according to the claims file: 5 for true, 4 for "
                                 "half true, 1 for false; empty for other verdicts"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
NAMES = tuple(name for name in SCHEMA if name != "id") + OF_MODELS
