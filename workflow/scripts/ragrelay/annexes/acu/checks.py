"""Check the config key ``acu``: names, files, templates and generators."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.acu.characteristics import domains
from ragrelay.annexes.acu.prompts import check_system, load_claim_template
from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.generation.generator import check_gives_words, check_scores, check_unthinking


def check_acu(study: CheckedStudy) -> None:
    """Raise InputError for the first invalid setting under the config key ``acu``; do nothing if the key is missing."""
    config = study.config
    wanted = config.get("acu")
    if not wanted:
        return
    for section in ("claims", "generators"):
        for name in wanted[section]:
            if name not in config[section]:
                raise InputError(f"config key 'acu.{section}'", repr(name), one_of(config[section], name))
    for name in wanted["claims"]:
        CLAIM_KINDS.of(config["claims"][name]).check(f"config key 'claims.{name}", study)
    if isinstance(wanted["prompts"], Mapping) and set(wanted["prompts"]) != set(wanted["generators"]):
        expected = "templates for the generators in acu.generators: " + ", ".join(wanted["generators"])
        raise InputError("config key 'acu.prompts'", "templates for " + ", ".join(wanted["prompts"]), expected)
    for generator in wanted["generators"]:
        for name in prompts_of(wanted, generator):
            template = load_claim_template(study.template_path(name, "claim_prompts"))
            check_system(f"config key 'acu.prompts' ({name})", template, config["generators"][generator]["chat"])
    for name in wanted["generators"]:
        place, definition = f"config key 'acu.generators' ({name})", config["generators"][name]
        check_scores(place, definition)
        check_unthinking(place, definition, "generator")
    if (judge := wanted["evidence_judge"]) is not None:
        if judge not in config["generators"]:
            raise InputError("config key 'acu.evidence_judge'", repr(judge), one_of(config["generators"], judge))
        place, definition = f"config key 'acu.evidence_judge' ({judge})", config["generators"][judge]
        check_gives_words(place, definition)
        check_unthinking(place, definition)
    for key in ("unreliable_sources", "reliable_sources"):
        if wanted[key] is not None:
            domains(study.folder / wanted[key])
    if wanted["reliable_sources"] and not wanted["unreliable_sources"]:
        expected = "key acu.unreliable_sources as well"
        raise InputError("config key 'acu.reliable_sources'", "a key that has no effect on its own", expected)


def prompts_of(acu: Mapping[str, Any], generator: str) -> Sequence[str]:
    """Return the names of the prompt templates used with ``generator``. ``acu``: the settings under that config key."""
    prompts = acu["prompts"]
    templates: Sequence[str] = prompts[generator] if isinstance(prompts, Mapping) else prompts
    return templates


def acu_generators(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the claims study's generators, including the evidence judge if it is in the catalogue."""
    acu = config.get("acu", {})
    judge = acu.get("evidence_judge")
    return [*acu.get("generators", []), *([judge] if judge in config["generators"] else [])]


def acu_names(config: Mapping[str, Any], key: str) -> Sequence[str]:
    """Return the names listed under the config key ``acu.<key>``, or an empty list if there is no claims study."""
    return config.get("acu", {}).get(key, [])
