"""Several addresses of one model, against fake servers: the least busy first, another when one dies."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation import endpoint
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.endpoint_address import Servers
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import GENERATOR_KINDS, Request
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.status import failed_addresses, generation_status, show_status, unused_addresses
from ragrelay.generation.store import AnswerStore

from tests.support.fake_endpoint import DEFINITION, FakeServer
from tests.unit.generation.test_requests import Prompts
from tests.unit.generation.test_status import BEGUN, NOW, record, shard

pytestmark = pytest.mark.process

MANY = [Request(f"p{number}", 1, (), 0, f"prompt {number}") for number in range(40)]


@pytest.fixture
def two(server: FakeServer) -> Iterator[list[FakeServer]]:
    other = FakeServer()
    yield [server, other]
    other.released.set()
    other.server.shutdown()


def answers(definition: dict[str, Any]) -> list[str]:
    return sorted(row["prompt_id"] for row in EndpointEngine({**DEFINITION, **definition}).answers(iter(MANY)))


def test_each_server_gets_requests_and_each_request_goes_to_one(two: list[FakeServer]) -> None:
    """As many are open at each as may be at one."""
    for each in two:
        each.together.clear()
    assert answers({"base_url": [each.address for each in two]}) == sorted(request.prompt_id for request in MANY)
    prompts = [body["prompt"] for each in two for body in each.bodies]
    assert sorted(prompts) == sorted(request.prompt for request in MANY)
    assert [each.most for each in two] == [DEFINITION["concurrency"]] * 2


def test_one_that_dies_is_replaced(two: list[FakeServer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost, and nothing that it answered is asked again; it is not waited for."""
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: pytest.fail("a pause, while another address is at hand"))
    alive, dead = two
    rows = EndpointEngine({**DEFINITION, "base_url": [alive.address, dead.address]}).answers(iter(MANY))
    found = [next(rows)["prompt_id"]]
    while not dead.answered:
        found.append(next(rows)["prompt_id"])
    dead.server.shutdown()
    dead.server.server_close()
    found += [row["prompt_id"] for row in rows]
    assert sorted(found) == sorted(request.prompt_id for request in MANY)
    asked = [body["prompt"] for body in alive.bodies]
    assert len(asked) == len(set(asked)) and not set(asked) & set(dead.answered)


