"""The configuration: every wrong one is told in one line before anything is run."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.unit.conftest import TEMPLATE, at, study_of

SERVED = {"engine": "openai", "model": "served", "prompt": "tian2025"}
WRONG: list[tuple[str, Any, list[str]]] = [
    ("gird", {}, ["unknown key 'gird'", "grid"]),
    ("study", ..., ["no key 'study'"]),
    ("study", "a/b", ["'study'", "'a/b'"]),
    ("study", 7, ["'study'", "7", "a text"]),
    ("grid", ..., ["no key 'grid'"]),
    ("grid", None, ["'grid'", "None", "a mapping"]),
    ("grid.ks", [1], ["'grid'", "unknown key 'ks'", "k, "]),
    ("grid.scorers", ..., ["'grid'", "no key 'scorers'"]),
    ("grid.datasets", [], ["'grid.datasets'", "[]"]),
    ("grid.retrievers", [], ["'grid.retrievers'", "[]"]),
    ("grid.orderings", [], ["'grid.orderings'", "[]"]),
    ("grid.k", [], ["'grid.k'", "[]"]),
    ("grid.seeds", [], ["'grid.seeds'", "[]"]),
    ("grid.generators", [], ["'grid.generators'", "[]"]),
    ("grid.scorers", [], ["'grid.scorers'", "[]"]),
    ("grid.measures", [], ["'grid.measures'", "[]"]),
    ("grid.k", [0, 1], ["'grid.k.0'", "found 0", "at least 1"]),
    ("grid.k", [-1], ["'grid.k.0'", "found -1", "at least 1"]),
    ("grid.k", [2, 1.5], ["'grid.k.1'", "found 1.5", "integer"]),
    ("grid.k", [1.0], ["'grid.k.0'", "found 1.0", "integer"]),
    ("grid.k", ["5"], ["'grid.k.0'", "found '5'", "integer"]),
    ("grid.k", [True], ["'grid.k.0'", "found True", "integer"]),
    ("grid.k", 5, ["'grid.k'", "found 5", "a list"]),
    ("grid.k", [1, 51], ["'grid.k'", "51", "50 (context_depth)"]),
    ("context_depth", 3, ["'grid.k'", "found 5", "3 (context_depth)"]),
    ("grid.seeds", [1, 2, 1], ["'grid.seeds'", "[1, 2, 1]", "unique values"]),
    ("grid.seeds", [-1], ["'grid.seeds.0'", "-1", "at least 0"]),
    ("grid.k", [2, 2], ["'grid.k'", "unique values"]),
    ("grid.datasets", ["small", "small"], ["'grid.datasets'", "unique values"]),
    ("grid.datasets", ["demo"], ["'grid.datasets'", "'demo'", "small"]),
    ("grid.retrievers", ["bm52"], ["'grid.retrievers'", "'bm52'", "bm25"]),
    ("grid.generators", ["gpt"], ["'grid.generators'", "'gpt'", "lm"]),
    ("grid.scorers", ["rouge"], ["'grid.scorers'", "'rouge'", "minilm"]),
    ("grid.orderings", ["descneding"], ["'grid.orderings.0'", "'descneding'", "descending"]),
    ("grid.measures", ["nDGC"], ["'grid.measures'", "'nDGC'", "measure in ir_measures"]),
    *(
        ("grid.measures", [measure], ["'grid.measures'", "a measure in ir_measures"])
        for measure in ("nDCG(", "1", "nDCG(**{1: 2})", "nDCG(1)", "nDCG(cutof=1)", "nDCG.x", "a\nb", "-")
    ),
    ("grid.measures", ["__import__('os').mkdir('made')"], ["'grid.measures'", "a measure in ir_measures"]),
    ("grid.measures", ["nDCG@5"], ["'grid.measures'", "'nDCG@5'", "without a cutoff"]),
    ("grid.measures", ["Bpref"], ["'grid.measures'", "'Bpref'", "cutoff"]),
    ("retrievers.zeroshot", {"kind": "bm25"}, ["'retrievers.zeroshot'", "reserved"]),
    ("retrievers.none", {"kind": "bm25"}, ["'retrievers.none'", "reserved"]),
    ("generators.none", {"model": "a/b", "prompt": "x"}, ["'generators.none'", "reserved"]),
    ("datasets.zeroshot", {"source": "ir_datasets", "id": "x", "references": {"a": 1}}, ["'datasets.zeroshot'"]),
    ("retrievers.a b", {"kind": "bm25"}, ["'retrievers'", "'a b'"]),
    ("retrievers.bm25\n", {"kind": "bm25"}, ["'retrievers'", r"'bm25\n'", "letters, digits"]),
    (
        "datasets.indexes",
        {"source": "ir_datasets", "id": "x", "references": {"a": 1}},
        ["'datasets.indexes'", "reserved"],
    ),
    ("generators.lm.temperature", float("inf"), ["'generators.lm.temperature'", "inf", "a number"]),
    ("generators.lm.max_model_len", 300, ["'generators.lm.max_tokens'", "found 300", "less than 300"]),
    ("retrievers.bm25.k2", 1, ["'retrievers.bm25'", "unknown key 'k2'", "k1"]),
    ("retrievers.bm25.k1", -1, ["'retrievers.bm25.k1'", "-1", "at least 0"]),
    ("retrievers.bm25.b", 1.2, ["'retrievers.bm25.b'", "1.2", "at most 1"]),
    ("retrievers.bm25.b", "0.4", ["'retrievers.bm25.b'", "'0.4'", "number"]),
    ("retrievers.bm25.engine", "lucene", ["'retrievers.bm25.engine'", "'lucene'", "pisa"]),
    (
        "retrievers.bm25.kind",
        "bm52",
        ["'retrievers.bm25.kind'", "'bm52'", "bm25, dense, fusion, graded"],
    ),
    ("retrievers.bm25", {}, ["'retrievers.bm25'", "no key 'kind'"]),
    ("retrievers.bm25", {"model": "x"}, ["'retrievers.bm25'", "no key 'kind'"]),
    ("retrievers.bm25", None, ["'retrievers.bm25'", "None", "a mapping"]),
    ("retrievers.d", {"kind": "dense"}, ["'retrievers.d'", "no key 'model'"]),
    ("retrievers.rel", {"kind": "oracle"}, ["'retrievers.rel'", "none of 'min_label', 'max_label'"]),
    ("retrievers.rel.max_label", 1, ["'retrievers.rel'", "min_label above max_label"]),
    ("retrievers.rel.min_label", 2.5, ["'retrievers.rel.min_label'", "2.5", "integer"]),
    ("retrievers", [], ["'retrievers'", "[]", "a mapping"]),
    ("datasets.small.source", "hub", ["'datasets.small.source'", "'hub'", "ir_datasets or local"]),
    ("datasets.small.references", ..., ["'datasets.small'", "no key 'references'"]),
    ("datasets.small.references", {}, ["'datasets.small.references'", "{}"]),
    ("datasets.small.references.lenient", 0, ["'datasets.small.references.lenient'", "0", "at least 1"]),
    ("datasets.small.references.Lenient grade", 2, ["'datasets.small.references'", "'Lenient grade'"]),
    ("datasets.small.path", "absent", ["'datasets.small.path'", "no folder", "absent"]),
    (
        "datasets.small",
        {"source": "ir_datasets", "id": "msmarco-passage/nope", "references": {"lenient": 2}},
        ["'datasets.small.id'", "'msmarco-passage/nope'", "ir_datasets catalogue"],
    ),
    ("datasets.small.shards", 0, ["'datasets.small.shards'", "0", "at least 1"]),
    ("datasets", {2019: {}}, ["'datasets'", "found 2019", "a text"]),
    ("datasets.small.references", {2: 2}, ["'datasets.small.references'", "found 2", "a text"]),
    ("retrievers.bm25", {"kind": "bm25", 1: 2, "x": 3}, ["'retrievers.bm25'", "unknown key 1, 'x'"]),
    ("generators.lm.prompt", "tain2025", ["tain2025.yaml", "no such file"]),
    ("generators.lm.prompt", ..., ["'generators.lm'", "no key 'prompt'"]),
    ("generators.lm.temprature", 0.3, ["'generators.lm'", "unknown key 'temprature'", "temperature"]),
    ("generators.lm.temperature", -0.1, ["'generators.lm.temperature'", "-0.1", "at least 0"]),
    ("generators.lm.top_p", 0, ["'generators.lm.top_p'", "found 0", "more than 0"]),
    ("generators.lm.stop", "STOP", ["'generators.lm.stop'", "'STOP'", "a list"]),
    ("generators.lm.max_tokens", 0, ["'generators.lm.max_tokens'", "at least 1"]),
    ("generators.lm.dtype", "int8", ["'generators.lm.dtype'", "'int8'", "float32"]),
    ("generators.lm.model", "models/deep/absent", ["'generators.lm.model'", "no folder", "absent"]),
    ("generators.lm.model", "./absent", ["'generators.lm.model'", "no folder"]),
    (
        "generators.lm.temperature",
        "3e-1",
        ["found '3e-1'", "expected a number or null; YAML reads 3e-1 as text, so write 0.3"],
    ),
    ("grid.k", [1, "1e1"], ["'grid.k.1'", "expected an integer; YAML reads 1e1 as text, so write 10"]),
    ("grid.retrievers", ["bm25", False], ["'grid.retrievers.1'", "YAML reads yes, no, on and off as true or false"]),
    ("retrievers", {False: {"kind": "bm25"}}, ["'retrievers'", "YAML reads yes, no, on and off as true or false"]),
    ("generators.lm.thinking", ["<think>"], ["'generators.lm.thinking'", "at least 2 items"]),
    ("generators.lm.thinking", ["<think>", 1], ["'generators.lm.thinking.1'", "found 1", "a text"]),
    (
        "generators.lm.thinking",
        "off",
        ["'generators.lm.thinking'", "found 'off'; expected a mapping, a list or 'none'"],
    ),
    (
        "generators.lm.thinking",
        False,
        ["'generators.lm.thinking'", "found False; expected a mapping, a list or 'none'"],
    ),
    ("generators.lm.date", "2026-01-31", ["'generators.lm.date'", "chat: true as well"]),
    ("generators.lm.date", "31 January", ["'generators.lm.date'", "'31 January'", "YYYY-MM-DD"]),
    (
        "generators.lm",
        {**SERVED, "chat": True, "prompt": "chat", "date": "2026-01-31"},
        ["'generators.lm.date'", "no effect", "key tokenizer"],
    ),
    (
        "generators.lm",
        {"model": "a/b", "prompt": "chat", "chat": True, "date": "2026-02-30"},
        ["'generators.lm.date'", "'2026-02-30'", "a valid date"],
    ),
    ("generators.lm.engine", "tgi", ["'generators.lm.engine'", "'tgi'", "openai, vllm"]),
    ("generators.lm.prompt", "chat", ["'generators.lm.prompt'", "system parts", "chat: true"]),
    ("generators.lm.chat_template_kwargs", {"a": 1}, ["'generators.lm.chat_template_kwargs'", "chat: true as well"]),
    ("generators.lm.min_tokens", 301, ["'generators.lm.min_tokens'", "301", "at most 300 (max_tokens)"]),
    ("generators.lm.repetition_penalty", 0, ["'generators.lm.repetition_penalty'", "more than 0"]),
    ("generators.lm.presence_penalty", 2.1, ["'generators.lm.presence_penalty'", "at most 2"]),
    ("generators.lm.repetition_window", 64, ["'generators.lm.repetition_window'", "key repetition_penalty as well"]),
    ("generators.lm.repetition_window", 0, ["'generators.lm.repetition_window'", "at least 1"]),
    (
        "generators.lm",
        {**SERVED, "repetition_penalty": 1.1, "repetition_window": 64},
        ["'generators.lm.repetition_window'", "no effect", "engine: vllm"],
    ),
    ("generators.lm", {**SERVED, "batch_invariant": True}, ["'generators.lm.batch_invariant'", "engine: vllm"]),
    ("generators.lm.model_runner", "v3", ["'generators.lm.model_runner'", "'v3'", "v1 or v2"]),
    ("generators.lm.entropy", True, ["'generators.lm.entropy'", "no effect", "engine: openai"]),
    ("generators.lm.top_k", None, ["'generators.lm.top_k'", "found null", "engine: openai"]),
    ("generators.lm.max_tokens", None, ["'generators.lm.max_tokens'", "found None", "an integer"]),
    ("generators.lm", {**SERVED, "max_tokens": None}, ["'generators.lm.max_tokens'", "found None", "an integer"]),
    ("generators.lm", {**SERVED, "temperature": -1.0}, ["'generators.lm.temperature'", "-1.0", "at least 0"]),
    ("generators.lm", {**SERVED, "extra_body": {"n": 2}}, ["'generators.lm.extra_body.n'", "that ragrelay sets"]),
    ("generators.lm", {**SERVED, "extra_body": {"seed": 2}}, ["'generators.lm.extra_body.seed'", "null (sends no"]),
    (
        "generators.lm",
        {**SERVED, "extra_body": {"top_k": -1}},
        ["'generators.lm.extra_body.top_k'", "found a second value for top_k", "set the generator's top_k to null"],
    ),
    ("generators.lm.max_tokens_name", "max_new_tokens", ["no effect", "engine: openai"]),
    ("generators.lm.adapter", "./absent", ["'generators.lm.adapter'", "no folder"]),
    ("generators.lm.adapter", "models/deep/lm", ["'generators.lm.adapter'", "no adapter_config.json"]),
    ("generators.lm.adapter_revision", "v1", ["'generators.lm.adapter_revision'", "key adapter as well"]),
    ("generators.lm.base_url", "http://x", ["'generators.lm.base_url'", "no effect", "engine: openai"]),
    ("generators.lm.api_key_env", "sk-1", ["'generators.lm.api_key_env'", "not shown"]),
    ("generators.lm", {**SERVED, "dtype": "float32"}, ["'generators.lm.dtype'", "no effect", "engine: vllm"]),
    ("generators.lm", {**SERVED, "max_model_len": 99}, ["'generators.lm.max_model_len'", "key tokenizer"]),
    ("generators.lm", {**SERVED, "tokenizer": "nowhere"}, ["'generators.lm.tokenizer'", "no folder nowhere"]),
    (
        "generators.lm",
        {**SERVED, "tokenizer": "a/b", "over_window": "truncate"},
        ["'generators.lm.over_window'", "key max_model_len as well"],
    ),
    ("scorers.minilm.model", "./absent", ["'scorers.minilm.model'", "no folder"]),
    ("scorers.minilm", {"kind": "rouge"}, ["'scorers.minilm'", "no key 'variant'"]),
    ("scorers.minilm", {"kind": "bleu", "layer": 3}, ["'scorers.minilm'", "unknown key 'layer'"]),
    ("scorers.minilm", {"kind": "bleu", "aggregate": "centroid"}, ["'scorers.minilm.aggregate'", "max or mean"]),
    ("scorers.minilm", {"kind": "exact_match"}, ["'datasets.small.path'", "no answers.jsonl", "scorer minilm"]),
    ("scorers.minilm.layer", 0, ["'scorers.minilm.layer'", "at least 1"]),
    ("scorers.minilm.kind", "bleurt", ["'scorers.minilm", "'bleurt'", "bertscore"]),
    ("analysis.resamples", 10, ["'analysis.resamples'", "10", "at least 100"]),
    ("analysis.bootstraps", 10, ["'analysis'", "unknown key 'bootstraps'", "resamples"]),
    ("analysis.reference_retriever", "rell", ["'analysis.reference_retriever'", "'rell'", "bm25"]),
    ("analysis.primary.retriever", "bm52", ["'analysis.primary.retriever'", "'bm52'", "bm25"]),
    ("analysis.primary.k", 3, ["'analysis.primary.k'", "3"]),
    ("analysis.primary.ordering", "sideways", ["'analysis.primary.ordering'", "descending"]),
    ("analysis.primary.references", "strictest", ["'analysis.primary.references'", "small", "strict"]),
    (
        "analysis.primary",
        {"retriever": "bm25", "reference": "bm25"},
        ["'analysis.primary.reference'", "a retriever other than analysis.primary.retriever"],
    ),
    ("analysis.primary.cutoff", 10, ["'analysis.primary'", "unknown key 'cutoff'"]),
]


@pytest.mark.parametrize(("path", "value", "parts"), WRONG, ids=[f"{w[0]}={w[1]}"[:60] for w in WRONG])
def test_wrong(config: dict[str, Any], tmp_path: Path, path: str, value: Any, parts: list[str]) -> None:
    at(config, path, value)
    check_error(config, tmp_path, parts)


def check_error(config: dict[str, Any], folder: Path, parts: list[str]) -> None:
    with pytest.raises(InputError) as error:
        study_of(config, folder)
    message = str(error.value)
    assert "\n" not in message and ": found " in message and "; expected " in message, message
    assert all(part in message for part in parts), message


def test_right(config: dict[str, Any], tmp_path: Path) -> None:
    study = study_of(config, tmp_path)
    assert study.name == "test"
    assert study.needed_retrievers() == ["bm25", "rel"]
    assert study.grades("small") == {"lenient": 2, "strict": 3} and list(study.grades("small")) == ["lenient", "strict"]
    assert set(study.selected()["retrievers"]) == {"bm25", "rel"}


@pytest.mark.parametrize(
    "entry",
    [
        SERVED,
        {**SERVED, "flush_seconds": 5},
        {**SERVED, "chat": True, "prompt": "chat", "thinking": ["<think>", "</think>"], "requests_per_minute": 60},
        {**SERVED, "tokenizer": "models/deep/lm", "max_model_len": 512, "over_window": "truncate"},
        {"model": "a/b", "prompt": "chat", "chat": True, "adapter": "a/lora", "adapter_revision": "v1"},
    ],
)
def test_right_generators(config: dict[str, Any], tmp_path: Path, entry: dict[str, Any]) -> None:
    config["generators"]["lm"] = entry
    assert study_of(config, tmp_path).generator("lm")["prompt"] == entry["prompt"]


def test_a_day_with_and_without_quotation_marks_is_one(config: dict[str, Any], tmp_path: Path) -> None:
    """YAML makes a date of one without."""
    for written in ("2026-01-31", "'2026-01-31'"):
        entry = f"{{model: a/b, prompt: chat, chat: true, date: {written}}}"
        config["generators"]["lm"] = yaml.safe_load(entry)
        assert study_of(config, tmp_path).generator("lm")["date"] == "2026-01-31"


def test_gold_answers_are_a_reference_set(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "small/answers.jsonl").write_text('{"qid": "q1", "answers": ["rain"]}')
    config["scorers"]["em"] = {"kind": "exact_match"}
    config["grid"]["scorers"] = ["minilm", "em"]
    study = study_of(config, tmp_path)
    assert study.reference_sets("small", "em") == {"gold": 0}
    assert study.reference_sets("small", "minilm") == {"lenient": 2, "strict": 3}
    assert [study.scorer(name)["utility"] for name in ("minilm", "em")] == ["relative", "absolute"]


def test_a_catalogued_set_without_gold_answers_is_told(config: dict[str, Any], tmp_path: Path) -> None:
    config["scorers"]["em"] = {"kind": "exact_match"}
    config["grid"] |= {"scorers": ["em"], "datasets": ["known"]}
    known = {"source": "ir_datasets", "references": {"relevant": 1}}
    config["datasets"]["known"] = known | {"id": "dpr-w100/natural-questions/dev"}
    assert study_of(config, tmp_path).reference_sets("known", "em") == {"gold": 0}
    config["datasets"]["known"] = known | {"id": "beir/scifact/test"}
    with pytest.raises(InputError, match=r"'datasets\.known\.id': found 'beir/scifact/test', which has no gold"):
        study_of(config, tmp_path)


def test_first_stages(config: dict[str, Any], tmp_path: Path) -> None:
    config["grid"]["retrievers"] = ["again"]
    config["retrievers"]["again"] = {"kind": "rerank", "first_stage": "t5", "model": "a/b"}
    assert study_of(config, tmp_path).needed_retrievers() == ["again", "bm25", "t5"]
    config["retrievers"]["t5"]["first_stage"] = "bm52"
    check_error(config, tmp_path, ["'retrievers.t5.first_stage'", "'bm52'", "bm25"])
    config["retrievers"]["t5"]["first_stage"] = "again"
    check_error(config, tmp_path, ["first_stage'", "a cycle: again → t5 → again;"])
    config["retrievers"]["again"]["first_stage"] = "again"
    check_error(config, tmp_path, ["'retrievers.again.first_stage'", "a cycle: again → again;"])


def test_first_stage_is_checked_like_any_other(config: dict[str, Any], tmp_path: Path) -> None:
    config["grid"]["retrievers"] = ["t5"]
    config["retrievers"]["t5"]["first_stage"] = "dense"
    config["retrievers"]["dense"] = {"kind": "dense", "model": "./absent"}
    check_error(config, tmp_path, ["'retrievers.dense.model'", "no folder"])
    config["retrievers"]["dense"] = {"kind": "oracle", "min_label": 2, "max_label": 1}
    check_error(config, tmp_path, ["'retrievers.dense'", "min_label above max_label"])


def test_rerank_model_folder(config: dict[str, Any], tmp_path: Path) -> None:
    config["grid"]["retrievers"] = ["t5"]
    config["retrievers"]["t5"]["model"] = "./absent"
    check_error(config, tmp_path, ["'retrievers.t5.model'", "no folder"])


def test_what_the_grid_does_not_use_is_not_looked_for(config: dict[str, Any], tmp_path: Path) -> None:
    config["generators"]["other"] = {"model": "./absent", "prompt": "absent"}
    config["datasets"]["other"] = {"source": "local", "path": "absent", "references": {"a": 1}}
    config["retrievers"]["other"] = {"kind": "dense", "model": "./absent"}
    study_of(config, tmp_path)


def test_run_file(config: dict[str, Any], tmp_path: Path) -> None:
    config["grid"]["retrievers"] = ["mine"]
    check_error(config, tmp_path, ["'retrievers.mine.path'", "no file", "small.run", "TREC run"])
    config["grid"]["retrievers"] = ["t5"]
    config["retrievers"]["t5"]["first_stage"] = "mine"
    check_error(config, tmp_path, ["'retrievers.mine.path'", "no file", "small.run"])
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/small.run").write_text("q1 Q0 d1 1 1.0 t\n")
    assert study_of(config, tmp_path).needed_retrievers() == ["mine", "t5"]
    assert RETRIEVER_KINDS.of(config["retrievers"]["mine"]).files("small") == ["runs/small.run"]


@pytest.mark.parametrize("name", ["passages.jsonl", "queries.tsv", "qrels.txt"])
def test_dataset_files(config: dict[str, Any], tmp_path: Path, name: str) -> None:
    (tmp_path / "small" / name).unlink()
    check_error(config, tmp_path, ["'datasets.small.path'", "no file", name])


def test_gzipped_passages_will_do(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "small/passages.jsonl").rename(tmp_path / "small/passages.jsonl.gz")
    study_of(config, tmp_path)


@pytest.mark.parametrize(
    ("missing", "found"),
    [("tokenizer.json", "no tokenizer"), ("config.json", "no config.json"), ("model.safetensors", "no weights")],
)
def test_generator_folder(config: dict[str, Any], tmp_path: Path, missing: str, found: str) -> None:
    (tmp_path / "models/deep/lm" / missing).unlink()
    check_error(config, tmp_path, ["'generators.lm.model'", found])


def test_made_up_weights_need_none(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "models/deep/lm/model.safetensors").unlink()
    at(config, "generators.lm.load_format", "dummy")
    study_of(config, tmp_path)


def test_template_is_checked(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/own.yaml").write_text('zeroshot: "{q}"\nkshot: ""\ncontext: ""\n')
    config["generators"]["lm"]["prompt"] = "own"
    check_error(config, tmp_path, ["own.yaml", "'zeroshot'", "{q}", "{query}"])


def test_first_template_folder_wins(config: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(config, tmp_path).template_path("tian2025") == TEMPLATE
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/tian2025.yaml").write_text(TEMPLATE.read_text())
    assert study_of(config, tmp_path).template_path("tian2025") == tmp_path / "prompts/tian2025.yaml"
