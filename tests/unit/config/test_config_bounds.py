"""What a configuration may be as YAML and for the study to end: paths, numbers and anchors with bounds."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.collection.answer_formats.file_patterns import check_pattern
from ragrelay.config.schema import KINDS
from ragrelay.config.study import RESERVED_DATASETS
from ragrelay.execution.study.files import result_files

from tests.unit.conftest import at, study_of

LEVELS = 9
NESTED = {
    "lists": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, LEVELS)),
    "mappings": "a0: &a0 {k: x}\n"
    + "".join(f"a{n}: &a{n} {{{', '.join(f'k{m}: *a{n - 1}' for m in range(9))}}}\n" for n in range(1, LEVELS)),
    "merges": "a0: &a0 {k: x}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, LEVELS)),
    "itself": "a: &a [*a]\n",
    "depth": "a: " + "[" * 200 + "]" * 200 + "\n",
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_anchors_that_multiply_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(InputError, match="found more than 100,000 values or 50 nesting levels, with anchors expanded"):
        read_yaml(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("path", "value", "parts"),
    [
        ("datasets.small.shards", 100_000, ["'datasets.small.shards'", "at most 1000"]),
        ("analysis.resamples", 10**12, ["'analysis.resamples'", "at most 1000000"]),
        ("pathvars", {"result": "x"}, ["'pathvars'", "unknown key 'result'", "did you mean 'results'?"]),
        ("pathvars", {"results": ""}, ["'pathvars.results'", "at least 1 character"]),
        ("pathvars", {"logs": "~/logs"}, ["'pathvars.logs'", "'~/logs'", "doesn't begin with ~"]),
        ("pathvars", {"results": "${HOME}/x"}, ["'pathvars.results'", "without braces"]),
        ("cache_dir", "$HOME/cache", ["'cache_dir'", "'$HOME/cache'", "without shell variables"]),
        ("cache_dir", "~no-such-user/cache", ["'cache_dir'", "the home directory of an existing user"]),
    ],
)
def test_refused(config: dict[str, Any], tmp_path: Path, path: str, value: Any, parts: list[str]) -> None:
    at(config, path, value)
    with pytest.raises(InputError) as error:
        study_of(config, tmp_path)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_the_home_directory(config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    config["cache_dir"] = "~/cache"
    study = study_of(config, tmp_path)
    assert study.cache_dir == str(tmp_path / "home/cache") and study.config["cache_dir"] == "~/cache"
    config |= {"cache_dir": "cache~", "pathvars": {"results": "elsewhere/results~", "logs": "/tmp/logs"}}
    assert study_of(config, tmp_path).cache_dir == "cache~"


def test_datasets_have_no_name_of_what_is_next_to_their_folders(config: dict[str, Any], tmp_path: Path) -> None:
    beside = {file.path.partition("/")[0] for file in result_files()} - {"{dataset}"}
    assert beside == set(RESERVED_DATASETS)
    for name in beside:
        config["datasets"] = {"small": config["datasets"]["small"], name: config["datasets"]["small"]}
        with pytest.raises(InputError, match=rf"'datasets\.{name}': found a reserved name"):
            study_of(config, tmp_path)


def test_passages_are_in_one_file(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "small/passages.jsonl.gz").write_bytes(gzip.compress(b'{"doc_id": "other", "text": "other"}\n'))
    with pytest.raises(InputError, match=r"both passages\.jsonl and passages\.jsonl\.gz in .*small; expected only one"):
        study_of(config, tmp_path)


def test_every_key_with_a_path_says_so() -> None:
    """Braces and NUL are then refused; a pattern of answer files has a check of its own."""
    named = {
        (section, kind, key): sub
        for section, kinds in KINDS.items()
        for kind in kinds.names()
        for key, sub in kinds[kind].properties().items()
        if key in ("path", "baseline", "model", "tokenizer", "adapter")
    }
    without = {place for place, sub in named.items() if sub.get("format") not in ("path", "path of a dataset", "model")}
    assert without == {
        ("generators", "file", "path"),
        ("generators", "file", "baseline"),
        ("retrievers", "answers", "path"),
    }
    for pattern in ("a\0.csv", "{retriever}{.csv", "a}.csv", "{k-1}.csv"):
        with pytest.raises(InputError, match="and with braces only around names"):
            check_pattern("place", pattern)
