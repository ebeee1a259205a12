"""Check configuration files before Snakemake reads them, because Snakemake's errors name neither file nor line."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from ragrelay.base.errors import InputError, type_name
from ragrelay.base.io.yaml_keys import read_yaml, yaml_fault


def check_file(path: Path) -> None:
    """Raise InputError unless the file is UTF-8 and contains a YAML mapping. The message names the line, if known."""
    expected = "a YAML mapping"
    if not path.is_file():
        raise InputError(path, "a folder" if path.is_dir() else "no such file", "a configuration file")
    content = path.read_bytes()
    try:
        content.decode("utf-8")
        data = read_yaml(path)
    except UnicodeDecodeError as error:
        place = f"{path}, line {content[: error.start].count(10) + 1}"
        raise InputError(place, f"byte {content[error.start]:#04x}", "UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise InputError(place, yaml_fault(error), expected) from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        if "4300 digits" in str(error):
            raise InputError(path, "an integer with more than 4,300 digits", "fewer digits") from None
        raise InputError(path, yaml_fault(error), expected) from None
    if not isinstance(data, dict):
        raise InputError(path, "no content" if data is None else type_name(data), expected)


def check_overlays(overlays: Sequence[str | Path], given: Mapping[str, object], study: str) -> None:
    """Raise InputError if ``overlays`` don't set the key `study`, so that results can't go to another study's folder.

    ``given``: the keys from overlays and the command line. ``study``: the name of the study in the catalogue file.
    """
    if overlays and "study" not in given:
        expected = f"a line 'study: <name>', so that results go to results/<name>/ and don't mix with those of {study}"
        raise InputError(" and ".join(map(os.path.relpath, overlays)), "no key 'study'", expected)
