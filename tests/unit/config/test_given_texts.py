"""Nested values after --config: Snakemake reads them as texts, and the schema says what they are."""

import copy
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.config.given_texts import with_types
from ragrelay.config.schema import validated
from snakemake.cli import parse_config
from snakemake.utils import update_config

from tests.support.annex_cases import of_annexes


def read(*arguments: str, **of_file: Any) -> dict[str, Any]:
    """The catalogue with keys of a YAML file and arguments of --config, as Snakemake merges them."""
    config, given = copy.deepcopy(read_yaml(ROOT / "config" / "config.yaml")), parse_config(arguments)
    for keys in (of_file, given):
        update_config(config, keys)
    before = copy.deepcopy(config)
    found = with_types(config, given)
    assert config == before, "Snakemake's own configuration stays"
    validated(found)
    return dict(found)


@pytest.mark.parametrize(
    ("argument", "section", "expected"),
    [
        ("budget={tokens: 1000, gpu_hours: 2.5}", "budget", {"tokens": 1000, "gpu_hours": 2.5}),
        ("budget={'tokens': 1000, 'gpu_hours': 1e-1}", "budget", {"tokens": 1000, "gpu_hours": 0.1}),
        ("analysis={reference_retriever: null, seed: 3}", "analysis", {"reference_retriever": None, "seed": 3}),
        ("analysis={'reference_retriever': None}", "analysis", {"reference_retriever": None}),
        ("analysis={margins: {minilm: .01}}", "analysis", {"margins": {"minilm": 0.01}}),
        ("generators={smollm2: {chat: no, stop: [1, yes]}}", "generators", {"chat": False, "stop": ["1", "yes"]}),
        ("generators={smollm2: {revision: 1e5}}", "generators", {"revision": "1e5"}),
        ("generators={smollm2: {chat_template_kwargs: {think: False}}}", "generators",
         {"chat_template_kwargs": {"think": False}}),
        ("retrievers={b7: {kind: bm25, k1: 0.9, b: 1}}", "retrievers", {"kind": "bm25", "k1": 0.9, "b": 1}),
        ("retrievers={r1: {kind: run, path: 007}}", "retrievers", {"kind": "run", "path": "007"}),
        ("datasets={d: {source: local, path: 2024, references: {strict: 3}}}", "datasets",
         {"path": "2024", "references": {"strict": 3}}),
        *of_annexes("GIVEN_TEXT"),
    ],
)  # fmt: skip
def test_nested_values(argument: str, section: str, expected: dict[str, Any]) -> None:
    found = read(argument)[section]
    if section in ("generators", "retrievers", "datasets"):
        found = found[argument.partition("{")[2].partition(":")[0]]
    assert {key: found[key] for key in expected} == expected
    assert all(type(found[key]) is type(value) for key, value in expected.items())


@pytest.mark.parametrize(
    ("argument", "expected"), [("context_use=true", True), ("context_use=no", False), ("context_depth=20", 20)]
)
def test_values_that_are_not_nested(argument: str, expected: Any) -> None:
    assert read(argument)[argument.partition("=")[0]] is expected


def test_lists_of_numbers() -> None:
    grid = read("grid={k: [1, 2], seeds: [1], measures: [nDCG]}")["grid"]
    assert (grid["k"], grid["seeds"], grid["measures"]) == ([1, 2], [1], ["nDCG"])


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("budget={tokens: abc}", "budget.tokens': found 'abc'; expected an integer"),
        ("budget={tokens: 1.5}", "budget.tokens': found 1.5; expected an integer"),
        ("budget={tokens: 0}", "budget.tokens': found 0; expected at least 1"),
        ("budget={tokens: 010}", "budget.tokens': found '010'; expected an integer"),
        ("budget={tokens: true}", "budget.tokens': found True; expected an integer"),
        ("grid={k: [1, x]}", "grid.k.1': found 'x'; expected an integer"),
        ("grid={k: [1, 1]}", r"grid.k': found \[1, 1\]; expected unique values"),
        ("context_use=maybe", "context_use': found 'maybe'; expected true or false"),
    ],
)
def test_errors_show_the_value(argument: str, message: str) -> None:
    with pytest.raises(InputError, match=f"config key '{message}"):
        read(argument)


@pytest.mark.parametrize("arguments", [[], ["analysis={seed: 3}"], ["budget={gpu_hours: 1000}"]])
def test_files_stay_strict(arguments: list[str]) -> None:
    """A number in quotation marks is a text there, even if the command line has numbers."""
    with pytest.raises(InputError, match=r"budget\.tokens': found '1000'; expected an integer"):
        read(*arguments, budget={"tokens": "1000"})


def test_the_configuration_of_a_module() -> None:
    """A workflow may give the module an entry of its own configuration."""
    given = parse_config(["rag={budget: {tokens: 1000}}"])
    config = {**read_yaml(ROOT / "config" / "config.yaml"), **given["rag"]}
    assert with_types(config, given)["budget"] == {"tokens": 1000}
