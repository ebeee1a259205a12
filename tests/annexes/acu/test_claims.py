"""Claims with evidence: what is read, what is refused and in what words, recasts, and the demo's own."""

import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.acu.claims import SCHEMA, claims_frame
from ragrelay.annexes.acu.prompts import ClaimTemplate, build_claim_prompts, load_claim_template
from ragrelay.annexes.acu.requests import Asked
from ragrelay.annexes.acu.source import CLAIM_KINDS, prepare_claims
from ragrelay.annexes.acu.stances import STANCES, WORDS
from ragrelay.base.errors import InputError
from ragrelay.generation.likelihoods.words import first_tokens

from tests.support.sandbox import ROOT

ROW = {"id": "a", "claim": "Tea is a plant.", "evidence": "Tea grows.", "evidence_stance": "supports"}
DEMO = ROOT / "resources/demo/claims"


def written(path: Path, rows: list[Any]) -> dict[str, Any]:
    """The catalogue entry of a file with ``rows``: JSON lines, or a table by the path's ending."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pl.DataFrame(rows, infer_schema_length=None).write_csv(path)
    return {"source": "local", "path": str(path), "format": "druid"}


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_all_formats_give_the_same(tmp_path: Path, ending: str) -> None:
    more = {"claimant": 'a "guide",\nof two lines', "relevant": "True", "is_gold": "0", "unknown_column": "x"}
    rows = [ROW | more, ROW | {"id": "b", "claimant": "", "relevant": "", "is_gold": "yes", "unknown_column": ""}]
    found = prepare_claims(written(tmp_path / f"claims.{ending}", rows))
    assert found.schema == pl.Schema(SCHEMA)
    assert found["claimant"].to_list() == ['a "guide",\nof two lines', None]
    assert found["relevant"].to_list() == [True, None] and found["is_gold"].to_list() == [False, True]
    assert found["claim_id"].n_unique() == 1, "equal claims are one claim where no claim_id is given"


def test_quotation_marks_of_a_tsv_are_text(tmp_path: Path) -> None:
    path = tmp_path / "claims.tsv"
    entry = {"source": "local", "path": str(path), "format": "druid"}
    rows = [("a", '"Tea', '"grows"'), ("b", '5" of it', '""')]
    path.write_text("id\tclaim\tevidence\tevidence_stance\n" + "".join("\t".join([*r, "supports\n"]) for r in rows))
    assert prepare_claims(entry).select("id", "claim", "evidence").rows() == rows
    path.write_text("id\tclaim\tevidence\tid\na\tb\tc\td\n")
    with pytest.raises(InputError, match="line 1: found duplicate column 'id'"):
        prepare_claims(entry)
    path.write_text('id\tclaim\tevidence\na\t"one ""two"""\tc\n')
    with pytest.raises(InputError, match=r"line 2: found the field .* quoted as in CSV"):
        prepare_claims(entry)


