"""The targets cache_prune and cache_compact on the cache of the study with every optional part."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from ragrelay.execution.jobs.cache_check import check_cache
from ragrelay.execution.plan.cache import KINDS, NAME, STORES

from tests.support.sandbox import Sandbox

MADE = ("generated/demo-lm/shard0.json", "context_use/demo-lm/rel.parquet", "scores/minilm/demo-lm/rel.parquet")


@pytest.fixture(scope="module")
def study(optional: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A copy whose cache is days old."""
    study = optional.copied_to(tmp_path_factory.mktemp("cache") / "study")
    for path in (study.folder / "cache").rglob("*"):
        os.utime(path, (0, 0))
    return study


def entries(study: Sandbox) -> set[Path]:
    """Stores, indexes and embeddings; hashes of files serve every study."""
    return {path for kind in {*KINDS} - {"hashes"} for path in (study.folder / "cache" / kind).glob("[!.]*")}


def test_all_that_the_study_made_is_needed_and_what_nobody_asked_for_is_removed(study: Sandbox) -> None:
    before, planted = entries(study), set[Path]()
    for kind in {path.parent for path in before}:
        known = min(path for path in before if path.parent == kind)
        other = kind / NAME.sub(lambda name: "0" * len(name[0]), known.name)
        (shutil.copytree if known.is_dir() else shutil.copy2)(known, other)
        planted.add(other)
    assert {path.parent.name for path in planted} == {*KINDS} - {"hashes", "models", "processed"}
    listed = study.snakemake("cache_prune").stdout
    assert {path for path in entries(study) if f"{path.relative_to(study.folder)}: not needed" in listed} == planted
    study.snakemake("cache_prune", "--config", "prune=remove")
    assert entries(study) == before


def rows(study: Sandbox) -> dict[Path, list[tuple[object, ...]]]:
    """The key of every row that a reader sees, by store."""
    cache = study.folder / "cache"
    stores = [stored(cache, folder.name) for kind, stored in STORES.items() for folder in (cache / kind).glob("[!.]*/")]
    return {
        store.folder: sorted(pl.concat(pl.read_parquet(part, columns=store.key) for part in store.parts()).rows())
        for store in stores
    }


def test_joined_stores_give_the_same_files_and_nothing_is_made_again(study: Sandbox) -> None:
    held = {store: sorted(set(keys)) for store, keys in rows(study).items()}
    study.snakemake("cache_compact")
    assert rows(study) == held and len(held) > 3
    assert not list(check_cache(study.folder / "cache"))
    assert study.planned() == {}
    made = [study.results / "small" / name for name in MADE]
    before = [path.read_bytes() for path in made[1:]]
    for path in made:
        path.unlink()
    study.snakemake(*(str(path.relative_to(study.folder)) for path in made))
    assert study.receipts()["demo-lm/shard0"]["made"] == 0
    assert [path.read_bytes() for path in made[1:]] == before
