"""A whole study behind an endpoint that echoes its key: the key is in no log, page, table or record."""

import json
from pathlib import Path

import pytest

from tests.e2e.test_security import content
from tests.support.fake_endpoint import FakeServer
from tests.support.sandbox import Sandbox

KEY = "s3cret-0f-the-endpoint"


@pytest.mark.full
def test_a_key_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeServer()
    monkeypatch.setenv("MY_ENDPOINT_KEY", KEY)
    study = Sandbox(tmp_path / "study", queries=4)
    served = {"engine": "openai", "model": "m", "prompt": "tian2025", "base_url": server.address, "max_tokens": 7}
    study.config["generators"] = {"served": {**served, "api_key_env": "MY_ENDPOINT_KEY", "max_retries": 0}}
    grid = {"retrievers": ["rel", "nrel"], "orderings": ["descending"], "k": [1, 2], "seeds": [1],
            "generators": ["served"]}  # fmt: skip
    study.config["grid"] = {**study.config["grid"], **grid}
    study.write_config()
    server.refusals = [401]
    refused = study.snakemake("all_answers", check=False)
    said = refused.stdout + refused.stderr
    assert refused.returncode and "HTTP 401 that contains the endpoint's key" in said and KEY not in said
    server.refusals.clear()
    echo = {
        "choices": [{"text": "tea", "finish_reason": f"Bearer {KEY}"}],
        "usage": server.said({"prompt": ""})["usage"],
    }
    server.raw = [(200, {}, json.dumps(echo).encode())]
    echoed = study.snakemake("all_answers", check=False)
    assert echoed.returncode and "found the API key in a reply, which is therefore" in echoed.stdout + echoed.stderr
    assert KEY not in echoed.stdout + echoed.stderr
    done = study.snakemake()
    server.server.shutdown()
    assert set(server.keys) == {f"Bearer {KEY}"} and KEY not in done.stdout + done.stderr
    assert (study.results / "report/index.html").is_file()
    files = [path for path in study.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in files if KEY.encode() in content(path)]
