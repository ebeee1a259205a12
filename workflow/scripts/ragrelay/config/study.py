"""A validated study: the grid's names and the catalogue's definitions, checked against each other."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from ragrelay.collection.catalogued import is_catalogued
from ragrelay.config.models import check_model
from ragrelay.config.schema import validated
from ragrelay.errors import InputError
from ragrelay.prompts import load_template

RESERVED = ("zeroshot", "none")
SECTIONS = ("datasets", "retrievers", "generators", "scorers")


class Study:
    """The resolved configuration of one study.

    ``config`` is the whole configuration with defaults; ``folder`` is where relative paths are looked up, ``prompts``
    the folders of templates, of which the first that has one wins. Raises InputError for the first entry that can't
    work, before anything is run.
    """

    def __init__(
        self, config: Mapping[str, Any], folder: str | Path = ".", prompts: Sequence[str | Path] = ("config/prompts",)
    ) -> None:
        self.config = validated(config)
        self.folder = Path(folder)
        self.prompts = [Path(path) for path in prompts]
        self.name: str = self.config["study"]
        self.cache_dir: str = self.config["cache_dir"]
        self.grid: dict[str, list[Any]] = self.config["grid"]
        self._check_names()
        self._check_numbers()
        self._check_reference_retriever(config)
        for name in self.grid["retrievers"]:
            self._check_retriever(name)
        for name in self.grid["datasets"]:
            self._check_dataset(name)
        for name in self.grid["generators"]:
            self._check_generator(name)
        for name in self.grid["scorers"]:
            check_model(f"config key 'scorers.{name}.model'", self.scorer(name)["model"], self.folder)

    def dataset(self, name: str) -> dict[str, Any]:
        """Definition of dataset ``name``."""
        return self.config["datasets"][name]

    def retriever(self, name: str) -> dict[str, Any]:
        """Definition of retriever ``name``."""
        return self.config["retrievers"][name]

    def generator(self, name: str) -> dict[str, Any]:
        """Definition of generator ``name``."""
        return self.config["generators"][name]

    def scorer(self, name: str) -> dict[str, Any]:
        """Definition of scorer ``name``."""
        return self.config["scorers"][name]

    def template_path(self, name: str) -> Path:
        """File of the prompt template ``name``; in the first folder of templates where none has it."""
        paths = [folder / f"{name}.yaml" for folder in self.prompts]
        return next((path for path in paths if path.is_file()), paths[0])

    def grades(self, dataset: str) -> dict[str, int]:
        """Reference grades of ``dataset``, name to lowest label, the most lenient first."""
        references = self.dataset(dataset)["references"]
        return dict(sorted(references.items(), key=lambda item: (item[1], item[0])))

    def selected(self) -> dict[str, Any]:
        """The configuration with only those catalogue entries that the grid uses, and no ``compare``."""
        used = {section: self.grid[section] for section in SECTIONS} | {"retrievers": self.needed_retrievers()}
        return {
            key: {name: value[name] for name in value if name in used[key]} if key in SECTIONS else value
            for key, value in self.config.items()
            if key != "compare"
        }

    def needed_retrievers(self) -> list[str]:
        """The grid's retrievers and the first stages they stand on, sorted."""
        needed: set[str] = set()
        for name in self.grid["retrievers"]:
            while name is not None and name not in needed:
                needed.add(name)
                name = self.retriever(name).get("first_stage")
        return sorted(needed)

    def _check_names(self) -> None:
        for section in SECTIONS:
            catalogue = self.config[section]
            for name in self.grid[section]:
                if name not in catalogue:
                    raise InputError(f"config key 'grid.{section}'", repr(name), "one of " + ", ".join(catalogue))
            for name in catalogue:
                if name in RESERVED:
                    raise InputError(
                        f"config key '{section}.{name}'",
                        "a reserved name",
                        "a name other than " + " or ".join(RESERVED),
                    )

    def _check_reference_retriever(self, given: Mapping[str, Any]) -> None:
        """A name that was given must be one of the catalogue's; the default may be absent, and marks nothing then."""
        name = given.get("analysis", {}).get("reference_retriever")
        if name is not None and name not in self.config["retrievers"]:
            known = ", ".join(self.config["retrievers"])
            raise InputError("config key 'analysis.reference_retriever'", repr(name), f"one of {known}, or null")

    def _check_numbers(self) -> None:
        deepest = max(self.grid["k"])
        if deepest > self.config["context_depth"]:
            raise InputError(
                "config key 'grid.k'", str(deepest), f"at most context_depth = {self.config['context_depth']}"
            )
        import ir_measures  # here, because it is only needed once per start

        for measure in self.grid["measures"]:
            try:
                parsed = ir_measures.parse_measure(measure)
            except (ValueError, NameError, SyntaxError) as error:
                raise InputError(
                    "config key 'grid.measures'", repr(measure), f"a measure of ir_measures ({error})"
                ) from None
            if "cutoff" in parsed.params:
                raise InputError(
                    "config key 'grid.measures'", repr(measure), "a measure without cutoff: each is taken at every k"
                )
            if "cutoff" not in parsed.SUPPORTED_PARAMS:
                raise InputError("config key 'grid.measures'", repr(measure), "a measure that takes a cutoff")

    def _check_retriever(self, name: str) -> None:
        self._check_stages(name)
        definition, place = self.retriever(name), f"config key 'retrievers.{name}'"
        if definition["kind"] == "oracle" and definition.get("min_label", -inf) > definition.get("max_label", inf):
            raise InputError(place, "min_label above max_label", "min_label ≤ max_label")
        if "model" in definition:
            check_model(f"config key 'retrievers.{name}.model'", definition["model"], self.folder)
        if definition["kind"] == "run":
            for dataset in self.grid["datasets"]:
                path = self.folder / run_path(definition, dataset)
                if not path.is_file():
                    raise InputError(f"config key 'retrievers.{name}.path'", f"no file {path}", "a TREC run")
        if "first_stage" in definition:
            self._check_retriever(definition["first_stage"])

    def _check_stages(self, name: str) -> None:
        seen = [name]
        while (stage := self.retriever(seen[-1]).get("first_stage")) is not None:
            place = f"config key 'retrievers.{seen[-1]}.first_stage'"
            if stage not in self.config["retrievers"]:
                raise InputError(place, repr(stage), "one of " + ", ".join(self.config["retrievers"]))
            if stage in seen:
                raise InputError(place, "a circle " + " → ".join([*seen, stage]), "an end")
            seen.append(stage)

    def _check_dataset(self, name: str) -> None:
        definition = self.dataset(name)
        if definition["source"] == "ir_datasets":
            if not is_catalogued(definition["id"]):
                place = f"config key 'datasets.{name}.id'"
                raise InputError(place, repr(definition["id"]), "an id of the ir_datasets catalogue")
            return
        place = f"config key 'datasets.{name}.path'"
        folder = self.folder / definition["path"]
        if not folder.is_dir():
            raise InputError(place, f"no folder {folder}", "a folder with passages.jsonl, queries.tsv and qrels.txt")
        for alternatives in (("passages.jsonl", "passages.jsonl.gz"), ("queries.tsv",), ("qrels.txt",)):
            if not any((folder / file).is_file() for file in alternatives):
                raise InputError(place, f"no file {folder / alternatives[0]}", "it beside the others")

    def _check_generator(self, name: str) -> None:
        definition = self.generator(name)
        load_template(self.template_path(definition["prompt"]))
        check_model(f"config key 'generators.{name}.model'", definition["model"], self.folder, tokenizer=True)


def run_path(definition: Mapping[str, Any], dataset: str) -> str:
    """Path of the run file of a ``kind: run`` retriever for ``dataset``."""
    return definition["path"].replace("{dataset}", dataset)
