"""What a recheck says, from tables whose numbers are counted by hand here; it says bit-identical only where all is."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.recheck import page_part
from ragrelay.annexes.recheck.sentences import recheck_answer, recheck_sentences
from ragrelay.annexes.recheck.write import recheck
from ragrelay.base.io.keyed_files import of_pattern

from tests.support.approved import approve, not_approved
from tests.unit.report.second_way import PACKAGE, between, ends, percent

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
QUERIES = 20
CPU = {"engines": {"vllm 1.0 on cpu": 40}, "settings": {"model_runner": {"V1": 40}, "batch_invariant": {"no": 40}}}
THEN = {**CPU, "first_made": "2026-01-02T03:04:05+00:00"}
NOW = {**CPU, "first_made": "2026-11-27T00:00:00+00:00", "processor": "a processor"}


SERVED = {"engines": {"openai 2.45.0 on endpoint": 40}, "settings": {}}


def differences(query: int) -> tuple[float, float]:
    """Of the two answers of a query: those of even ones are as stored, of odd ones one is worse."""
    return (-0.03 - 0.001 * query, 0.0) if query % 2 else (0.0, 0.0)


def written(
    folder: Path, changed: bool, now: dict[str, Any] = NOW, scorers: tuple[str, ...] = ("minilm",), here: int = 40,
    then: dict[str, Any] = THEN,
) -> Any:  # fmt: skip
    """The lines on the terminal and the record, of 40 answers of which 10 changed, or none; ``here``: equal twice."""
    rows, scores = [], []
    for query in range(QUERIES):
        for place, difference in enumerate(differences(query)):
            difference *= changed
            key = {"qid": f"q{query}", "prompt_id": f"p{query}", "seed": place}
            until = query if difference else None
            rows.append({**key, "equal": not difference, "same_until": until, "unit": "tokens"})
            rows[-1]["equal_here"] = len(rows) <= here if changed else None
            scores.append({**key, "references": "lenient", "then": 0.5, "now": 0.5 + difference})
    files = {name: folder / "d/lm" / name for name in ("answers.parquet", "receipt.json")}
    (folder / "d/lm/scores").mkdir(parents=True)
    pl.DataFrame(rows, schema_overrides={"equal_here": pl.Boolean}).write_parquet(files["answers.parquet"])
    files["receipt.json"].write_text(json.dumps({"stored": 100, "drawn": 40, "then": then, "now": now}))
    of_scorers = [folder / f"d/lm/scores/{name}.parquet" for name in scorers]
    for path in of_scorers:
        pl.DataFrame(scores).write_parquet(path)
    outputs = {"table": folder / "recheck.csv", "record": folder / "recheck.json"}
    said = recheck(
        of_pattern("{dataset}/{generator}/answers.parquet", str(files["answers.parquet"])),
        of_pattern("{dataset}/{generator}/receipt.json", str(files["receipt.json"])),
        of_pattern("{dataset}/{generator}/scores/{scorer}.parquet", map(str, of_scorers)),
        of_pattern("{dataset}/clusters.parquet", []),
        0.02,
        ["theirs"],
        outputs,
        "results/s/report/index.html",
    )
    return said, json.loads(outputs["record"].read_text())


def test_bit_equal_is_said_of_all_alone_and_is_approved(tmp_path: Path) -> None:
    said, record = written(tmp_path, False)
    answer, sentence, imported, page = said
    assert answer == "All 40 regenerated answers (drawn from 100) are bit-identical to the stored ones."
    assert recheck_answer(record).question == "Is it still the same model?"
    assert sentence.startswith("d · lm: all 40 regenerated answers (drawn from 100) are bit-identical to the stored")
    assert "so P is unchanged" in sentence
    assert imported.startswith("theirs: ") and page.endswith("results/s/report/index.html.")
    assert said[:-1] == [recheck_answer(record).sentence, *recheck_sentences(record)]
    assert record["rows"][0]["mean_difference"] == 0.0 and record["rows"][0]["n_flips"] == 0
    approve(APPROVED / "bit-identical.txt", said)


def test_changed_answers_are_counted_as_is_approved(tmp_path: Path) -> None:
    later = {**NOW, "engines": {"vllm 2.0 on GPU": 40}, "settings": {**CPU["settings"], "model_runner": {"V2": 40}}}
    said, record = written(tmp_path, True, later, ("minilm", "rougeL"), here=33)
    answer, equality, minilm, rouge, _, _ = said
    assert answer == "30 of 40 regenerated answers (drawn from 100) are bit-identical to the stored ones."
    assert "d · lm: 30 of 40 regenerated answers (drawn from 100) are bit-identical to the stored ones (75%" in equality
    # Odd queries from 1 to 19, each as many tokens: their median is 10.
    assert " Differing texts first differ after a median of 10 tokens." in equality
    assert (
        "vllm 1.0 on cpu" in equality and "vllm 2.0 on GPU" in equality and "model runner (was V1, now V2)" in equality
    )
    assert "A second regeneration on this machine, in two halves, changed 7 of the 40 answers." in equality
    means = pl.Series([sum(differences(query)) / 2 for query in range(QUERIES)]).to_numpy()
    change = ends(means.mean(), between(means))
    assert f"10 of 40 scores changed by more than 0.020; mean P changed by {change} over 20 queries" in minilm
    assert rouge == minilm.replace("minilm", "rougeL")
    assert percent(record["rows"][0]["equal_low"]) in equality
    approve(APPROVED / "changed.txt", said)


@pytest.mark.parametrize("addresses", [[], ["https://one/v1"], ["http://a:1/v1", "http://b:2/v1"]])
def test_of_an_endpoint_only_what_replies_say_is_approved(tmp_path: Path, addresses: list[str]) -> None:
    """Neither the client's version nor a processor, which records of earlier versions have (without addresses)."""
    settings = {"served_model": {"m-1": 40}, "system_fingerprint": {"fp_1": 40}}
    stored = {**SERVED, "settings": settings, "first_made": THEN["first_made"]}
    also = {"addresses": addresses} if addresses else {"processor": "a processor"}
    now = {**SERVED, **also, "first_made": NOW["first_made"]}
    now["settings"] = {**settings, "system_fingerprint": {"fp_2": 40}}
    said, _ = written(tmp_path, True, now, here=33, then=stored)
    place = f"the endpoint {' and '.join(addresses)}" if addresses else "an endpoint"
    assert (
        "Stored answers: from an endpoint (served model m-1, system fingerprint fp_1). Regenerated on 2026-11-27 with "
        f"{place} (served model m-1, system fingerprint fp_2); its software and processor are unknown. "
        "Settings that changed: system fingerprint (was fp_1, now fp_2)." in said[1]
    )
    assert "by the endpoint, in two halves, changed 7 of the 40 answers" in said[1]
    for wrong in ("openai", "2.45.0", "a processor", "this machine"):
        assert wrong not in "".join(said)
    if len(addresses) == 1:
        approve(APPROVED / "endpoint.txt", said)


