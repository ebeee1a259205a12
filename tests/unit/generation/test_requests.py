"""Generation's requests: prefix order, shards, and token ids within the window."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.generation import requests
from ragrelay.generation.requests import asked_keys, over_window, sharded_keys, tokenised, window_of, with_texts
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.prompting.layout import Layout, kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template

from tests.support.chat_model import build_chat_model

TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{i}:{text} ")
KS = (1, 2, 5)


class Prompts:
    """Prompt files of queries with contexts of random lengths."""

    def __init__(self, folder: Path, queries: dict[str, str], longest: int = 60) -> None:
        chance = random.Random(1)
        self.queries = pl.DataFrame({"qid": list(queries), "query": list(queries.values())})
        rows = [
            (qid, rank, f"{qid}-{rank}", chr(96 + rank) * chance.randrange(1, longest))
            for qid in queries
            for rank in range(1, 6)
        ]
        self.contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
        write_parquet(self.queries, folder / "queries.parquet")
        write_parquet(self.contexts, folder / "contexts.parquet")
        self.files: list[Path] = []
        self.cells: list[tuple[str, int]] = []
        for ordering, k in itertools.product(["descending", "ascending"], KS):
            self.cells.append((ordering, k))
            self.files.append(folder / f"{ordering}-{k}.parquet")
            write_parquet(kshot_prompts(self.queries, self.contexts, TEMPLATE, ordering, k), self.files[-1])
        self.zeroshot = folder / "zeroshot.parquet"
        write_parquet(zeroshot_prompts(self.queries, TEMPLATE), self.zeroshot)
        self.layout = Layout(TEMPLATE, folder / "queries.parquet", {"bm25": folder / "contexts.parquet"})


@pytest.fixture
def prompts(tmp_path: Path) -> Prompts:
    return Prompts(tmp_path, {f"q{i}": f"question {i}" for i in (3, 12, 1, 7, 5, 9, 2)})


def pairs(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.select("prompt_id", "seed").rows()


def of_bm25(files: Sequence[Path], seeds: Sequence[int] = (1,), shard: int = 0, shards: int = 1) -> pl.DataFrame:
    """Asked keys of one retriever's files, with their texts."""
    return pl.concat(with_texts(asked_keys({"bm25": files}, seeds, shard, shards)))


def test_prefix_order_within_a_query(prompts: Prompts) -> None:
    """Files keep their order, zero-shot and other retrievers included; a shared prompt is the first retriever's."""
    files = {"zeroshot": [prompts.zeroshot], "bm25": prompts.files[:4], "dense": prompts.files[2:]}
    asked = asked_keys(files, [3, 1])
    expected = []
    for qid in asked["qid"].unique(maintain_order=True):
        seen = set()
        for file in (prompts.zeroshot, *prompts.files):
            prompt_id = pl.read_parquet(file).filter(qid=qid)["prompt_id"].item()
            expected += [(prompt_id, seed) for seed in (3, 1) if prompt_id not in seen]
            seen.add(prompt_id)
    assert pairs(asked) == expected
    one = asked.filter(qid="q3", seed=3)
    assert one["retriever"].to_list() == ["zeroshot", "bm25", "bm25", "bm25", "dense", "dense"]


def test_queries_are_in_an_order_of_their_own(prompts: Prompts) -> None:
    """The order of the files' rows has no say: what is finished first is no sample of a file's beginning."""
    order = asked_keys({"bm25": prompts.files}, [1])["qid"].unique(maintain_order=True).to_list()
    assert order not in ([*prompts.queries["qid"]], sorted(order), sorted(order, reverse=True))
    for file in prompts.files:
        pl.read_parquet(file).sort("qid").write_parquet(file)
    again = asked_keys({"bm25": prompts.files}, [1])["qid"].unique(maintain_order=True).to_list()
    assert again == order
    many = pl.DataFrame({"qid": [f"q{number:04}" for number in range(400)]})
    table = many.with_columns(docnos=pl.lit([], pl.List(pl.String)), prompt="p " + pl.col("qid"), system=pl.lit(""))
    table.with_columns(prompt_id="id " + pl.col("qid")).write_parquet(prompts.zeroshot)
    places = asked_keys({"zeroshot": [prompts.zeroshot]}, [1])["qid"].str.slice(1).cast(pl.Int64)
    correlation = pl.DataFrame({"place": range(400), "number": places}).select(pl.corr("place", "number")).item()
    assert abs(correlation) < 0.15


