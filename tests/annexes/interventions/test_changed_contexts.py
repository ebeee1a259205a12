"""Changed contexts by hand: what is drawn, where it goes, what cannot be changed, and how prompts are shared."""

import math

import polars as pl
import pytest
from ragrelay.annexes.interventions.columns import KEY
from ragrelay.annexes.interventions.prompts import build_changed_prompts
from ragrelay.base.io.hashing import text_hash
from ragrelay.prompting.layout import kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template

from tests.annexes.interventions.made_contexts import DUPLICATE, LEAVE_OUT, SWAP, changed, contexts_of, text_of

TEMPLATE = Template(zeroshot="{query}", kshot="{contexts}{query}", context="{i} {text}\n")


def docnos(table: pl.DataFrame, **row: object) -> list[str]:
    return table.filter(**row)["docnos"].to_list()[0]


def test_a_swap_puts_both_arms_into_every_place() -> None:
    table = changed({"swap": SWAP}).contexts
    assert table.height == 6
    (relevant,) = table.filter(arm="relevant")["docno"].unique()
    (other,) = table.filter(arm="other")["docno"].unique()
    assert (relevant in "df", other in "eg") == (True, True)
    for place in (1, 2, 3):
        for arm, docno in (("relevant", relevant), ("other", other)):
            expected = list("abc")
            expected[place - 1] = docno
            assert docnos(table, place=place, arm=arm) == expected


def test_places_are_those_of_the_prompt() -> None:
    table = changed({"swap": SWAP | {"places": "first"}}, ordering="ascending").contexts
    relevant = table.filter(arm="relevant")["docno"][0]
    assert docnos(table, arm="relevant") == [relevant, "b", "a"]
    assert changed({"swap": SWAP | {"places": "ends"}}).contexts["place"].unique().to_list() == [1, 3]
    assert changed({"swap": SWAP | {"places": "last"}}).contexts["place"].unique().to_list() == [3]


def test_the_measure_is_that_of_the_ranking() -> None:
    """In ascending order the first place of the prompt has the last rank."""
    table = changed({"swap": SWAP | {"places": "first"}}, ordering="ascending").contexts
    ideal = 3 + 2 / math.log2(3) + 2 / math.log2(4)
    value = dict(table.select("arm", "value").iter_rows())
    assert value["relevant"] == pytest.approx((3 + 2 / math.log2(4)) / ideal)
    assert value["other"] == pytest.approx(3 / ideal)


def test_the_second_passage_is_alike_in_length() -> None:
    """Of e (30 words) and g (11), g goes with d (10) and f (11); e is left for the second draw."""
    table = changed({"swap": SWAP | {"draws": 2}}).contexts
    pairs = table.filter(place=1).sort("draw", "arm").select("draw", "arm", "docno").rows()
    assert [docno for draw, arm, docno in pairs if arm == "other"] == ["g", "e"]
    assert sorted(docno for _, arm, docno in pairs if arm == "relevant") == ["d", "f"]
    third = changed({"swap": SWAP | {"draws": 9}}).contexts
    assert third["draw"].max() == 1


def test_all_k_share_the_passages_that_are_put_in() -> None:
    table = changed({"swap": SWAP}, qids=[f"q{place}" for place in range(9)], ks=(1, 3)).contexts
    assert table.group_by("qid", "arm").agg(pl.col("docno").n_unique())["docno"].unique().to_list() == [1]
    assert table["docno"].n_unique() > 2  # drawn by query
    seeded = changed({"swap": SWAP | {"seed": 1}}, qids=[f"q{place}" for place in range(9)], ks=(1, 3)).contexts
    assert not seeded.equals(table)


def test_near_copies_are_not_put_in() -> None:
    """d and g are near copies of a and b; d alone where docnos decide."""
    copies = {"d": f"{text_of('a')} and", "g": f"{text_of('b')} or"}
    table = changed({"swap": SWAP}, **copies).contexts
    assert set(table["docno"]) == {"f", "e"}
    assert set(changed({"swap": SWAP | {"draws": 2}}, near_copy=None, **copies).contexts["docno"]) == set("dfeg")


