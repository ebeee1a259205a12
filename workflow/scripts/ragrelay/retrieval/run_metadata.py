"""The header of a run file: where the run comes from, as comments in YAML.

Source: Breuer, Keller and Schaer, ir_metadata: An Extensible Metadata Schema for IR Experiments, SIGIR 2022; names of
the fields as on www.ir-metadata.org. What is not known (people, hardware of other runs, addresses) is left out.
"""

from collections.abc import Mapping
from typing import Any

import yaml

import ragrelay
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, Retriever, needed

START, END = "# ir_metadata.start", "# ir_metadata.end"
STAGE = {"first_stage": "reranks", "retrievers": "interpolates"}
"""Keys that name other retrievers, and what the schema calls them."""


def describe_run(
    name: str, retrievers: Mapping[str, Mapping[str, Any]], dataset: str, source: Mapping[str, Any]
) -> dict[str, Any]:
    """Method and data of the run of retriever ``name`` for ``dataset``, whose definition is ``source``.

    ``retrievers``: definitions by name. The method has an entry per retriever that the run is made of, itself last.
    A run made without a person is ``automatic``; imported run files and those of judgements do not say.
    """
    stages = [*(other for other in needed([name], retrievers) if other != name), name]
    kinds = [RETRIEVER_KINDS.of(retrievers[stage]) for stage in stages]
    known = not any(kind.needs_qrels or kind.files(dataset) for kind in kinds)
    collection = {"name": dataset} | ({"ir_datasets": source["id"]} if source["source"] == "ir_datasets" else {})
    return {
        "method": {
            **({"automatic": True} if known else {}),
            "score ties": "docno, descending",
            "retrieval": [_stage(stage, retrievers[stage], kind) for stage, kind in zip(stages, kinds, strict=True)],
        },
        "data": {"test collection": collection},
    }


def _stage(name: str, definition: Mapping[str, Any], kind: Retriever) -> dict[str, Any]:
    named = {STAGE[key]: definition[key] for key, _ in kind.stages() if key in STAGE}
    rest = {key: value for key, value in definition.items() if key not in (*STAGE, "kind") and value is not None}
    return {"name": name, "method": definition["kind"], **named, **({"params": rest} if rest else {})}


def header(described: Mapping[str, Any], tag: str) -> list[str]:
    """The lines of a header that says ``described``, the run's ``tag`` and this package's version."""
    libraries = {"python": [f"ragrelay=={ragrelay.__version__}"]}
    told = {"tag": tag, "platform": {"software": {"libraries": libraries}}, **described}
    lines = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=2**20).splitlines()
    return [START, *(f"# {line}" for line in lines), END]
