"""Characteristics of evidence, each against values that a reader can check."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.acu import entities
from ragrelay.annexes.acu import text_characteristics as texts
from ragrelay.annexes.acu.characteristic_columns import SCHEMA
from ragrelay.annexes.acu.characteristics import describe_claims, domains, later, unreliability
from ragrelay.annexes.acu.claims import claims_frame
from ragrelay.annexes.acu.judged_evidence import evidence_questions
from ragrelay.base.errors import InputError


def test_likeness_to_the_claim() -> None:
    claim, evidence = "Tea is a plant.", "“Tea,” they say, is a drink"
    assert texts.jaccard(claim, evidence) == pytest.approx(3 / 7)
    assert texts.claim_words_in(claim, evidence) == 3 / 4
    assert texts.repeats(claim, "We know: TEA is a plant, no doubt") is True
    assert texts.repeats(claim, "Steady: instead tea is a planter") is False, "whole words alone"
    assert texts.jaccard("?", "!") is texts.claim_words_in("?", "a") is texts.repeats("…", "a") is None


def test_reading_ease() -> None:
    """Words, sentences and syllables are counted by hand; groups of vowels would miss some of `area`."""
    assert texts.reading_ease("The cat sat on the mat.") == pytest.approx(206.835 - 1.015 * 6 - 84.6)
    two = texts.reading_ease("The cat sat there. It had a little table.")
    assert two == pytest.approx(206.835 - 1.015 * 9 / 2 - 84.6 * 11 / 9)
    assert texts.reading_ease("The area has an idea.") == pytest.approx(206.835 - 1.015 * 5 - 84.6 * 9 / 5)
    assert texts.reading_ease("…") is None


def test_hedging_and_references() -> None:
    assert texts.hedging_rate("Perhaps it may rain, or it is not clear.") == pytest.approx(3 / 9)
    assert (texts.hedging_words("Perhaps it may rain"), texts.hedging_words("It is not clear.")) == (2, 0)
    assert (texts.hedging_phrases("It is not clear, more or less."), texts.hedging_phrases("It may rain")) == (2, 0)
    assert texts.hedging_rate("It rains.") == 0.0 and texts.hedging_rate("") is None
    assert texts.refers_elsewhere("According to the mayor, it rains.")
    assert texts.refers_elsewhere("See https://example.org") and not texts.refers_elsewhere("It rains.")
    assert texts.contains("true", "That is TRUE.") and not texts.contains("true", "truest untrue")


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# mine\nRumour.example  # bad\nwww.other.example\n")
    assert (found := domains(path)) == ["rumour.example", "other.example"]
    assert texts.listed(found, "https://www.rumour.example:8080/page?x=other") and texts.listed(found, "other.example")
    assert not texts.listed(found, "https://notrumour.example/rumour.example")
    path.write_text("https://rumour.example/x\n")
    with pytest.raises(InputError, match=r"line 1: found 'https://rumour[.]example/x'; expected a domain"):
        domains(path)


def test_unlisted_sources_are_unknown_and_not_reliable() -> None:
    """A source on no list is unknown, unless it is a fact-check article, a government or a university."""
    lists = (["rumour.example", "both.example"], ["almanac.example", "both.example"])
    cases = {
        ("https://rumour.example/x", None): True, ("https://almanac.example", False): False,
        ("https://daily.example", None): None, ("https://daily.example", True): False, ("rumour.example", True): False,
        ("https://www.cdc.gov/x", None): False, ("https://ons.gov.uk", None): False, ("mit.edu", None): False,
        ("https://gov.example", None): None, ("both.example", None): True, (None, None): None,
    }  # fmt: skip
    assert {case: unreliability(*case, *lists) for case in cases} == cases


def test_dates() -> None:
    assert later("2020-01-01", "2020-01-02T10:00:00") is True and later("2020-01-01", "2020-01-01") is False
    assert later("in spring", "2020-01-01") is later(None, "2020-01-01") is later("2020-01-01", None) is None


def test_capitalised_names() -> None:
    text = "Yesterday the Bank of England met in London. It said 5,895 things. London agreed."
    assert entities.capitalised(text) == {"bank of england", "london", "5,895"}
    assert entities.capitalised("Tea grows.") == set()
    assert entities.capitalised("Jean-Luc left. O'Neill's cat and jean-luc's dog met. James' cat.") == {"jean-luc"}
    assert entities.capitalised("Tea-tea. Rain fell. Raining hills") == set()
    assert entities.overlap({"a", "b"}, {"b", "c"}) == 0.5 and entities.overlap(set(), {"a"}) is None
    with pytest.raises(InputError, match="'xx_absent', which is not installed; expected auto, capitalised or an inst"):
        entities.detector("xx_absent")


def test_table_keeps_missing_values_missing() -> None:
    row = {"id": "a", "claim": "Tea is a plant.", "evidence": "Tea may grow.", "evidence_stance": "supports"}
    more = row | {"id": "b", "evidence_source": "https://rumour.example", "is_gold": True, "claim_date": "2020-01-01",
                  "evidence_date": "2021-01-01", "relevant": True, "factcheck_verdict": "Half True"}  # fmt: skip
    claims = claims_frame(iter([("one", row), ("two", more)]), "rows")
    table, name = describe_claims(claims, "capitalised", ["rumour.example"])
    assert table.columns == list(SCHEMA) and name == "capitalised"
    assert table["factcheck_verdict"].to_list() == [None, 4] and table["contains_hedging"].to_list() == [True, True]
    for column in ("is_unreliable", "is_gold", "published_after_claim", "relevant"):
        assert table[column].to_list() == [None, True], column
    assert table["claim_entity_overlap"].to_list() == [None, None] and table["evidence_length"].to_list() == [13, 13]
    assert describe_claims(claims, "capitalised", None)[0]["is_unreliable"].to_list() == [None, None]


def test_a_models_judgement_takes_the_place_of_the_rule() -> None:
    """Evidence that several claims share is one question; no judgement is no value."""
    row = {"id": "a", "claim": "Tea is old", "evidence": "According to the BBC, it is.", "evidence_stance": "refutes"}
    rows = [row, row | {"id": "b", "claim": "Tea is new"}, row | {"id": "c", "evidence": "It is."}]
    claims = claims_frame(iter([(one["id"], one) for one in rows]), "rows")
    by_rule = describe_claims(claims, "capitalised", None)[0]["refers_external_source"].to_list()
    assert by_rule == [True, True, False]
    judged = pl.DataFrame({"id": ["c", "a"], "p_refers": [0.5, 0.49]})
    table = describe_claims(claims, "capitalised", None, judged=judged)[0]
    assert table["refers_external_source"].to_list() == [False, None, True]
    asked = evidence_questions(claims)
    assert asked["id"].to_list() == ["a", "b", "c"] and asked["prompt_id"].n_unique() == 2
    assert asked["prompt"][2].startswith("Evidence: It is.\nDoes the evidence refer")
