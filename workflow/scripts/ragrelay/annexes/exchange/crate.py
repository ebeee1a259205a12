"""Describe a study's results as an RO-Crate (version 1.1), with the content and origin of each file.

Format: https://www.researchobject.org/ro-crate/specification/1.1/
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ragrelay
from ragrelay.annexes.exchange import files as exported_files
from ragrelay.annexes.notebook.study_results import Results
from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.hashing import file_hash
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.report.signature import signatures

VERSION = "https://w3id.org/ro/crate/1.1"
TYPES = {".parquet": "application/vnd.apache.parquet", ".json": "application/json", ".jsonl": "application/jsonl",
         ".html": "text/html", ".md": "text/markdown", ".csv": "text/csv"}  # fmt: skip
TERMS = "Texts from the collection and from models are subject to their terms."


def describe_results(
    results: Results, study: str, paths: Iterable[Path], questions: Iterable[Mapping[str, str]] = ()
) -> None:
    """Write ``ro-crate-metadata.json``, which describes the files in ``paths``, to the results folder.

    ``questions``: the tables that are computed from models' replies, each with a path pattern, rule and description.
    Raises InputError if the study isn't finished.
    """
    declared = [
        *files.result_files(),
        *(StudyFile(question["file"], question["rule"], question["about"]) for question in questions),
    ]
    config, versions = results.provenance["config"], results.provenance["versions"]
    listed = [_file(path, results.folder, declared) for path in sorted(set(paths))]
    made = datetime.fromtimestamp((results.folder / files.provenance.path).stat().st_mtime, UTC)
    software = [_software("ragrelay", ragrelay.__version__), *(_software(*version) for version in versions.items())]
    models = {name: generator["model"] for name, generator in results.provenance["generators"].items()}
    conclusions = "; ".join(f"{answer.topic}: {answer.sentence}" for answer in results.answer())
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Results of the study {study}",
        "description": f"Retrieval-augmented generation, evaluated with ragrelay. {conclusions}",
        "datePublished": made.strftime("%Y-%m-%d"),
        "license": TERMS,
        "identifier": list(signatures(results.provenance)),
        "keywords": ["retrieval-augmented generation", "evaluation", *config["grid"]["datasets"], *models.values()],
        "hasPart": [{"@id": entity["@id"]} for entity in listed],
        "mentions": [{"@id": "#run"}],
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Workflow run of the study {study}",
        "endTime": made.isoformat(timespec="seconds"),
        "instrument": [{"@id": entity["@id"]} for entity in software],
        "result": [{"@id": entity["@id"]} for entity in listed],
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": VERSION},
        "about": {"@id": "./"},
    }
    graph = [descriptor, root, run, *software, *listed]
    write_json({"@context": f"{VERSION}/context", "@graph": graph}, results.folder / exported_files.crate.path)


def _software(name: str, version: str) -> dict[str, Any]:
    return {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "softwareVersion": version}


def _file(path: Path, folder: Path, known: Iterable[StudyFile]) -> dict[str, object]:
    name = path.relative_to(folder).as_posix()
    declared = next(file for file in known if _pattern(file.path).fullmatch(name))
    return {
        "@id": name,
        "@type": "File",
        "name": path.name,
        "description": f"{declared.about}; written by the rule {declared.rule}",
        "contentSize": str(path.stat().st_size),
        "sha256": file_hash(path),
        "encodingFormat": TYPES.get(path.suffix, "application/octet-stream"),
    }


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^}]*)\}", path)
    return re.compile("".join(re.escape(part) if place % 2 == 0 else f"(?:{part})" if "|" in part else "[^/]+"
                              for place, part in enumerate(parts)))  # fmt: skip
