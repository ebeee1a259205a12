"""Nothing of data, configuration or models is run as code, and nothing of them leaves the place it is meant for."""

import ast
import json
import os
import random
import re
import string
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import READ_ONLY
from ragrelay.base.io.secret_values import check_no_secret
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.config.checks import check_cache_folder
from ragrelay.config.schema import load_schema
from ragrelay.generation.requests import window_of
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.prompting.templates import load_template
from ragrelay.scoring.encoder import Encoder

from tests.support.bad_input_changes import NO_TENSORS
from tests.support.rule_files import RULE_FILES
from tests.support.sandbox import ROOT
from tests.unit.conftest import at, study_of

CODE = (
    "eval",
    "exec",
    "compile",
    "__import__",
    "pickle",
    "marshal",
    "shelve",
    "system",
    "popen",
    "unsafe_load",
    "full_load",
)


def test_no_code_is_made_of_text() -> None:
    """Ruff has rules on the same, but does not see Snakemake's files."""
    for path in [ROOT / "Snakefile", *RULE_FILES, *(ROOT / "workflow").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            rf"(?<![\w.])(?<!def )(?:{'|'.join(CODE)})\(|yaml\.load\(|shell\s*=\s*True|allow_pickle=True", text
        ), path


def test_no_rule_hands_anything_to_a_shell() -> None:
    """Scripts get their values as values. A shell command would need :q after every name in it."""
    for path in [ROOT / "Snakefile", *RULE_FILES]:
        text = path.read_text(encoding="utf-8")
        commands = re.findall(r"^ +shell:(.*?)(?=^\S|^ {4}\w+:|\Z)", text, re.MULTILINE | re.DOTALL)
        assert not [
            name
            for command in commands
            for name in re.findall(r"(?<!\{)\{([^{}]+)\}", command)
            if not name.endswith(":q")
        ]


@pytest.mark.parametrize(
    "name", ["../up", "a/b", ".hidden", "a b", "..", "a\n", "", "-rf", "$(x)", "{k}", "<b>", "é", "a\\b", "x" * 65]
)
@pytest.mark.parametrize("place", ["study", "generators.lm.prompt", "datasets", "retrievers", "generators", "scorers"])
def test_names_that_become_paths(config: dict[str, Any], tmp_path: Path, place: str, name: str) -> None:
    if place in ("study", "generators.lm.prompt"):
        at(config, place, name)
    else:
        config[place][name] = config[place].pop(config["grid"][place][0])
        config["grid"][place][0] = name
    with pytest.raises(InputError, match="a name of at most 64 letters, digits"):
        study_of(config, tmp_path)


def test_every_name_of_the_catalogue_is_restricted() -> None:
    schema = load_schema()
    for section in ("datasets", "retrievers", "generators", "scorers"):
        assert schema["properties"][section]["propertyNames"] == {"pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"}


def test_yaml_builds_no_objects(tmp_path: Path) -> None:
    path, made = tmp_path / "t.yaml", tmp_path / "made"
    path.write_text(f'zeroshot: !!python/object/apply:os.mkdir ["{made}"]\nkshot: x\ncontext: x\n')
    with pytest.raises(InputError, match="invalid YAML"):
        load_template(path)
    with pytest.raises(yaml.YAMLError):
        read_yaml(path)
    assert not made.exists()


def model_with_code(folder: Path) -> str:
    """A model folder that brings code of its own, which leaves a trace where it is run."""
    folder.mkdir()
    names = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": ["own.Tokenizer", None]}
    (folder / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": names}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": names, "tokenizer_class": "Tokenizer"}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(NO_TENSORS)
    (folder / "own.py").write_text(f"import pathlib\npathlib.Path({str(folder / 'made')!r}).mkdir()\n")
    return str(folder)


