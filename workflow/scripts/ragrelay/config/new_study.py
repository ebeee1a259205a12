"""Write a new study's configuration from run files, a collection and a model: python -m ragrelay.config.new_study."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ragrelay.base.display.terminal import say
from ragrelay.base.errors import InputError
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.collection.sources.local import NEEDED

HEAD = "# Keys that are not here have their value from config/config.yaml; config/README.md describes them.\n"


def overlay(study: str, runs: Sequence[str], collection: str, model: str) -> dict[str, object]:
    """Return the new study's configuration. ``model``: the name of a generator in the catalogue, a folder or a hub id.

    Raises InputError if a run file is missing, or if the folder ``collection`` lacks files or relevant passages.
    """
    for path in runs:
        if not Path(path).is_file():
            raise InputError(path, "no such file", "a run file in TREC format")
    for names in NEEDED:
        if not any(Path(collection, name).is_file() for name in names):
            raise InputError(collection, f"no {names[0]}", "a dataset folder (see docs/add-a-dataset.md)")
    judged = Path(collection, "qrels.txt").read_text(encoding="utf-8")
    relevant = sorted({int(label) for label in re.findall(r"(?m)\s(\d+)\s*$", judged)} - {0})
    if not relevant:
        raise InputError(Path(collection, "qrels.txt"), "no label above 0", "at least one relevant passage")
    retrievers = dict(zip(_names(runs), runs, strict=True))
    catalogue = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    generator = model if model in catalogue["generators"] else _names([model])[0]
    own = {} if generator == model else {generator: {"model": model, "prompt": "chat", "chat": True}}
    dataset = _names([collection])[0]
    return {
        "study": study,
        "grid": {"datasets": [dataset], "retrievers": [*retrievers], "orderings": ["descending"], "k": [1, 3],
                 "seeds": [1], "generators": [generator]},
        "datasets": {dataset: {"source": "local", "path": collection, "references": {"relevant": relevant[0]}}},
        "retrievers": {name: {"kind": "run", "path": path} for name, path in retrievers.items()},
        **({"generators": own} if own else {}),
        "analysis": {"reference_retriever": next(iter(retrievers))},
    }  # fmt: skip


def _names(paths: Sequence[str]) -> list[str]:
    """Return a distinct catalogue name for each path, taken from its file name without suffixes."""
    names: list[str] = []
    for path in paths:
        stem = re.sub(r"(\.(gz|bz2|xz|zst|run|txt|trec|tsv))+$", "", Path(path).name) or "it"
        name = re.sub(r"^[^A-Za-z0-9]+|[^\w.-]+", "-", stem, flags=re.ASCII).strip("-") or "it"
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the configuration file and print the next command to run."""
    parser = argparse.ArgumentParser(prog="python -m ragrelay.config.new_study", description=__doc__)
    parser.add_argument("runs", nargs="+", help="run files in TREC's format; the others are compared with the first")
    parser.add_argument("--collection", required=True, help="folder with passages.jsonl, queries.tsv and qrels.txt")
    parser.add_argument("--model", required=True, help="a generator in config/config.yaml, a folder, or a hub's model")
    parser.add_argument("--study", default="my-runs", help="name of the study (my-runs)")
    parser.add_argument(
        "--file", default="my-study.yaml", help="where the study is written (my-study.yaml); no file is replaced"
    )
    given = parser.parse_args(arguments)
    try:
        made = overlay(given.study, given.runs, given.collection, given.model)
        with Path(given.file).open("x", encoding="utf-8") as file:
            file.write(HEAD + yaml.safe_dump(made, sort_keys=False, default_flow_style=None, allow_unicode=True))
    except FileExistsError:
        sys.exit(f"ragrelay: error: {given.file}: found an existing file; expected another name (--file)")
    except InputError as error:
        sys.exit(f"ragrelay: error: {error}")
    say(
        f"{given.file}: references are passages with label {lowest_label(made)} or higher. Next:",
        f"snakemake --cores 2 plan --configfile {given.file}",
    )


def lowest_label(made: dict[str, Any]) -> int:
    """Return the lowest label that makes a passage a reference. ``made``: a configuration returned by ``overlay``."""
    (dataset,) = made["datasets"].values()
    return int(dataset["references"]["relevant"])


if __name__ == "__main__":
    main()