@pytest.mark.parametrize(
    ("addresses", "named"), [(["https://one/v1"], "the endpoint https://one/v1"), ([], "an endpoint")]
)
def test_an_endpoint_whose_replies_name_nothing(tmp_path: Path, addresses: list[str], named: str) -> None:
    """Or that refuses all prompts, so that no address has replied."""
    now = {**SERVED, "first_made": NOW["first_made"], "addresses": addresses}
    said, _ = written(tmp_path, False, now, then={**SERVED, "first_made": THEN["first_made"]})
    unnamed = "(served model not given, system fingerprint not given)"
    assert (
        f"Stored answers: from an endpoint {unnamed}. Regenerated on 2026-11-27 with {named} {unnamed}; its sof"
        in said[1]
    )


def test_without_a_score_and_without_an_engine(tmp_path: Path) -> None:
    """Of a study with judges alone, and of one whose answers are all imported."""
    said, record = written(tmp_path, True, scorers=())
    assert "A second regeneration on this machine, in two halves, changed none of the answers." in said[1]
    assert len(said) == 4 and record["rows"][0]["scorer"] is None
    nothing = {"parts": [], "rows": [], "imported": ["theirs", "others"]}
    assert recheck_answer(nothing).sentence == "Answers from files cannot be regenerated."
    assert [text.split(":")[0] for text in recheck_sentences(nothing)] == ["theirs", "others"]
    row = {**record["rows"][0], "scorer": "s", "n_scored": 0}
    unscored = recheck_sentences({**record, "rows": [row]})
    assert unscored[1].endswith("no answer has both a stored and a new score.")
    lost = {**row, "n_scored": 5, "n_flips": 0, "margin": 0.02, "n_unpaired": 1, "mean_difference": 0.0}
    assert (
        "mean P did not change. 1 answer has only one of the two scores."
        in recheck_sentences({**record, "rows": [lost]})[1]
    )


def test_the_page_shows_what_the_provenance_has(tmp_path: Path) -> None:
    _, record = written(tmp_path, True)
    paths = {name: tmp_path / f"{name}.json" for name in ("with", "without")}
    paths["with"].write_text(json.dumps({"recheck": record}))
    paths["without"].write_text("{}")
    found = [page_part.read({}, type("Inputs", (), {"provenance": path}), None) for path in paths.values()]
    assert found == [record, None]
    shown = page_part.recheck_table(record)
    (cells,) = shown.rows
    by_title = dict(zip([column.title for column in shown.columns], cells, strict=True))
    assert (by_title["regenerated"], by_title["bit-identical"], by_title["flips"]) == ("40", "30", "10")


def test_a_record_of_one_making_is_read(tmp_path: Path) -> None:
    _, record = written(tmp_path, True)
    del record["parts"][0]["n_equal_here"]
    assert " tokens. Stored answers: " in recheck_sentences(record)[0]


def test_a_text_of_a_recheck_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/recheck/sentences.py", APPROVED, Path(__file__)) == []