def test_code_of_models_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked on the terminal whether it may be."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked"))
    model = model_with_code(tmp_path / "model")
    generator = {"engine": "vllm", "model": model, "trust_remote_code": False}
    with pytest.raises(InputError, match="found model_type 'own' in"):
        Encoder({"model": model, "layer": 1, "device": "cpu"})
    monkeypatch.setattr("ragrelay.scoring.encoder.check_model", lambda *_, **__: None)
    with pytest.raises(InputError, match="a loading error"):
        Encoder({"model": model, "layer": 1, "device": "cpu"})
    for read in (load_tokenizer, window_of):
        with pytest.raises(ValueError, match="trust_remote_code"):
            read(generator)
    assert not (tmp_path / "model/made").exists()


def test_trusting_a_models_code_is_a_choice(config: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(config, tmp_path).generator("lm")["trust_remote_code"] is False
    for name in ("scorers.minilm", "retrievers.t5"):
        at(config, f"{name}.trust_remote_code", True)
        with pytest.raises(InputError, match="unknown key 'trust_remote_code'"):
            study_of(config, tmp_path)
        at(config, f"{name}.trust_remote_code", ...)


RANDOM = random.Random(20)
BASE62 = string.ascii_letters + string.digits
SECRETS = {
    "a hub's token": "hf_" + "aB3" * 11,
    "OpenAI's": "sk-" + "1234567890abcdef" * 2,
    "OpenAI's of a project": "sk-proj-" + "aB3-dE_" * 3 + "aB3dE6gH9jK1mN4pQ7",
    "Anthropic's": "sk-ant-api03-" + "Zx8c7Vb6n5Ma4s3Df2" * 4,
    "OpenRouter's": "sk-or-v1-" + "0123456789abcdef" * 4,
    "Groq's": "gsk_" + "aB3dE6gH9jK1mN4pQ7sT" * 2,
    "GitHub's": "ghp_" + "aB3dE6gH9jK1" * 3,
    "GitHub's of a project": "github_pat_" + "11ABCDEFG0" * 4,
    "Google's": "AIzaSy" + "D-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "Amazon's": "AKIA" + "IOSFODNN7EXAMPLE",
    "Slack's": "xoxb-" + "123456789012-abcdefABCDEF",
    "a web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "a header": "Bearer abcdefghijklmnop",
    "a password in an address": "https://me:hunter2@host/v1",
    "a token in an address": "https://hunter2@host/v1",
    "a database's password": "postgresql://me:hunter2@host:5432/x",
    "a query": "https://host/v1?api_key=hunter2",
    "a later query": "https://host/v1?a=b&access_token=hunter2",
    "random letters and digits": "".join(RANDOM.choices(BASE62, k=40)),
    "random bytes": "".join(RANDOM.choices(BASE62 + "-_", k=43)),
}
NO_SECRETS = [
    "hf_small/model", "half_" + "a" * 40, "sk-learn-models/sentence-scorer-2024-large", "runs/{dataset}.run.gz",
    "nreimers/MiniLMv2-L6-H384-distilled-from-RoBERTa-Large", "castorini/monot5-base-msmarco-10k",
    "hub/models--Qwen--Qwen3-0.6B/snapshots/c1899de289a04d12100db370d81485cdf75e47ca", "https://host/v1?version=2024",
    "c1899de289a04d12100db370d81485cdf75e47ca", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "RedHatAI/Meta-Llama-3.1-405B-Instruct-quantized.w8a16", "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "me@host.example",
    "/scratch/users/a/very/long/path/of/folders/in/which/2024/nothing/is/Secret/At/All/v2", "MY_OPENAI_API_KEY_2",
    "meta-llama/Meta-Llama-3-8B-Instruct", "npm-install-webpack2-plugin",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_no_secret_in_the_configuration(secret: str) -> None:
    """It is found wherever it is, in a key as in a value, and no part of it is shown."""
    for config in (
        {"a": {"b": [f"x {secret}"]}},
        {"a": {secret: 1}},
        {secret: {}},
        {"generators": {"lm": {"model": secret}}},
    ):
        with pytest.raises(InputError, match=r"^config key '.*': found .*; expected ") as error:
            check_no_secret(config)
        shown = str(error.value)
        assert not [piece for piece in (secret[4:12], secret[-12:], "hunter2") if piece in shown], shown


@pytest.mark.parametrize("text", NO_SECRETS)
def test_texts_that_are_no_secrets(text: str) -> None:
    check_no_secret({"model": text, text: [1, None, text], "generators": {"lm": {"revision": text}}})


@pytest.mark.parametrize(
    "key",
    [
        *SECRETS.values(), "0123456789abcdef0123456789abcdef", "abcdef0123456789", "my-key!", "a-secret b",
        "x\nsecretsecret", "", "aB3dE6gH9jK1mN4p", 12345678901234567890, ["a-secret"], {"a-secret": "b"},
    ],
)  # fmt: skip
def test_a_key_where_its_variable_belongs_is_not_shown(config: dict[str, Any], tmp_path: Path, key: Any) -> None:
    """It may look like anything; schema, secrets and the endpoint each look at it."""
    at(config, "generators.lm", {"engine": "openai", "model": "m", "prompt": "plain", "api_key_env": key})
    with pytest.raises(InputError, match=r"api_key_env.*: found ") as error:
        check_no_secret(config)
        study_of(config, tmp_path)
    shown = str(error.value)
    assert "secret" not in shown and (not key or str(key)[4:12] not in shown), shown


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "openai_api_key", "MY_OPENAI_API_KEY_2", "MyEndpointsOwnApiKey", "key2", "_K"]
)
def test_names_of_variables(config: dict[str, Any], tmp_path: Path, name: str) -> None:
    at(config, "generators.lm", {"engine": "openai", "model": "m", "prompt": "plain", "api_key_env": name})
    check_no_secret(config)
    assert study_of(config, tmp_path).generator("lm")["api_key_env"] == name


