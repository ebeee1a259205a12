"""Provide rules with download receipts and with the conversion of GGUF files."""

import functools
from typing import TYPE_CHECKING, Any

from ragrelay.base.models.gguf_conversion import KEY, conversion
from ragrelay.base.models.locations import local_path
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.fetching.downloads import downloads_of, required_downloads
from ragrelay.execution.study import files
from ragrelay.execution.study.wildcards import OfJob
from ragrelay.generation.generator import GENERATOR_KINDS

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules


class Downloads:
    """The models and collections that a study downloads, and the models that it converts (`study.downloads`)."""

    def __init__(self, study: "StudyOfRules") -> None:
        self.study = study

    @functools.cached_property
    def needed(self) -> dict[str, dict[str, object]]:
        """The downloads that the grid needs, as a mapping from name to arguments for fetch_input."""
        return required_downloads(self.study)

    def receipts_of(self, wildcard: str) -> OfJob:
        """Return an input function that lists the download receipts for a job's dataset, generator or scorer."""
        return lambda wildcards: self.receipts(f"{wildcard}s", getattr(wildcards, wildcard))

    def receipts(self, section: str, entry: str) -> list[StudyFile]:
        """Return an entry's download receipts or, for a generator with a GGUF file, the receipt of its conversion."""
        if section == "generators" and self.conversion(entry) is not None:
            return [files.converted.at(generator=entry)]
        return self._downloaded(section, entry)

    def _downloaded(self, section: str, entry: str) -> list[StudyFile]:
        names = downloads_of(section, self.study.config[section][entry])
        return files.fetched.each({"fetched": name} for name in names)

    @functools.cache  # noqa: B019 - a process has a single study
    def conversion(self, generator: str) -> dict[str, Any] | None:
        """Return the settings for converting a generator's GGUF file, or None if the model isn't a GGUF file."""
        definition = self.study.generator(generator)
        return conversion(definition, self.study.cache_dir) if GENERATOR_KINDS[definition["engine"]].in_job else None

    def converted_from(self, generator: str) -> list[str]:
        """Return the inputs for converting a generator's GGUF file: the local file, or the download receipts."""
        path = local_path(self.study.generator(generator)["model"])
        return [*([str(path)] if path else []), *self._downloaded("generators", generator)]

    @functools.cached_property
    def conversions(self) -> list[StudyFile]:
        """The receipts of all conversions that the study needs."""
        names = [name for name in self.study.selected()["generators"] if self.conversion(name) is not None]
        return files.converted.each({"generator": name} for name in names)

    def with_conversion(self, generator: str) -> dict[str, object]:
        """Return a generator's definition, with the conversion settings if the model is a GGUF file."""
        converted = self.conversion(generator)
        return {**self.study.generator(generator), **({KEY: converted} if converted else {})}