def test_texts_come_in_parts_of_whole_queries(prompts: Prompts, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_keys({"bm25": prompts.files}, [1, 2])
    [whole] = with_texts(asked)
    monkeypatch.setattr(requests, "TEXT_BYTES", 300)
    parts = list(with_texts(asked))
    assert len(parts) > 3 and pl.concat(parts).equals(whole)
    assert sum(part["qid"].n_unique() for part in parts) == 7
    assert pairs(whole) == pairs(asked)
    for prompt_id, docnos, prompt in whole.select("prompt_id", "docnos", "prompt").iter_rows():
        path = asked.filter(prompt_id=prompt_id)["path"][0]
        assert pl.read_parquet(path).filter(prompt_id=prompt_id).select("docnos", "prompt").row(0) == (docnos, prompt)


def test_each_prompt_once(prompts: Prompts) -> None:
    """One passage is the same prompt in every ordering."""
    asked = asked_keys({"bm25": prompts.files}, [1])
    assert len(asked) == 7 * (2 * len(KS) - 1) == len(set(pairs(asked)))


def test_prompts_with_seeds_are_asked_with_these_alone(prompts: Prompts) -> None:
    """A prompt that two seeds share is asked twice, one that two files share with a seed once."""
    first, second = prompts.files[:2]
    table = pl.read_parquet(first)
    seven, nine = (table.with_columns(seed=pl.lit(seed, pl.Int64)) for seed in (7, 9))
    pl.concat([seven, nine.head(2)]).write_parquet(first)
    seven.head(3).write_parquet(second)
    asked = asked_keys({"bm25": [first], "dense": [second]}, [1, 2])
    expected = [(prompt_id, 7) for prompt_id in table["prompt_id"]] + [(key, 9) for key in table["prompt_id"][:2]]
    assert (
        sorted(pairs(asked)) == sorted(expected) and asked.columns == asked_keys({"b": [prompts.zeroshot]}, [1]).columns
    )
    assert pairs(pl.concat(with_texts(asked))) == pairs(asked)
    parts = [asked_keys({"bm25": [first], "dense": [second]}, [1, 2], shard, 3) for shard in range(3)]
    assert sorted(pair for part in parts for pair in pairs(part)) == sorted(expected)


def test_growing_k_shares_the_prefix(prompts: Prompts) -> None:
    asked = of_bm25(prompts.files[: len(KS)])
    for _, texts in asked.group_by("qid").agg("prompt").iter_rows():
        contexts = [text[: text.rindex("Q ")] for text in texts]
        assert all(longer.startswith(shorter) for shorter, longer in itertools.pairwise(contexts))


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 10])
def test_shards_partition_the_keys(prompts: Prompts, shards: int) -> None:
    whole = asked_keys({"bm25": prompts.files}, [1, 2])
    parts = [asked_keys({"bm25": prompts.files}, [1, 2], shard, shards) for shard in range(shards)]
    together = [pair for part in parts for pair in pairs(part)]
    assert len(together) == len(set(together)) and set(together) == set(pairs(whole))
    for part in parts:
        kept = set(pairs(part))
        assert pairs(part) == [pair for pair in pairs(whole) if pair in kept], "in the whole's order"
    owners = [set(part["qid"]) for part in parts]
    assert sum(map(len, owners)) == 7, "a query stays whole"