def test_cache_of_someone_else(tmp_path: Path) -> None:
    """The child becomes another user where this one is root, whom no permission stops."""
    (tmp_path / "cache").mkdir(mode=0o555)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            check_cache_folder(tmp_path / "cache" / "below", read_only=False)
        except InputError as error:
            os._exit(0 if "isn't writable" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_forged_part_with_an_old_name_wins(tmp_path: Path) -> None:
    """The page says so: a hash is made of the file itself, a name can say any time, and nothing tells them apart."""
    store = AnswerStore(tmp_path, "print")
    row = {name: 0 if dtype == pl.Int64 else None for name, dtype in SCHEMA.items()} | {"prompt_id": "p", "seed": 1}
    store.append([{**row, "answer": "true", "finish_reason": "stop"}], {})
    forged = AnswerStore(tmp_path, "elsewhere").append([{**row, "answer": "forged", "finish_reason": "stop"}], {})
    forged.rename(store.folder / f"part-20000101T000000000000-{forged.stem.rpartition('-')[2]}.parquet")
    found = store.look_up(pl.DataFrame({"prompt_id": ["p"], "seed": [1]}))
    assert found["answer"].to_list() == ["forged"]
    page = " ".join((ROOT / "docs/reliability.md").read_text(encoding="utf-8").split())
    assert "Anyone who can write to the cache controls your answers, scores, embeddings and indexes." in page
    assert "the part with the earliest time in its name; since a file name can contain any time" in page
    modes = load_schema()["properties"]["cache_mode"]["enum"]
    assert READ_ONLY in modes and f"`cache_mode: {READ_ONLY}`" in page


def test_messages_are_one_printable_line() -> None:
    message = str(InputError("a\nb", "\u001b]0;x\u0007 </script>\u2028", "\u202e\r\0"))
    assert message.isprintable() and "\\n" in message and "\\x1b" in message and "\\u202e" in message


def test_sources_are_read_as_text() -> None:
    """The scan above would be empty if its files could not be found."""
    assert len([ast.parse(path.read_text()) for path in (ROOT / "workflow").rglob("*.py")]) > 50