WRONG: dict[str, tuple[list[Any], str]] = {
    "unknown stance": (
        [ROW, ROW | {"id": "b", "evidence_stance": "suports"}],
        "line 2: found evidence_stance 'suports'; expected one of supports, .*; did you mean 'supports'?",
    ),
    "empty evidence": (
        [ROW | {"evidence": " "}],
        "line 1: found an empty value for evidence; expected non-empty values",
    ),
    "no claim": ([{k: v for k, v in ROW.items() if k != "claim"}], "line 1: found no claim; expected non-empty values"),
    "duplicate id": ([ROW, ROW], "line 2: found duplicate id 'a' \\(first on line 1\\); expected unique ids"),
    "claim_id of two claims": (
        [ROW | {"claim_id": "c"}, ROW | {"id": "b", "claim_id": "c", "claim": "Coffee is a plant."}],
        "line 2: found claim_id 'c' with a claim that differs from the claim on line 1; expected one claim",
    ),
    "no truth value": ([ROW | {"is_gold": "maybe"}], "line 1: found is_gold 'maybe'; expected true or false"),
    "a list": ([ROW | {"evidence": ["x"]}], "line 1: found evidence with a JSON list; expected a single value"),
    "half a character": ([ROW | {"claim": "\ud800"}], "line 1: found an unpaired surrogate in claim"),
    "no object": ([[1]], "line 1: found a list; expected a JSON object"),
    "no row": ([], "found no claims; expected at least one claim"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_rows(tmp_path: Path, case: str) -> None:
    rows, expected = WRONG[case]
    with pytest.raises(InputError, match=expected):
        prepare_claims(written(tmp_path / "claims.jsonl", rows))


def test_bad_tables(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    entry = {"source": "local", "path": str(path), "format": "druid"}
    with pytest.raises(InputError, match="no such file"):
        prepare_claims(entry)
    path.write_text("id,claim,evidence,evidence_stance\na,one,two\n")
    with pytest.raises(InputError, match="line 2: found more or fewer fields than in the header"):
        prepare_claims(entry)
    path.write_bytes(b"id,claim,evidence,evidence_stance\na,\xff,two,supports\n")
    with pytest.raises(InputError, match="byte 0xff; expected UTF-8"):
        prepare_claims(entry)
    path.write_text('id,claim,evidence,evidence_stance\na,"one" x,two,supports\n')
    with pytest.raises(InputError, match="expected correctly quoted CSV fields"):
        prepare_claims(entry)
    with pytest.raises(InputError, match=r"found the file extension '[.]txt'; expected one of [.]csv, [.]tsv, [.]"):
        prepare_claims(entry | {"path": "claims.txt"})


def test_the_demos_claims() -> None:
    found = prepare_claims({"source": "local", "path": str(DEMO / "claims.jsonl"), "format": "druid"})
    stances = Counter(found["evidence_stance"])
    assert found.height >= 60 and set(stances) == set(STANCES) and min(stances.values()) >= 5
    assert found["claim_id"].n_unique() == 22
    assert found.select(pl.col("evidence").is_unique().all()).item()
    verdicts = dict(found.select("claim_id", "factcheck_verdict").iter_rows())
    assert Counter(verdicts.values()) == {"True": 11, "False": 11}
    sided = found.filter(pl.col("evidence_stance").is_in(["supports", "refutes"]))
    meant = {"supports": "True", "refutes": "False"}
    assert all(
        meant[stance] == verdict for stance, verdict in sided.select("evidence_stance", "factcheck_verdict").rows()
    )
    assert not found.filter(evidence_stance="not_applicable")["relevant"].any()


FRENCH, ENGLISH = (f"The mother tongue of Danielle Darrieux is {name}." for name in ("French", "English"))
REWRITE = {"prompt": "The mother tongue of {} is", "subject": "Danielle Darrieux", "target_true": {"str": "French"},
           "target_new": {"str": "English"}}  # fmt: skip
SAMPLED = {
    "base_prompt": "The mother tongue of Danielle Darrieux is",
    "target_true": " French",
    "target_new": " English",
}


@pytest.mark.parametrize("record", [{"case_id": 7, "requested_rewrite": REWRITE}, {"case_id": 7, **SAMPLED}])
def test_counterfact(tmp_path: Path, record: dict[str, Any]) -> None:
    """A record gives the paper's two rows of the false statement, and with rivals those of the true one too."""
    path = tmp_path / "counterfact.json"
    path.write_text(json.dumps([record]))
    entry = {"source": "local", "path": str(path), "format": "counterfact"}
    found = prepare_claims(entry)
    assert found.select("id", "claim", "evidence", "evidence_stance", "factcheck_verdict", "relevant").rows() == [
        ("7-other-known", ENGLISH, FRENCH, "refutes", "False", True),
        ("7-other-other", ENGLISH, ENGLISH, "supports", "False", True),
    ]
    both = prepare_claims(entry | {"rivals": True})
    assert both.select("id", "claim", "evidence", "evidence_stance", "factcheck_verdict").rows()[:2] == [
        ("7-known-known", FRENCH, FRENCH, "supports", "True"), ("7-known-other", FRENCH, ENGLISH, "refutes", "True"),
    ]  # fmt: skip
    assert both[2:].equals(found) and both["claim_id"].n_unique() == 2
    path.write_text(json.dumps([{"requested_rewrite": {"prompt": "x"}}]))
    with pytest.raises(InputError, match="record 1: found a record in another format; expected requested_rewrite"):
        prepare_claims(entry)


def test_conflictqa(tmp_path: Path) -> None:
    """The evidence is the memory-aligned one; a claim is true that contains an answer."""
    path = tmp_path / "conflictqa.jsonl"
    record = {"memory_answer": "He is a poet. ", "counter_answer": "He is a politician.", "ground_truth": ["politic"],
              "parametric_memory_aligned_evidence": "As a poet …", "counter_memory_aligned_evidence": "Elected 1901 …",
              "parametric_memory": "no evidence", "counter_memory": "no evidence"}  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in ({"memory_answer": " "}, record)))
    entry = {"source": "local", "path": str(path), "format": "conflictqa"}
    columns = ("id", "claim", "evidence", "evidence_stance", "factcheck_verdict")
    found = prepare_claims(entry).select(columns).rows()
    assert found == [
        ("2-known-known", "He is a poet.", "As a poet …", "supports", "False"),
        ("2-known-other", "He is a poet.", "Elected 1901 …", "refutes", "False"),
    ]
    both = prepare_claims(entry | {"rivals": True}).select(columns).rows()
    assert both[:2] == found and both[2:] == [
        ("2-other-known", "He is a politician.", "As a poet …", "refutes", "True"),
        ("2-other-other", "He is a politician.", "Elected 1901 …", "supports", "True"),
    ]
    path.write_text(json.dumps({"memory_answer": "x"}) + "\n")
    with pytest.raises(InputError, match="line 1: found no text for parametric_memory_aligned_evidence, counter_mem"):
        prepare_claims(entry)


def test_only_records_of_two_statements_have_rivals(tmp_path: Path) -> None:
    entry = written(tmp_path / "claims.jsonl", [ROW]) | {"rivals": True}
    expected = "x.rivals': found true with format druid; expected format conflictqa or counterfact"
    with pytest.raises(InputError, match=re.escape(expected)):
        CLAIM_KINDS.of(entry).check("config key 'claims.x", SimpleNamespace(folder=tmp_path))


def test_rows_without_a_stance_are_kept_but_not_asked(tmp_path: Path) -> None:
    """DRUID+ has such rows; a file of them alone is refused."""
    rows = [ROW, ROW | {"id": "b", "evidence_stance": None}, ROW | {"id": "c", "evidence_stance": "nan"}]
    found = prepare_claims(written(tmp_path / "claims.jsonl", rows))
    assert found["evidence_stance"].to_list() == ["supports", None, None]
    template = ClaimTemplate("{claim}", "{claim} {evidence}")
    assert build_claim_prompts(found, template)["id"].to_list() == ["a", "a"]
    with pytest.raises(InputError, match="found no evidence_stance in any row; expected a row with a stance: one"):
        prepare_claims(written(tmp_path / "claims.jsonl", rows[1:]))


def test_rows_of_a_hub_are_checked_alike() -> None:
    """Their Parquet gives values, not texts: numbers as ids, NaN for what is missing, real truth values."""
    record = ROW | {"id": 5, "is_gold": True, "claimant": float("nan"), "claim_date": None}
    found = claims_frame(iter([("data set x, row 1", record)]), "x")
    assert found.select("id", "is_gold", "claimant", "claim_date").row(0) == ("5", True, None, None)
    with pytest.raises(InputError, match="data set x, row 2: found duplicate id '5' \\(first on row 1\\)"):
        claims_frame(iter([("data set x, row 1", record), ("data set x, row 2", record)]), "x")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("claims.jsonl", json.dumps(ROW)[:-1] + ', "claim": "Rice."}\n', "line 1: found duplicate key 'claim'"),
        ("claims.csv", "id,claim,evidence,claim\na,tea,grows,rice\n", "line 1: found duplicate column 'claim'"),
    ],
)
def test_a_key_or_column_twice(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        prepare_claims({"source": "local", "path": str(tmp_path / name), "format": "druid"})


def test_a_template_may_ask_for_other_words_with_evidence(generator: dict[str, Any], tmp_path: Path) -> None:
    """The paper's template for Llama asks for Support and Refute with evidence: they count as True and False."""
    table = prepare_claims(written(tmp_path / "claims.jsonl", [ROW]))
    path = tmp_path / "own.yaml"
    texts = 'without_evidence: "{claim}"\nwith_evidence: "{claim} {evidence}"\n'
    path.write_text(texts + "words_with_evidence: [Support, None, Refute]\n")
    template = load_claim_template(path)
    prompts = build_claim_prompts(table, template)
    own, plain = (Asked(table, {"t": prompts}, generator, words) for words in ({"t": template.words_with_evidence}, {}))
    ids = first_tokens(own.tokenizer, template.words_with_evidence, "")
    for evidence, expected in ((False, own.words), (True, dict(zip(WORDS, ids.values(), strict=True)))):
        rows = own.of_words.filter(evidence=evidence)
        found = {word: [ids for (ids,) in rows.filter(word=word)["token_ids"].to_list()] for word in WORDS}
        assert found == expected
    assert own.of_words.filter(evidence=False).equals(plain.of_words.filter(evidence=False))
    assert set(own.spelled()) == {*WORDS, "Support", "Refute"} and set(plain.spelled()) == set(WORDS)
    for wrong in ("[True, None, False]", "[Support, Refute]", "[Support, Support, Refute]", "Support"):
        path.write_text(f"{texts}words_with_evidence: {wrong}\n")
        with pytest.raises(InputError, match=r"key 'words_with_evidence'.*three different words"):
            load_claim_template(path)
