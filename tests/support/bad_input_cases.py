"""Every kind of bad input: what is wrong, and how the small study of tests.support.bad_input is spoiled with it."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Change = Callable[[dict[str, Any]], object]


CUT_GZIP = gzip.compress(b'{"doc_id": "d1", "text": "rice"}\n', mtime=0)[:-9]
NO_TENSORS = b"\x02" + bytes(7) + b"{}"
"""A safetensors file without tensors."""


@dataclass(frozen=True)
class Case:
    """``change`` gets the configuration, to be changed, in the study's folder; the environment is put back after it."""

    what: str
    change: Change


def key(path: str, value: Any) -> Change:
    """Sets the value at a dotted path of the configuration."""

    def change(config: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        for step in steps:
            config = config.setdefault(step, {})
        config[last] = value

    return change


def file(name: str, content: str | bytes) -> Change:
    return lambda _: Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def line(name: str, text: str) -> Change:
    """Adds a line to a file."""
    return lambda _: Path(name).write_text(Path(name).read_text() + text + "\n")


def unset(variable: str) -> Change:
    return lambda _: os.environ.pop(variable, None)


def set_variable(variable: str, value: str) -> Change:
    return lambda _: os.environ.update({variable: value})


def without(name: str) -> Change:
    return lambda _: Path(name).unlink()


def both(*changes: Change) -> Change:
    return lambda config: [change(config) for change in changes]


SERVED = {"engine": "openai", "model": "served", "prompt": "plain"}


def endpoint(**keys: Any) -> Change:
    """Makes the generator an endpoint's."""
    return key("generators.lm", {**SERVED, **keys})


PLAN, PRESENT = "results/plan.json", "the present configuration"


def planned(of: str = PRESENT, gpu_hours: float | None = None) -> Change:
    """A plan made before."""
    told = {"planned": "2026-01-31T02:00:00+00:00", "of": of, "needs": {"gpu_hours": gpu_hours, "tokens": 1}}

    def change(_: dict[str, Any]) -> None:
        Path(PLAN).parent.mkdir()
        Path(PLAN).write_text(json.dumps(told))

    return change


PUBLISHED = "dataset,retriever,ordering,k,references,mean_utility\ndl19,bm25,descending,2,strict,0.1\n"


def published(content: str) -> Change:
    """A published table of this content."""
    return both(file("table1.csv", content), key("published.utility", "table1.csv"))


CLAIMS = "claims.csv"
ACU = both(
    key("acu.claims", ["mine"]), key("acu.prompts", ["plain"]), key("acu.generators", ["lm"]),
    key("claims", {"mine": {"source": "local", "path": CLAIMS}}),
)  # fmt: skip


def reranker(name: str, first_stage: str) -> dict[str, Any]:
    return {"kind": "rerank", "first_stage": first_stage, "model": "castorini/monot5-base-msmarco"}


def encoder(*files: str) -> Change:
    """A scorer's model folder with these files; it needs no tensors, since nothing loads it."""

    def change(config: dict[str, Any]) -> None:
        Path("encoder").mkdir()
        for name in files:
            content = NO_TENSORS if name.endswith(".safetensors") else json.dumps({"num_hidden_layers": 6}).encode()
            (Path("encoder") / name).write_bytes(content)
        config["scorers"]["minilm"]["model"] = "./encoder"

    return change


def adapter(weights: bytes) -> Change:
    """A LoRA adapter's folder."""

    def change(_: dict[str, Any]) -> None:
        Path("adapter").mkdir()
        Path("adapter/adapter_config.json").write_text('{"r": 8}')
        Path("adapter/adapter_model.safetensors").write_bytes(weights)

    return change


def cut_configuration(config: dict[str, Any]) -> None:
    """The generator's folder, its configuration cut short."""
    text = Path("lm/config.json").read_text()
    Path("lm/config.json").unlink()
    Path("lm/config.json").write_text(text[:40])


def model_file(name: str, content: bytes | Callable[[bytes], bytes]) -> Change:
    """Puts a file of its own, or the changed one, in place of one of the generator's folder."""

    def change(_: dict[str, Any]) -> None:
        path = Path("lm") / name
        before = path.read_bytes() if path.exists() else b""
        path.unlink(missing_ok=True)
        path.write_bytes(content(before) if callable(content) else content)

    return change


def model_key(name: str, value: Any) -> Change:
    """Sets a key of the generator's config.json."""
    return model_file("config.json", lambda before: json.dumps(json.loads(before) | {name: value}).encode())


QUERIES, PASSAGES, QRELS, RUN = "small/queries.tsv", "small/passages.jsonl", "small/qrels.txt", "small.run"
TWICE = "study: mine\nretrievers:\n  bm25: {kind: bm25}\n  bm25: {kind: bm25, k1: 1.2}\n"
# Nine lists of nine of the last, nine levels: 387,420,489 values.
ANCHORS = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
PLACEHOLDER = 'zeroshot: "Q: {query}"\nkshot: "{contexts}Q: {question}"\ncontext: "{text} "\n'
NO_CONTEXTS = PLACEHOLDER.replace("{contexts}Q: {question}", "Q: {query}")

QRELS_KIND, ERAG_KIND = {"qrels": {"kind": "qrels"}}, {"erag": {"kind": "erag"}}
JUDGE = {"kind": "llm", "generator": "lmm", "prompt": "plain"}
PEOPLE = {"people": {"kind": "file", "path": "people.qrels"}}
BLEND = {"kind": "combination", "sources": ["qrel", "erag"], "combine": "mean"}


def annotated(name: str, catalogue: dict[str, Any], *changes: Change) -> Change:
    """Asks for the annotation source ``name`` of ``catalogue``."""
    return both(key("grid.annotations", [name]), key("annotations", catalogue), *changes)


def catalogue_file(content: str | bytes) -> Change:
    """The file that the Snakefile names."""

    def change(config: dict[str, Any]) -> None:
        Path("config").mkdir()
        file("config/config.yaml", content)(config)

    return change


CASES = {
    "config/config.yaml": [
        Case("A folder", lambda _: Path("config/config.yaml").mkdir(parents=True)),
        Case("Latin-1", catalogue_file("study: mine\nnote: café\n".encode("latin-1"))),
        Case("UTF-16", catalogue_file("study: mine\n".encode("utf-16"))),
        Case("Tab in place of blanks", catalogue_file("study: mine\ngrid:\n\tk: [1]\n")),
        Case("Tag of Python", catalogue_file("study: mine\ncache_dir: !!python/object/apply:os.getcwd []\n")),
        Case("Two documents", catalogue_file("study: mine\n---\nstudy: yours\n")),
        Case("Anchor that holds itself", catalogue_file("study: mine\ngrid: &a\n  k: *a\n")),
        Case("Anchor that is nowhere", catalogue_file("study: mine\ngrid: *a\n")),
        Case("Nesting of 100,000", catalogue_file("study: mine\ngrid: " + "[" * 100_000)),
        Case("Number of 5,000 digits", catalogue_file(f"study: mine\ncontext_depth: {'9' * 5000}\n")),
        Case("Date that is none", catalogue_file("study: 2024-13-45\n")),
        Case("List", catalogue_file("- study\n")),
        Case("Nothing", catalogue_file("")),
        Case("NUL", catalogue_file("study: a\0b\n")),
        Case("Key twice", catalogue_file("study: mine\nstudy: yours\n")),
        Case("Key that is a list", catalogue_file("? [a]\n: 1\n")),
    ],
    "Configuration": [
        Case("Misspelt section", key("gird", {})),
        Case("Misspelt key of a grid", key("grid.seed", [1])),
        Case("Misspelt key of a definition", key("generators.lm.temprature", 0.3)),
        Case("Key of another kind of retriever", key("retrievers.rel.k1", 0.9)),
        Case("Missing key", key("generators.lm", {"prompt": "plain"})),
        Case("Unknown dataset in the grid", key("grid.datasets", ["smal"])),
        Case("Unknown retriever in the grid", key("grid.retrievers", ["my-run", "real"])),
        Case("Unknown generator in the grid", key("grid.generators", ["llm"])),
        Case("Unknown scorer in the grid", key("grid.scorers", ["mini-lm"])),
        Case("Unknown ordering", key("grid.orderings", ["descneding"])),
        Case("Unknown measure", key("grid.measures", ["nDGC"])),
        Case("Measure with a cutoff", key("grid.measures", ["nDCG@10"])),
        Case("Unknown kind", key("retrievers.rel", {"kind": "orcale", "min_label": 2})),
        Case("Unknown reference retriever", key("analysis.reference_retriever", "real")),
        Case("Published table that is missing", key("published.utility", "table1.csv")),
        Case("Published table without a column", published("dataset,retriever\n")),
        Case("Published value that is no number", published(PUBLISHED.replace("0.1", "+.1†"))),
        Case("Published cell twice", published(PUBLISHED + PUBLISHED.splitlines()[1] + "\n")),
        Case(
            "Name that the published table does not have",
            both(published(PUBLISHED), key("published.names", {"retrievers": {"oracle": "rel"}})),
        ),
        Case(
            "Name of a published table that nothing here has",
            both(published(PUBLISHED), key("published.names", {"retrievers": {"bm25": "bm52"}})),
        ),
        Case("Published labels without annotation sources", both(
            file("labels.csv", "retriever,dataset,annotation,measure,coefficient,value\n"),
            key("published.labels", "labels.csv"),
        )),
        Case("k = 0", key("grid.k", [0, 1])),
        Case("k that is no integer", key("grid.k", [1, 2.5])),
        Case("k that is a text", key("grid.k", ["5"])),
        Case("Truth value that is a text", key("context_use", "true")),
        Case("k beyond the context's depth", key("grid.k", [5, 60])),
        Case("k twice", key("grid.k", [1, 1])),
        Case("Seed twice", key("grid.seeds", [1, 2, 1])),
        Case("Seed below 0", key("grid.seeds", [-1])),
        *(
            Case(f"No {axis} in the grid", key(f"grid.{axis}", []))
            for axis in ("datasets", "retrievers", "orderings", "k", "seeds", "generators", "scorers")
        ),
        Case("Name twice in the grid", key("grid.retrievers", ["rel", "rel"])),
        Case("Name twice in a file", file("my-study.yaml", TWICE)),
        Case("Reserved name", key("retrievers.zeroshot", {"kind": "bm25"})),
        Case(
            "Name of a folder next to those of the datasets",
            key("datasets.report", {"source": "local", "path": "small", "references": {"lenient": 2}}),
        ),
        Case("Name with a slash", lambda config: config["retrievers"].update({"../up": {"kind": "bm25"}})),
        Case("Name that starts with a dot", key("study", ".v1")),
        Case("Name with a blank", key("study", "my study")),
        Case(
            "Two sections with one file name",
            both(
                key("datasets.small_a", {"source": "local", "path": "small", "references": {"lenient": 2}}),
                key("generators.a_lm", {"model": "./lm", "prompt": "plain", "max_tokens": 16}),
                key("grid.datasets", ["small", "small_a"]),
                key("grid.generators", ["lm", "a_lm"]),
                key("grid.retrievers", ["rel"]),
            ),
        ),
        Case(
            "First stage that is not there",
            both(key("retrievers.rerank", reranker("rerank", "my-rum")), key("grid.retrievers", ["rerank"])),
        ),
        Case(
            "First stages in a circle",
            both(
                key("retrievers.rerank", reranker("rerank", "again")),
                key("retrievers.again", reranker("again", "rerank")),
                key("grid.retrievers", ["again"]),
            ),
        ),
        Case("Temperature that is no number", key("generators.lm.temperature", float("nan"))),
        Case("Answers longer than the window", key("generators.lm.max_tokens", 512)),
        Case("Misspelt path variable", key("pathvars", {"result": "elsewhere"})),
        Case("Home directory in a path variable", key("pathvars", {"results": "~/results"})),
        Case("Shell's variable in the cache's path", key("cache_dir", "$SCRATCH/cache")),
        Case("Unknown user's home directory", key("cache_dir", "~nobody-here/cache")),
        Case(
            "Name of a file next to the folders of the datasets",
            lambda config: config["datasets"].update({"plan.csv": config["datasets"]["small"]}),
        ),
        Case("Budget of nothing", key("budget.gpu_hours", 0)),
        Case("Budget without a limit", key("budget", {})),
        Case("Budget in a unit that is none", key("budget", {"euros": 300})),
        Case("GPU-hours for an endpoint", both(endpoint(), key("budget.gpu_hours", 300))),
        Case("Run with a budget and without a plan", key("budget.gpu_hours", 300)),
        Case("Run with a budget and an outdated plan", both(key("budget.gpu_hours", 300), planned("another grid"))),
        Case("Run that needs more than its budget", both(key("budget.gpu_hours", 300), planned(gpu_hours=412.5))),
        Case("Run with a budget in hours, without a speed", both(key("budget.gpu_hours", 300), planned())),
        Case("More resamples than can be made", key("analysis.resamples", 10**12)),
        Case("More shards than a scheduler takes", key("datasets.small.shards", 100_000)),
        Case("Anchors within anchors", file("my-study.yaml", "study: mine\n" + ANCHORS)),
        Case("Access token in the configuration", key("generators.lm.model", "hf_" + "x" * 34)),
        Case("API key as a model's name", key("generators.lm.model", "sk-" + "1234567890abcdef" * 2)),
        Case("API key in place of its variable's name", endpoint(api_key_env="0123456789abcdef" * 2)),
        Case("Password in an endpoint's address", endpoint(base_url="https://me:hunter2@host/v1")),
        Case("Key in the query of an endpoint's address", endpoint(base_url="https://host/v1?api_key=hunter2")),
        Case("Random text in any key", key("generators.lm.notice", "made by aB3dE6gH9jK1mN4pQ7sT2vW5xY8zA0cF")),
    ],
    "Models, templates and the cache": [
        Case("No model folder", key("generators.lm.model", "./llm")),
        Case("Model folder without tokenizer", without("lm/tokenizer.json")),
        Case("Model folder without weights", without("lm/model.safetensors")),
        Case("Model folder with a cut configuration", cut_configuration),
        Case("Model folder whose configuration is nested without end", model_file("config.json", b"[" * 100_000)),
        Case("Unknown model type", model_key("model_type", "lama")),
        Case("Empty weights", model_file("model.safetensors", b"")),
        Case("Weights that are something else", model_file("model.safetensors", b"version https://git-lfs\n" * 9)),
        Case("Cut weights", model_file("model.safetensors", lambda before: before[:-9])),
        Case("Weights cut in their header", model_file("model.safetensors", lambda before: before[:90])),
        Case("List of weights that are not there", model_file(
            "model.safetensors.index.json", b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}')),
        Case("Empty tokenizer", model_file("tokenizer.json", b"")),
        Case("Cut tokenizer", model_file("tokenizer.json", lambda before: before[: len(before) // 2])),
        Case("Tokenizer cut at a brace", model_file("tokenizer.json", lambda before: before[: before.index(b"}") + 1])),
        Case("Tokenizer that is none", model_file("tokenizer.json", b"{}")),
        Case("Unknown quantisation", key("generators.lm.quantization", "fp9")),
        Case("Window longer than the model's", key("generators.lm.max_model_len", 1024)),
        Case("Chat without a chat template", key("generators.lm.chat", True)),
        Case("Empty adapter", both(adapter(b""), key("generators.lm.adapter", "./adapter"))),
        Case("Scorer's model folder without tokenizer", encoder("config.json", "model.safetensors")),
        Case("Layer that the packaged scorer model does not have", key("scorers.minilm.layer", 12)),
        Case(
            "Layer that the model in a scorer's folder does not have",
            both(encoder("config.json", "model.safetensors", "tokenizer.json"), key("scorers.minilm.layer", 7)),
        ),
        Case("Endpoint without an address", both(unset("OPENAI_BASE_URL"), key("generators.lm", SERVED))),
        Case("Endpoint's address that is no http(s)", endpoint(base_url="ftp://host/v1")),
        Case("Endpoint's address without a host", endpoint(base_url="localhost:8000")),
        Case(
            "Endpoint's address in the environment that is none",
            both(set_variable("OPENAI_BASE_URL", "host/v1"), key("generators.lm", SERVED)),
        ),
        Case(
            "Endpoint's key with a line end",
            both(set_variable("MY_KEY", "abc\n"), endpoint(base_url="https://host/v1", api_key_env="MY_KEY")),
        ),
        Case("No such template", key("generators.lm.prompt", "tian2024")),
        Case("Template with an unknown placeholder", file("prompts/plain.yaml", PLACEHOLDER)),
        Case("Template without a placeholder it needs", file("prompts/plain.yaml", NO_CONTEXTS)),
        Case("Template with a part twice", line("prompts/plain.yaml", 'context: "{text}"')),
        Case("Template that is nested without end", file("prompts/plain.yaml", "zeroshot: " + "[" * 100_000)),
        Case("Template that is no YAML", file("prompts/plain.yaml", 'zeroshot: "x\n')),
        Case("Cache below a file", key("cache_dir", "small.run/cache")),
        Case("Prompt over the window", file(QUERIES, f"q1\t{'long ' * 110}\n")),
    ],
    "Queries": [
        Case("Header", file(QUERIES, "Query_ID\ttext\nq1\twhere does tea grow\n")),
        Case("Query twice", line(QUERIES, "q1\tagain")),
        Case("Empty query", line(QUERIES, "q3\t ")),
        Case("No tab", line(QUERIES, "q3 where does rice grow")),
        Case("Blank in a qid", line(QUERIES, "q 3\twhere does rice grow")),
        Case("Third column", line(QUERIES, "q3\twhere does rice grow\t1")),
        Case("Zero-width character in a qid", line(QUERIES, "q3\u200b\twhere does rice grow")),
        Case("NUL in a query", line(QUERIES, "q3\twhere does rice\0 grow")),
        Case("Terminal code in a query", line(QUERIES, "q3\twhere does \033[1mrice grow")),
        Case("Query of invisible characters", line(QUERIES, "q3\t\u200b\u2060")),
        Case("Line ends of old Macs", file(QUERIES, "q1\thow does the heart pump blood\rq2\twhere does tea grow\r")),
        Case("Not UTF-8", file(QUERIES, "q1\tcafé".encode("latin-1"))),
        Case("UTF-16", file(QUERIES, "q1\ttea".encode("utf-16"))),
        Case("No query", file(QUERIES, "")),
        Case("No such file", without(QUERIES)),
        Case("No such folder", lambda _: shutil.rmtree("small")),
    ],
    "Passages": [
        Case("Number of 5,000 digits", line(PASSAGES, f'{{"doc_id": "d4", "text": "rice", "n": {"9" * 5000}}}')),
        Case("Nesting of 100,000", line(PASSAGES, '{"doc_id": "d4", "text": ' + "[" * 100_000)),
        Case("Line that is no JSON", line(PASSAGES, '{"doc_id": "d4", "text": "rice')),
        Case("Missing key", line(PASSAGES, '{"docno": "d4", "text": "rice"}')),
        Case("doc_id that is no text", line(PASSAGES, '{"doc_id": 4, "text": "rice"}')),
        Case("doc_id twice", line(PASSAGES, '{"doc_id": "d1", "text": "rice"}')),
        Case("Empty text", line(PASSAGES, '{"doc_id": "d4", "text": " "}')),
        Case("Half a character", line(PASSAGES, '{"doc_id": "d4", "text": "cut \\ud83d"}')),
        Case("Terminal codes in a doc_id", line(PASSAGES, '{"doc_id": "\\u001b[2J 4", "text": "rice"}')),
        Case("NUL in a doc_id", line(PASSAGES, '{"doc_id": "d4\\u0000x", "text": "rice"}')),
        Case("Invisible letter in a doc_id", line(PASSAGES, '{"doc_id": "d4\u3164", "text": "rice"}')),
        Case("NUL in a text", line(PASSAGES, '{"doc_id": "d4", "text": "ri\\u0000ce"}')),
        Case("Text of invisible characters", line(PASSAGES, '{"doc_id": "d4", "text": "\u200b\ufeff \u3164"}')),
        Case("Key twice", line(PASSAGES, '{"doc_id": "d4", "text": "rice", "text": "tea"}')),
        Case("Both plain and gzipped", file(PASSAGES + ".gz", gzip.compress(b'{"doc_id": "d4", "text": "rice"}\n'))),
        Case("Damaged .gz", both(without(PASSAGES), file(PASSAGES + ".gz", b"no gzip"))),
        Case(".gz that was cut", both(without(PASSAGES), file(PASSAGES + ".gz", CUT_GZIP))),
    ],
    "Judgements": [
        Case("Wrong number of columns", line(QRELS, "q2 d2 1")),
        Case("Label that is no integer", line(QRELS, "q2 0 d2 1.5")),
        Case("Zero-width character in a docno", line(QRELS, "q2 0 d\u200b2 1")),
        Case("No-break space for a blank", line(QRELS, "q2 0 d2\u00a01")),
        Case("Passage judged twice", line(QRELS, "q1 0 d1 2")),
        Case("No judgement for any query", file(QRELS, "q7 0 d1 3\n")),
        Case("No relevant passage at a grade", file(QRELS, "q1 0 d1 2\nq2 0 d3 2\n")),
        Case("No relevant passage with a text", file(QRELS, "q1 0 d8 3\nq2 0 d9 3\n")),
    ],
    "Runs": [
        Case("Wrong number of columns", line(RUN, "q1 Q0 d3 3 0.5")),
        Case("Score that is no number", line(RUN, "q1 Q0 d3 3 nan mine")),
        Case("Score in Python's notation", line(RUN, "q1 Q0 d3 3 1_000 mine")),
        Case("Score in digits of another script", line(RUN, "q1 Q0 d3 3 \u0663 mine")),
        Case("Score beyond single precision", line(RUN, "q1 Q0 d3 3 1e39 mine")),
        Case("NUL in a qid", line(RUN, "q1\0 Q0 d3 3 0.5 mine")),
        Case("docno twice", line(RUN, "q1 Q0 d1 3 0.5 mine")),
        Case("No known query", file(RUN, "q7 Q0 d1 1 2.5 mine\n")),
        Case("No known docno", file(RUN, "q1 Q0 D1 1 2.5 mine\n")),
        Case("No such file", without(RUN)),
    ],
    "Annotation sources": [
        Case("Unknown annotation source", annotated("qrel", QRELS_KIND)),
        Case("A combination of an unknown source", annotated("blend", {**QRELS_KIND, **ERAG_KIND, "blend": BLEND})),
        Case("Labels by a scorer outside the grid", annotated("erag", {"erag": {"kind": "erag", "scorer": "bleu"}})),
        Case(
            "Labels by a scorer without bounds",
            annotated("erag", ERAG_KIND, key("scorers.minilm", {"kind": "length"})),
        ),
        Case("Labels from gold answers that are not there", annotated("gold", {"gold": {"kind": "containment"}})),
        Case("Labels without a cutoff above 1", annotated("qrels", QRELS_KIND, key("grid.k", [1]))),
        Case("Labels deeper than the contexts", annotated("qrels", QRELS_KIND, key("annotation_depth", 80))),
        Case(
            "Labels without the ordering descending",
            annotated("qrels", QRELS_KIND, key("grid.orderings", ["ascending"])),
        ),
        Case("A judge that isn't there", annotated("llm", {"llm": JUDGE})),
        Case("A grading prompt without a placeholder", both(
            annotated("grades", {"grades": {"kind": "graded_llm", "prompt": "bare"}}),
            file("prompts/bare.yaml", NO_CONTEXTS),
        )),
        Case("Labels from a file that isn't there", annotated("people", PEOPLE)),
        Case("A file of labels with a grade that is no number", annotated("people", PEOPLE, file(
            "people.qrels", "q1 0 d1 good\n"
        ))),
        Case("A file of labels with 3 columns", annotated("people", PEOPLE, file("people.qrels", "q1 d1 2\n"))),
    ],
    "Claims with evidence": [
        Case("Unknown claims", both(ACU, key("acu.claims", ["few"]))),
        Case("Unknown template of claims", both(ACU, key("acu.prompts", ["plan"]))),
        Case("Generator that can't score", both(ACU, key("generators.lm", {**SERVED, "base_url": "https://host/v1"}))),
        Case("No such file of claims", both(ACU, without(CLAIMS))),
        Case("Address in the list of sources", both(ACU, file("bad.txt", "https://a.example/b\n"),
                                                    key("acu.unreliable_sources", "bad.txt"))),
        Case("Unknown stance", both(ACU, line(CLAIMS, "b,rice,grows,suports"))),
        Case("Empty evidence", both(ACU, line(CLAIMS, "b,rice,,supports"))),
        Case("Row of claims twice", both(ACU, line(CLAIMS, "a,rice,grows,supports"))),
        Case("Missing column of claims", both(ACU, file(CLAIMS, "id,claim,evidence\na,tea,grows\n"))),
    ],
}  # fmt: skip
