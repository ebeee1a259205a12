"""The configuration: defaults filled in, key order of no account, every key of the schema described."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.config.schema import load_schema, validated

from tests.unit.conftest import at, study_of


def test_defaults(config: dict[str, Any], tmp_path: Path) -> None:
    given = copy.deepcopy(config)
    study = study_of(config, tmp_path)
    assert config == given, "what was given is left alone"
    assert study.cache_dir == "cache" and study.grid.measures == ["nDCG"]
    assert study.config["context_depth"] == 50
    assert study.config["analysis"] == {
        "resamples": 10000,
        "seed": 0,
        "reference_retriever": "rel",
        "equivalence_margin": 0.02,
        "empty_rankings": "zero",
        "primary": {},
    }
    assert study.retriever("bm25") == {
        "kind": "bm25", "engine": "pisa", "k1": 0.9, "b": 0.4, "stemmer": "porter2", "stopwords": "terrier",
        "depth": 1000,
    }  # fmt: skip
    assert study.retriever("rel") == {"kind": "oracle", "min_label": 2, "seed": 0}
    assert study.retriever("t5")["depth"] == 100
    assert study.dataset("small")["shards"] == 1
    assert study.generator("lm")["stop"] == ["STOP"] and study.generator("lm")["over_window"] == "error"
    assert "max_model_len" not in study.generator("lm")
    assert study.scorer("minilm")["utility"] == "relative"


def test_defaults_give_way(config: dict[str, Any], tmp_path: Path) -> None:
    at(config, "retrievers.bm25.k1", 1.2)
    at(config, "analysis.reference_retriever", None)
    study = study_of(config, tmp_path)
    assert study.retriever("bm25")["k1"] == 1.2
    assert study.config["analysis"]["reference_retriever"] is None


def test_whole_numbers_are_numbers(config: dict[str, Any], tmp_path: Path) -> None:
    """``top_p: 1`` and ``top_p: 1.0`` are one definition, and must have one fingerprint."""
    at(config, "generators.lm.top_p", 1)
    at(config, "retrievers.bm25.k1", 1)
    study = study_of(config, tmp_path)
    assert repr(study.generator("lm")["top_p"]) == "1.0" and repr(study.retriever("bm25")["k1"]) == "1.0"
    assert repr(study.generator("lm")["top_k"]) == "50"


def test_key_order_does_not_matter(config: dict[str, Any]) -> None:
    def shuffled(value: Any, chance: random.Random) -> Any:
        if not isinstance(value, dict):
            return value
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}

    expected = str(validated(config).mapping())
    for seed in range(5):
        assert str(validated(shuffled(config, random.Random(seed))).mapping()) == expected


def test_order_of_lists_is_kept(config: dict[str, Any]) -> None:
    config["grid"]["retrievers"] = ["rel", "bm25"]
    assert validated(config).mapping()["grid"]["retrievers"] == ["rel", "bm25"]


def properties_of(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key that the schema defines, wherever it stands."""
    if isinstance(schema, dict):
        for name, sub in schema.get("properties", {}).items():
            yield f"{path}.{name}", sub
        for key, sub in schema.items():
            yield from properties_of(sub, f"{path}.{key}")
    elif isinstance(schema, list):
        for number, sub in enumerate(schema):
            yield from properties_of(sub, f"{path}[{number}]")


def test_every_key_is_described_and_no_other_allowed() -> None:
    found = dict(properties_of(load_schema()))
    assert len(found) > 60
    assert [name for name, sub in found.items() if len(sub.get("description", "")) < 10] == []

    def closed(schema: Any) -> Iterator[bool]:
        if isinstance(schema, dict):
            if "properties" in schema:
                yield schema.get("additionalProperties") is False
            for sub in schema.values():
                yield from closed(sub)
        elif isinstance(schema, list):
            for sub in schema:
                yield from closed(sub)

    assert all(closed(load_schema()))


def test_schema_is_a_schema_and_its_defaults_fit_it() -> None:
    import jsonschema

    schema = load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, sub in properties_of(schema):
        if "default" in sub:
            jsonschema.Draft202012Validator(sub).validate(sub["default"]), name


def test_the_primary_comparison(config: dict[str, Any], tmp_path: Path) -> None:
    """It compares two rankings where there are two; the references given are those of its own scorer alone."""
    config["grid"] |= {"retrievers": ["rel", "t5", "bm25"], "scorers": ["minilm", "one"]}
    config["scorers"]["one"] = {"kind": "llm_judge", "generator": "lm", "references": "none"}
    chosen = study_of(config, tmp_path).primary("small")
    assert chosen is not None
    assert (chosen["retriever"], chosen["reference"], chosen["scorer"]) == ("bm25", "t5", "minilm")
    at(config, "analysis.reference_retriever", "bm25")
    at(config, "analysis.primary.references", "strict")
    study = study_of(config, tmp_path)
    chosen, other = study.primary("small"), study.primary("small", "one")
    assert chosen is not None and other is not None
    assert (chosen["retriever"], chosen["reference"], chosen["references"]) == ("t5", "bm25", "strict")
    assert other["references"] == next(iter(study.reference_sets("small", "one"))) != "strict"
    config["grid"]["retrievers"] = ["rel", "bm25"]
    at(config, "analysis.reference_retriever", "rel")
    chosen = study_of(config, tmp_path).primary("small")
    assert chosen is not None and (chosen["retriever"], chosen["reference"]) == ("bm25", "rel")
    config["grid"]["retrievers"] = ["bm25"]
    assert study_of(config, tmp_path).primary("small") is None


def test_a_margin_is_a_scorers_own(config: dict[str, Any], tmp_path: Path) -> None:
    """That of BERTScore is none of a judge's probabilities."""
    config["grid"]["scorers"] = ["minilm", "one"]
    config["scorers"]["one"] = {"kind": "llm_judge", "generator": "lm", "references": "none"}
    study = study_of(config, tmp_path)
    assert (study.margin("minilm"), study.margin("one")) == (0.02, None)
    at(config, "analysis.margins", {"minilm": None, "one": 0.05})
    study = study_of(config, tmp_path)
    assert (study.margin("minilm"), study.margin("one")) == (None, 0.05)
    at(config, "analysis.margins", {"ones": 0.05})
    with pytest.raises(
        InputError, match=r"'analysis\.margins\.ones': found the name of an unknown scorer; .*did you mean 'one'"
    ):
        study_of(config, tmp_path)
