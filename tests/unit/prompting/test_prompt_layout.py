"""The prompting stage: which passages stand in which prompt, in which order."""

import hashlib

import polars as pl
from ragrelay.prompting.layout import SCHEMA, build_single_prompts, kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template

TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{i}:{text} ")
QUERIES = pl.DataFrame({"qid": ["q9", "q1", "q5"], "query": ["nine", "one", "five"]})
CONTEXTS = pl.DataFrame(
    [("q1", 2, "b", "B"), ("q1", 1, "a", "A"), ("q1", 3, "c", "C"), ("q9", 1, "z", "Z"), ("q9", 2, "y", "Y")],
    schema=["qid", "rank", "docno", "text"],
    orient="row",
)


def test_descending() -> None:
    prompts = kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "descending", 2)
    assert prompts.select("qid", "docnos", "prompt").rows() == [
        ("q9", ["z", "y"], "1:Z 2:Y Q nine"),
        ("q1", ["a", "b"], "1:A 2:B Q one"),
    ]
    assert dict(prompts.schema) == SCHEMA


def test_ascending_takes_the_best_and_turns_them_round() -> None:
    prompts = kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "ascending", 2)
    assert prompts["docnos"].to_list() == [["y", "z"], ["b", "a"]]
    assert prompts["prompt"].to_list() == ["1:Y 2:Z Q nine", "1:B 2:A Q one"]


def test_fewer_than_k_gets_all_and_none_gets_no_row() -> None:
    prompts = kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "descending", 3)
    assert prompts["docnos"].to_list() == [["z", "y"], ["a", "b", "c"]]
    assert "q5" not in prompts["qid"].to_list()


def test_contexts_nest_as_k_grows() -> None:
    texts = [kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "descending", k)["prompt"][1] for k in (1, 2, 3)]
    shared = [text.removesuffix("Q one") for text in texts]
    assert shared[2].startswith(shared[1]) and shared[1].startswith(shared[0]) and shared[0]


def test_random_is_shuffled_by_query() -> None:
    queries = pl.DataFrame({"qid": [f"q{i}" for i in range(20)], "query": ["same"] * 20})
    contexts = pl.DataFrame(
        [(qid, rank, f"d{rank}", f"t{rank}") for qid in queries["qid"] for rank in range(1, 6)],
        schema=["qid", "rank", "docno", "text"],
        orient="row",
    )
    layouts = {tuple(row) for row in kshot_prompts(queries, contexts, TEMPLATE, "random", 5)["docnos"].to_list()}
    assert len(layouts) > 10


def test_zeroshot_has_a_row_for_every_query() -> None:
    prompts = zeroshot_prompts(QUERIES, TEMPLATE)
    assert prompts.select("qid", "docnos", "prompt").rows() == [
        ("q9", [], "Q nine"), ("q1", [], "Q one"), ("q5", [], "Q five"),
    ]  # fmt: skip
    assert dict(prompts.schema) == SCHEMA


def test_system_part_is_part_of_the_id() -> None:
    chat = Template(**vars(TEMPLATE) | {"system_zeroshot": "brief", "system_kshot": "read"})
    kshot, zeroshot = kshot_prompts(QUERIES, CONTEXTS, chat, "descending", 1), zeroshot_prompts(QUERIES, chat)
    assert set(kshot["system"]) == {"read"} and set(zeroshot["system"]) == {"brief"}
    plain = kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "descending", 1)
    assert set(plain["system"]) == {""} and kshot["prompt"].equals(plain["prompt"])
    assert not set(kshot["prompt_id"]) & set(plain["prompt_id"])
    other = Template(**vars(TEMPLATE) | {"system_zeroshot": "brief", "system_kshot": "look"})
    assert not set(kshot_prompts(QUERIES, CONTEXTS, other, "descending", 1)["prompt_id"]) & set(kshot["prompt_id"])


def test_prompt_id_is_the_sha256_of_the_text() -> None:
    queries = QUERIES.with_columns(query=pl.lit('é "{x}"'))
    for prompts in (zeroshot_prompts(queries, TEMPLATE), kshot_prompts(queries, CONTEXTS, TEMPLATE, "ascending", 2)):
        expected = [hashlib.sha256(text.encode()).hexdigest() for text in prompts["prompt"]]
        assert prompts["prompt_id"].to_list() == expected


def test_a_processed_context_shows_the_texts_of_its_k() -> None:
    shown = pl.Series(
        "shown",
        [[{"k": 2, "text": "b2"}], [{"k": 1, "text": "a1"}, {"k": 2, "text": "a2"}], [], [], [{"k": 2, "text": "y"}]],
        dtype=pl.List(pl.Struct({"k": pl.Int64, "text": pl.String})),
    )
    contexts = CONTEXTS.with_columns(shown)
    prompts = {k: kshot_prompts(QUERIES, contexts, TEMPLATE, "ascending", k) for k in (1, 2)}
    assert prompts[2].select("qid", "docnos", "prompt").rows() == [
        ("q9", ["y"], "1:y Q nine"),
        ("q1", ["b", "a"], "1:b2 2:a2 Q one"),
    ]
    emptied, kept = prompts[1].select("docnos", "prompt", "prompt_id").rows()
    assert kept[:2] == (["a"], "1:a1 Q one")
    assert emptied == ([], "Q nine", zeroshot_prompts(QUERIES, TEMPLATE)["prompt_id"][0]), "the prompt without context"
    alone = build_single_prompts(QUERIES, contexts, TEMPLATE, 1)
    assert alone["prompt"].to_list() == ["1:Z Q nine", "1:A Q one"], "a label belongs to the whole passage"