def test_a_query_that_is_a_passage_is_not_its_own_answer() -> None:
    """d would be the relevant passage that is put in, where it is not the query itself."""
    alone = changed({"swap": SWAP}, qids=["d"], left_out="f", own_passages=False)
    assert alone.contexts.is_empty() and "without a relevant passage" in alone.left_out[0]["what"]
    assert set(changed({"swap": SWAP}, qids=["d"], left_out="f").contexts.filter(arm="relevant")["docno"]) == {"d"}


def test_two_passages_that_are_near_copies_make_no_pair() -> None:
    alike = {"d": "one two three four five six", "e": "one two three four five seven"}
    table = changed({"swap": SWAP}, left_out="fg", **alike)
    assert table.contexts.is_empty()
    assert table.left_out == [
        {"what": "swap, k = 3: queries without a judged non-relevant passage that the context lacks", "count": 1}
    ]


@pytest.mark.parametrize(
    ("left_out", "ks", "reason"),
    [
        ("df", (3,), "without a relevant passage that the context lacks"),
        ("eg", (3,), "without a judged non-relevant passage that the context lacks"),
        ("", (4,), "with fewer than k passages"),
    ],
)
def test_what_cannot_be_changed_is_counted(left_out: str, ks: tuple[int, ...], reason: str) -> None:
    made = changed({"swap": SWAP}, qids=["q1", "q2"], ks=ks, left_out=left_out)
    assert made.contexts.is_empty()
    assert made.left_out == [{"what": f"swap, k = {ks[0]}: queries {reason}", "count": 2}]


def test_leaving_out_has_the_context_as_it_was_and_one_less() -> None:
    table = changed({"leave_out": LEAVE_OUT}, ordering="ascending").contexts
    assert docnos(table, place=0) == ["c", "b", "a"]
    assert table.select("place", "arm", "docno").rows() == [
        (0, "unchanged", None), (1, "between", "c"), (2, "other", "b"), (3, "relevant", "a"),
    ]  # fmt: skip
    assert docnos(table, place=3) == ["c", "b"]
    made = changed({"leave_out": LEAVE_OUT}, ks=(1,))
    assert made.contexts.is_empty()
    assert [row["what"] for row in made.left_out] == [
        "leave_out, k = 1: queries without a judged non-relevant passage in the context"
    ]


def test_a_copy_comes_last_and_has_no_measure() -> None:
    table = changed({"duplicate": DUPLICATE}).contexts
    assert docnos(table, place=1) == ["a", "b", "c", "a"]
    assert table["value"].null_count() == table.height


def test_prompts_that_cells_have_keep_their_ids() -> None:
    """Without the last passage it is the context of k = 2; the context as it was is the cell's own."""
    queries = pl.DataFrame({"qid": ["q1"], "query": ["why"]})
    made, contexts = changed({"leave_out": LEAVE_OUT, "swap": SWAP}), contexts_of(["q1"])
    prompts = build_changed_prompts(queries, made.contexts, contexts, made.texts, TEMPLATE)
    ids = {(row["intervention"], row["place"]): row["prompt_id"] for row in prompts.to_dicts()}
    cells = [kshot_prompts(queries, contexts, TEMPLATE, "descending", k)["prompt_id"][0] for k in (2, 3)]
    assert [ids["leave_out", 3], ids["leave_out", 0]] == cells
    relevant = prompts.filter(intervention="swap", place=2, arm="relevant").to_dicts()[0]
    shown = [text_of(docno) for docno in relevant["docnos"]]
    assert relevant["prompt"] == "".join(f"{i} {text}\n" for i, text in enumerate(shown, 1)) + "why"
    assert relevant["prompt_id"] == text_hash(relevant["prompt"])
    assert prompts.select(KEY).n_unique() == prompts.height


def test_a_context_without_passages_is_the_zero_shot_prompt() -> None:
    queries = pl.DataFrame({"qid": ["q1"], "query": ["why"]})
    row = changed({"leave_out": LEAVE_OUT}).contexts.head(1).with_columns(docnos=pl.lit([], pl.List(pl.String)))
    prompts = build_changed_prompts(queries, row, contexts_of(["q1"]), contexts_of([]), TEMPLATE)
    assert prompts["prompt_id"].to_list() == zeroshot_prompts(queries, TEMPLATE)["prompt_id"].to_list()