def test_shards_are_balanced(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path, {f"q{i}": "x" * (i % 5) for i in range(40)}, longest=400)
    sizes = [of_bm25(prompts.files, shard=shard, shards=4)["prompt"].str.len_bytes().sum() for shard in range(4)]
    assert max(sizes) < 1.05 * min(sizes), sizes


def test_prompt_of_two_queries_is_asked_by_one_shard(tmp_path: Path) -> None:
    """Twins have the same question and passages under two qids, beside prompts of their own."""
    for number in range(4):
        rows = [(f"q{i}", ["d"], f"shared {number} {i // 2} " + "x" * (i // 2 * 7 % 5)) for i in range(16)]
        rows = [(qid, docnos, text if number else f"own {qid}") for qid, docnos, text in rows]
        frame = pl.DataFrame(rows, schema=["qid", "docnos", "prompt"], orient="row")
        frame.with_columns(prompt_id="id of " + pl.col("prompt"), system=pl.lit("")).write_parquet(
            tmp_path / f"{number}.parquet"
        )
    files = [tmp_path / f"{number}.parquet" for number in range(4)]
    whole = asked_keys({"bm25": files}, [1])
    assert len(whole) == 16 + 3 * 8
    for _ in range(5):
        together = [pair for shard in range(3) for pair in pairs(asked_keys({"bm25": files}, [1], shard, 3))]
        assert sorted(together) == sorted(pairs(whole))


def requests_of(asked: pl.DataFrame, generator: dict[str, Any], window: int, layout: Layout) -> list[Any]:
    return list(tokenised(asked, generator, window, layout))


def test_exactly_one_bos(prompts: Prompts, generator: dict[str, Any]) -> None:
    asked = of_bm25(prompts.files)
    tokenizer = load_tokenizer(generator)
    for request, prompt in zip(requests_of(asked, generator, 2000, prompts.layout), asked["prompt"], strict=True):
        assert request.token_ids[0] == tokenizer.bos_token_id
        assert request.token_ids.count(tokenizer.bos_token_id) == 1
        assert tokenizer.eos_token_id not in request.token_ids
        assert tokenizer.decode(request.token_ids[1:]) == prompt


def test_requests_follow_the_keys(prompts: Prompts, generator: dict[str, Any]) -> None:
    asked = of_bm25(prompts.files, [5, 2])
    requests = requests_of(asked, generator, 2000, prompts.layout)
    assert [(request.prompt_id, request.seed) for request in requests] == pairs(asked)
    assert all(request.dropped_passages == 0 for request in requests)


def test_endpoint_without_a_tokenizer_gets_texts(prompts: Prompts, generator: dict[str, Any]) -> None:
    asked = of_bm25(prompts.files).with_columns(system=pl.lit("be brief"))
    served = {**generator, "engine": "openai", "model": "served"}
    assert window_of(served) is None
    texts = list(requests.requests_of(asked, served, None, prompts.layout))
    assert [(request.prompt, request.system, request.token_ids) for request in texts] == [
        (prompt, "be brief", ()) for prompt in asked["prompt"]
    ]
    with_ids = {**served, "tokenizer": generator["model"]}
    ids = list(requests.requests_of(asked, with_ids, None, prompts.layout))
    assert [request.token_ids for request in ids] == [
        request.token_ids for request in requests_of(asked, generator, 2000, prompts.layout)
    ]


def test_over_window_is_an_error(prompts: Prompts, generator: dict[str, Any]) -> None:
    asked = of_bm25([prompts.files[2]]).filter(qid="q3")
    tokens = len(asked["prompt"].item().encode()) + 1
    assert len(requests_of(asked, generator, tokens + 16, prompts.layout)) == 1, "just fits, with max_tokens = 16"
    with pytest.raises(InputError) as error:
        requests_of(asked, generator, tokens + 15, prompts.layout)
    message = str(error.value)
    parts = [
        "qid 'q3'",
        "5 passages",
        f"found {tokens} tokens",
        f"at most {tokens - 1} (window {tokens + 15}",
        "truncate",
    ]
    assert all(part in message for part in parts) and "\n" not in message, message


def kept_docnos(prompts: Prompts, qid: str, prompt: str) -> Sequence[str]:
    texts = dict(prompts.contexts.filter(qid=qid).select("text", "docno").iter_rows())
    return [texts[piece.split(":", 1)[1]] for piece in prompt[: prompt.rindex("Q ")].split()]


@pytest.mark.parametrize("cell", [2, 5], ids=["descending", "ascending"])
def test_truncate_drops_the_end_of_the_ranking(prompts: Prompts, generator: dict[str, Any], cell: int) -> None:
    asked = of_bm25([prompts.files[cell]], [1, 2])
    cutting = {**generator, "over_window": "truncate"}
    tokenizer, window = load_tokenizer(generator), 140
    dropped = set()
    for request, (qid, docnos) in zip(
        requests_of(asked, cutting, window, prompts.layout), asked.select("qid", "docnos").iter_rows(), strict=True
    ):
        kept = kept_docnos(prompts, qid, tokenizer.decode(request.token_ids[1:]))
        ranking = prompts.contexts.filter(qid=qid).sort("rank")["docno"].to_list()
        expected = ranking[: 5 - request.dropped_passages]
        assert kept == [docno for docno in docnos if docno in expected], "whole passages, in the ordering's order"
        assert len(request.token_ids) <= window - 16
        one_more = sum(len(t) for t in prompts.contexts.filter(qid=qid).sort("rank")["text"][: len(expected) + 1])
        assert request.dropped_passages == 0 or one_more + 3 * (len(expected) + 1) + 14 > window - 16, (
            "no more than must"
        )
        dropped.add(request.dropped_passages)
    assert len(dropped) > 2, "the test's texts should need different cuts"


def test_truncate_never_drops_the_last_passage(prompts: Prompts, generator: dict[str, Any]) -> None:
    cutting = {**generator, "over_window": "truncate"}
    for file in (prompts.files[0], prompts.files[2], prompts.zeroshot):
        layout = prompts.layout if file != prompts.zeroshot else Layout(TEMPLATE, prompts.layout.queries, {})
        with pytest.raises(InputError, match="tokens; expected at most 4"):
            requests_of(of_bm25([file]), cutting, 20, layout)


def test_window(generator: dict[str, Any]) -> None:
    assert window_of(generator) == 512
    assert window_of({**generator, "max_model_len": 100}) == 100


@pytest.mark.parametrize("change", [{}, {"over_window": "truncate"}, {"chat": True}], ids=["error", "truncate", "chat"])
def test_prompts_over_the_window_are_found_before_any_request(
    prompts: Prompts, generator: dict[str, Any], tmp_path: Path, change: dict[str, Any]
) -> None:
    """They are exactly those that tokenised refuses, though only long prompts are tokenised to find them."""
    definition = {**generator, **change}
    if "chat" in change:
        definition["model"] = str(build_chat_model(tmp_path / "model"))
    asked = sharded_keys({"zeroshot": [prompts.zeroshot], "bm25": prompts.files}, [1, 2], 1)
    [texts] = with_texts(asked)
    lengths = sorted(len(request.token_ids) for request in tokenised(texts, definition, None, prompts.layout))
    for window in {length + 16 + more for length in lengths[:: len(lengths) // 12] for more in (-1, 0, 1)}:
        refused: dict[str, InputError] = {}
        made = list(tokenised(texts, definition, window, prompts.layout, refused))
        assert over_window(asked, definition, window, prompts.layout).keys() == refused.keys()
        assert {request.prompt_id for request in made}.isdisjoint(refused)
        assert len(made) + 2 * len(refused) == len(asked)
