"""Nothing of data, configuration or models is run as code, and nothing of them leaves the place it is meant for."""

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ragrelay.config.checks import check_cache, check_no_secret
from ragrelay.config.schema import load_schema
from ragrelay.errors import InputError
from ragrelay.generation.requests import window_of
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.io.yaml_keys import read_yaml
from ragrelay.prompting.templates import load_template
from ragrelay.scoring.encoder import Encoder

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
    """Beside ruff's rules on the same, which don't see Snakemake's files."""
    for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk"), *(ROOT / "workflow").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            rf"(?<![\w.])(?<!def )(?:{'|'.join(CODE)})\(|yaml\.load\(|shell\s*=\s*True|allow_pickle=True", text
        ), path


def test_no_rule_hands_anything_to_a_shell() -> None:
    """Scripts get their values as values. A shell command would need :q after every name in it."""
    for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
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
    with pytest.raises(InputError, match="a name of letters, digits"):
        study_of(config, tmp_path)


def test_every_name_of_the_catalogue_is_restricted() -> None:
    schema = load_schema()
    for section in ("datasets", "retrievers", "generators", "scorers"):
        assert schema["properties"][section]["$ref"] == "#/$defs/catalogue"
    assert schema["$defs"]["catalogue"]["propertyNames"] == {"$ref": "#/$defs/name"}


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
    for name in ("tokenizer.json", "model.safetensors"):
        (folder / name).write_text("{}")
    (folder / "own.py").write_text(f"import pathlib\npathlib.Path({str(folder / 'made')!r}).mkdir()\n")
    return str(folder)


def test_code_of_models_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anyone asked on the terminal whether it may be."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked"))
    model = model_with_code(tmp_path / "model")
    generator = {"engine": "vllm", "model": model, "trust_remote_code": False}
    with pytest.raises(InputError, match="none that loads"):
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


def test_no_access_token_in_the_configuration() -> None:
    token = "hf_" + "aB3" * 11
    for config in ({"a": {"b": [f"x {token}"]}}, {"a": {token: 1}}, {token: {}}):
        with pytest.raises(InputError, match="an access token; expected it in the environment variable") as error:
            check_no_secret(config)
        assert token not in str(error.value)
    check_no_secret({"model": "hf_small/model", "k": [1, None], "x": "half_" + "a" * 40})


def test_cache_of_someone_else(tmp_path: Path) -> None:
    """As another user where this one is root, whom no permission stops."""
    (tmp_path / "cache").mkdir(mode=0o555)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            check_cache(tmp_path / "cache" / "below")
        except InputError as error:
            os._exit(0 if "can't be written to" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_messages_are_one_printable_line() -> None:
    message = str(InputError("a\nb", "\u001b]0;x\u0007 </script>\u2028", "\u202e\r\0"))
    assert message.isprintable() and "\\n" in message and "\\x1b" in message and "\\u202e" in message


def test_sources_are_read_as_text() -> None:
    """The scan above would be empty if its files could not be found."""
    assert len([ast.parse(path.read_text()) for path in (ROOT / "workflow").rglob("*.py")]) > 50
