"""Changes that spoil the small study of tests.support.bad_input, and what a case of bad input is."""

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Change = Callable[[dict[str, Any]], object]


CUT_GZIP = gzip.compress(b'{"doc_id": "d1", "text": "rice"}\n', mtime=0)[:-9]
NO_TENSORS = b"\x02" + bytes(7) + b"{}"
"""A safetensors file without tensors."""


FINE = "fine"
Expected = tuple[str, Change, str]
"""What is wrong, the change that makes it so, and a part of the line that it ends in; FINE if there is none."""


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


QUESTION = (
    "from ragrelay.questions.bases import AboutAnswers",
    "from ragrelay.base.vocabulary.study_file import StudyFile",
    "class Mine(AboutAnswers):",
    "    does = ('Ask.', 'Read.')",
    "    receipt = StudyFile('{dataset}/mine/{generator}/{retriever}.json', 'ask_mine', 'receipt')",
    "    made = {'table': StudyFile('{dataset}/mine/{generator}/{retriever}.parquet', 'read_mine', 'table')}",
)
"""The beginning of a question's module."""


def own_question(name: str, *lines: str) -> Change:
    """A question of the user's own in the module ``name``."""
    return both(file(f"{name}.py", "\n".join((*lines, ""))), key("questions", [f"{name}:Mine"]))


def unset(variable: str) -> Change:
    return lambda _: os.environ.pop(variable, None)


def set_variable(variable: str, value: str) -> Change:
    return lambda _: os.environ.update({variable: value})


def without(name: str) -> Change:
    return lambda _: Path(name).unlink()


def both(*changes: Change) -> Change:
    return lambda config: [change(config) for change in changes]


def brought(line: str) -> Change:
    """The run has passages of a file of one ``line``."""
    return both(file("mine.jsonl", line + "\n"), key("retrievers.my-run.passages", "mine.jsonl"))


def judging(generator: str = "lm", **keys: Any) -> Change:
    """A scorer that asks a generator."""
    return key("scorers.minilm", {"kind": "llm_judge", "generator": generator, **keys})


def panel(of: list[str], **keys: Any) -> Change:
    """A panel of judges, with three in the catalogue."""
    judge = {"kind": "llm_judge", "generator": "lm"}
    judges = {"judged": judge, "more": {**judge, "scale": "grades"}, "unlike": {**judge, "references": "none"}}
    judges["words"] = {"kind": "token_f1"}
    named = [key(f"scorers.{name}", entry) for name, entry in judges.items()]
    return both(*named, key("scorers.minilm", {"kind": "panel", "of": of, **keys}))


def thinking(generator: str = "lm") -> Change:
    """Makes the generator one that thinks."""
    return key(f"generators.{generator}.thinking", {"marks": ["<think>", "</think>"], "budget": 9})


def judge_template(content: str) -> Change:
    """Writes the template of the scorer that asks a generator."""

    def change(_: dict[str, Any]) -> None:
        Path("judge_prompts").mkdir(exist_ok=True)
        Path("judge_prompts/answer_yes_no.yaml").write_text(content)

    return change


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

CLOCK = b"It is {{ strftime_now('%d %b %Y') }}. {{ messages[0].content }}"

BARE_LIST = 'list: "{query} {contexts}"\ncontext: "{text} "\nimportance: "{query} {nugget} "\n'
NUGGETS = '{"qid": "q1", "nuggets": [{"text": "it pumps", "importance": "vital"}]}\n'


def damaged_parquet(name: str) -> Change:
    """A Parquet file of labels, answers and nuggets with this name, in which a bit of a qid is turned."""
    row = {"qid": "q1", "docno": "d1", "label": 2, "answer": "tea", "text": "tea", "vital": True}
    table = pa.Table.from_pylist([row])

    def change(_: dict[str, Any]) -> None:
        pq.write_table(table, name, compression="none", write_statistics=False, write_page_checksum=True)
        path = Path(name)
        path.write_bytes(path.read_bytes().replace(b"q1", b"q3", 1))

    return change


def nuggets(content: str | None = None, *changes: Change, **keys: Any) -> Change:
    """Asks for a scorer that counts nuggets: those of the file ``nuggets.jsonl``, where it has ``content``."""
    entry = {"kind": "nuggets", "generator": "lm", **(keys or {"path": "nuggets.jsonl"})}
    written = [] if content is None else [file("nuggets.jsonl", content)]
    return both(key("scorers.nuggets", entry), key("grid.scorers", ["nuggets"]), *written, *changes)


def answered(*lines: str, **keys: Any) -> Change:
    """Adds a generator whose answers are these lines of a file, after one that is right."""
    right = '{"qid": "q1", "answer": "it pumps", "retriever": "rel", "k": 1}'
    entry = {"engine": "file", "path": "{dataset}.jsonl", **keys}
    content = "".join(f"{line}\n" for line in (right, *lines))
    return both(file("small.jsonl", content), key("grid.generators", ["lm", "theirs"]), key("generators.theirs", entry))


def answered_alone(line: str) -> Change:
    """Adds a generator with this line in its file of answers to single passages, after one that is right."""
    right = '{"qid": "q1", "docno": "d1", "answer": "it pumps"}'
    name = "passages.jsonl"
    return both(file(name, f"{right}\n{line}\n"), answered(single_passages=name))


def catalogue_file(content: str | bytes) -> Change:
    """The file that the Snakefile names."""

    def change(config: dict[str, Any]) -> None:
        Path("config").mkdir()
        file("config/config.yaml", content)(config)

    return change


def few_words(_: dict[str, Any]) -> None:
    """The generator's tokenizer has no word but yes."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    for path in Path("lm").glob("tokenizer*"):
        path.unlink()  # a link to the model of all cases
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "</s>": 1, "yes": 2}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>").save_pretrained("lm")