@pytest.mark.parametrize("status", [0, 401, 403])
def test_messages_name_the_address_that_failed(
    two: list[FakeServer],
    status: int,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    """A dead one is named once on the terminal and in the status; the terminal says at the end who gave the replies."""
    alive, failing = two
    definition = {"base_url": [alive.address, failing.address]}
    if status:
        failing.refusals = [status] * 99
        with pytest.raises(InputError, match=rf"^endpoint {failing.address}/, model 'm': found .*HTTP {status}"):
            answers(definition)
        return
    failing.server.shutdown()
    failing.server.server_close()
    assert len(answers(definition)) == len(MANY)
    named, shares = capsys.readouterr().err.splitlines()
    assert named.startswith(f"ragrelay: warning: endpoint {failing.address}/, model 'm': APIConnectionError")
    assert shares == (
        f"ragrelay: warning: replies of model 'm': {alive.address}/ gave {len(MANY)}, {failing.address}/ gave 0"
    )
    (tmp_path / "job.log").write_text("".join(record(1, each.getMessage()) for each in caplog.records))
    since = (NOW - timedelta(minutes=2)).timestamp()
    assert [*unused_addresses(tmp_path, since)] == [
        f"endpoint {failing.address}/, model 'm': no reply in 1 job; its requests went to other addresses"
    ]
    log = [BEGUN, *(record(1, each.getMessage()) for each in caplog.records)]
    [failed] = failed_addresses([shard(tmp_path, "bm25", *log), shard(tmp_path, "dense", *log)])
    assert f"ragrelay: warning: {failed}; the other addresses get its requests" == named
    assert failed_addresses([shard(tmp_path, "bm25", *log, BEGUN)]) == [], "the job has begun again"
    shown = show_status(generation_status([shard(tmp_path, "bm25", *log)], NOW), {}, [failed])
    assert shown.endswith(f"Failed addresses (other addresses got their requests):\n  {failed}")


class Named(FakeServer):
    """Its replies name a model and a system fingerprint."""

    def __init__(self, model: str | None, fingerprint: str | None = None) -> None:
        super().__init__()
        self.names = {"model": model, "system_fingerprint": fingerprint}

    def said(self, body: dict[str, Any]) -> dict[str, Any]:
        return super().said(body) | self.names


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("chat", [False, True])
def test_one_that_serves_another_model_ends_the_job(order: int, chat: bool) -> None:
    """No answer of it is yielded, whichever address is the first."""
    servers = [Named("m"), Named("other")][::order]
    rows = EndpointEngine({**DEFINITION, "chat": chat, "base_url": [each.address for each in servers]})
    found = []
    with pytest.raises(InputError, match=r"a reply from model '(m|other)', but earlier .* from '(other|m)'"):
        found += rows.answers(iter(MANY))
    assert found == []


def test_one_that_changes_its_model_later_ends_the_job() -> None:
    """What the first model answered is kept."""
    server = Named("m")
    answers = EndpointEngine({**DEFINITION, "base_url": server.address}).answers(iter(MANY))
    found = [next(answers)["prompt_id"] for _ in range(5)]
    server.names["model"] = "m-2"
    with pytest.raises(InputError, match=r"a reply from model 'm-2', but earlier replies or cached answers from 'm'"):
        found += [row["prompt_id"] for row in answers]
    assert len(found) < len(MANY)


@pytest.mark.parametrize("models", [("m", None), (None, None), (None, "m"), ("m", "m")])
def test_a_reply_that_names_no_model_is_taken(models: tuple[str | None, str | None]) -> None:
    servers = [Named(model, f"fp_{number}") for number, model in enumerate(models)]
    engine = EndpointEngine({**DEFINITION, "base_url": [each.address for each in servers]})
    assert len(list(engine.answers(iter(MANY)))) == len(MANY)
    assert engine.settings == {"system_fingerprint": "fp_0 + fp_1"} | ({"served_model": "m"} if any(models) else {})


def test_another_model_than_that_of_cached_answers_ends_the_job(tmp_path: Path) -> None:
    """Answers of earlier runs count, those of several systems are counted by system."""
    prompts = Prompts(tmp_path, {f"q{number}": f"question {number}" for number in range(4)})
    store, server = AnswerStore(tmp_path, "f"), Named("m", "fp_1")
    definition = {**DEFINITION, "flush_seconds": 0.0, "base_url": server.address}

    def run(seeds: list[int]) -> dict[str, Any]:
        asked = asked_keys({"bm25": prompts.files}, seeds)
        return generate_answers(asked, store, definition, prompts.layout, lambda one, _: EndpointEngine(one))

    first = run([1])
    server.names["system_fingerprint"] = "fp_2"
    assert run([1, 2])["settings"] == {
        "served_model": {"m": 2 * first["made"]}, "system_fingerprint": {"fp_1": first["made"], "fp_2": first["made"]},
    }  # fmt: skip
    server.names["model"] = "other"
    with pytest.raises(InputError, match=r"a reply from model 'other', but earlier replies or cached answers from 'm'"):
        run([1, 2, 3])
    assert run([1, 2])["cached"] == 2 * first["made"]


@pytest.mark.parametrize("reply", [(503, {}, b"no"), (200, {"Content-Type": "text/html"}, b"<html>")])
def test_one_that_is_busy_or_gives_no_completion_rests(two: list[FakeServer], reply: Any) -> None:
    """As behind a proxy that shows a page: another address is asked, not the same again and again."""
    busy, free = two
    busy.raw = [reply] * 100
    assert len(answers({"base_url": [busy.address, free.address]})) == len(MANY)
    assert len(free.answered) == len(MANY) and len(busy.bodies) <= DEFINITION["concurrency"] + 1


class Failing(FakeServer):
    """Fails the first ``times`` requests for prompt 5 with ``failure``."""

    def __init__(self, failure: tuple[int, dict[str, str], bytes], times: int = 1) -> None:
        super().__init__()
        self.failure, self.times = failure, times

    def reply_to(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes] | None:
        if body["prompt"] != "prompt 5" or not self.times:
            return None
        self.times -= 1
        return self.failure


CUT_OFF = (200, {"Content-Type": "application/json", "Content-Length": "999"}, b"{")
BUSY, DOWN = (429, {"Retry-After": "30"}, b"no"), (503, {}, b"no")


@pytest.fixture
def dead() -> str:
    server = FakeServer()
    server.server.shutdown()
    server.server.server_close()
    return server.address


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("failures", [(CUT_OFF, CUT_OFF), (BUSY, DOWN), (DOWN, BUSY)])
def test_retries_go_to_addresses_that_have_answered(
    failures: Any, place: int, dead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that failed at both live addresses spends no retry on the dead one, which was asked least."""
    monkeypatch.setattr(endpoint, "_pause", lambda state: 0.0)
    addresses = [Failing(failure).address for failure in failures]
    addresses.insert(place, dead)
    assert len(answers({"base_url": addresses, "max_retries": 3, "concurrency": 1})) == len(MANY)


def test_last_retries_avoid_an_address_that_never_answered(dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when its rest has ended."""
    monkeypatch.setattr(endpoint, "REST_SECONDS", 0.0)
    addresses = [dead, Failing(CUT_OFF).address]
    assert len(answers({"base_url": addresses, "max_retries": 3, "concurrency": 1})) == len(MANY)


def test_the_error_that_ends_a_job_says_who_gave_the_replies(dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_pause", lambda state: 0.0)
    live = Failing(DOWN, times=99).address
    with pytest.raises(InputError, match=rf"HTTP 503.* \(replies: {dead}/ gave 0, {live}/ gave [1-9]\d*\); expected"):
        answers({"base_url": [dead, live], "max_retries": 3, "concurrency": 1})


def test_if_all_rest_the_one_that_answered_and_rests_shortest() -> None:
    servers = Servers(["dead", "a", "b", "new"])
    for address, seconds in {"dead": 0.0, "a": 60.0, "b": 30.0}.items():
        servers.rest(address, seconds)
    assert servers.others(last=True), "none has answered"
    servers.answered("a")
    servers.answered("b")
    with servers.one() as one, servers.one() as two, servers.one(last=True) as three:
        assert (one, two, three) == ("dead", "new", "new"), "only the dead one has failed"
    servers.rest("new", 10.0)
    assert servers.others() and not servers.others(last=True)
    with servers.one(last=True) as address:
        assert address == "b"
    servers.rest("dead", 20.0)
    servers.rest("b", 90.0)
    with servers.one() as address:
        assert address == "a"


def test_the_environment_may_have_several(two: list[FakeServer], monkeypatch: pytest.MonkeyPatch) -> None:
    """As in OPENAI_BASE_URL=$(cat served-*.txt)."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{two[0].address}\n{two[1].address}\n")
    assert len(answers({})) == len(MANY) and all(each.answered for each in two)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{two[0].address} ftp://host")
    with pytest.raises(InputError, match="variable OPENAI_BASE_URL: found 'ftp://host'; expected an http"):
        EndpointEngine(DEFINITION)


def test_the_least_busy_first() -> None:
    servers = Servers(["a", "b", "c"])
    with servers.one() as one, servers.one() as two, servers.one() as three:
        assert {one, two, three} == {"a", "b", "c"}
        servers.rest("a", 60.0)
        with servers.one() as four, servers.one() as five:
            assert {four, five} == {"b", "c"}
    for name in "bc":
        servers.rest(name, 60.0)
    with servers.one() as any_of_them:
        assert any_of_them in "abc" and not servers.others()


def test_several_addresses_are_one_in_the_fingerprint() -> None:
    """That of the first, so that another one asks for nothing anew; the environment's has none."""
    prints = {
        str(given): fingerprint({**DEFINITION, "model": "a/b", **({"base_url": given} if given else {})})
        for given in ("http://a/v1", ["http://a/v1"], ["http://a/v1", "http://b/v1"], "http://b/v1", None)
    }
    one, listed, both, other, environment = prints.values()
    assert one == listed == both != other and environment not in (one, other)


@pytest.mark.parametrize("given", [["http://a/v1", "ftp://b"], ["http://user@a/v1"], "served-*.txt", "b:80"])
def test_each_address_is_checked(given: Any, config: dict[str, Any]) -> None:
    entry = {"engine": "openai", "model": "m", "prompt": "p", "base_url": given}
    with pytest.raises(InputError, match=r"^key 'generators\.lm\.base_url': found"):
        GENERATOR_KINDS.of(entry).check("key 'generators.lm", None)  # type: ignore[arg-type]
