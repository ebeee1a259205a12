"""What ends Snakemake's start, seen from outside: one line of ours, and no secret in anything that is written."""

import pytest

from tests.support.forked_python import run_snakemake
from tests.support.sandbox import Sandbox


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("start") / "study")


SNAKEMAKES = ("Using workflow specific profile", "Config file config/config.yaml is extended")


def end(study: Sandbox) -> str:
    """All that a dry run says that fails, but for Snakemake's lines on what it reads."""
    done = run_snakemake(study.folder, ["--dry-run", "--cores", "1", "--configfile", "small.yaml"], study.environment())
    assert done.returncode == 1
    return "\n".join(
        line for line in (done.stdout + done.stderr).splitlines() if line and not line.startswith(SNAKEMAKES)
    )


@pytest.mark.parametrize(
    ("added", "line", "told"),
    [
        ("note: café\n".encode("latin-1"), 1, "found byte 0xe9; expected UTF-8 text"),
        (b"analysis:\n\tresamples: 1\n", 2, "found invalid YAML (found character that cannot start any token)"),
        (b"---\nstudy: yours\n", 1, "found invalid YAML (but found another document)"),
    ],
)
def test_the_catalogues_file_is_checked_before_snakemake_reads_it(
    study: Sandbox, added: bytes, line: int, told: str
) -> None:
    path = study.folder / "config/config.yaml"
    before = path.read_bytes()
    path.write_bytes(before + added)
    try:
        said = end(study)
    finally:
        path.write_bytes(before)
    place = f"config/config.yaml, line {before.count(bytes([10])) + line}"
    assert said.startswith(f"ragrelay: error: {place}: {told}"), said
    assert "\n" not in said


@pytest.mark.parametrize(
    "generator",
    [
        {"engine": "openai", "base_url": "https://me:hunter2-hunter2@host/v1"},
        {"engine": "openai", "base_url": "https://host/v1", "api_key_env": "hunter2hunter2hunter2"},
        {"model": "sk-hunter2hunter2hunter2"},
    ],
)
def test_a_secret_is_nowhere(study: Sandbox, generator: dict[str, str]) -> None:
    """Neither on the terminal nor in any file other than the user's own."""
    config = dict(study.config)
    study.config = {**config, "generators": {"demo-lm": {"model": "m", "prompt": "tian2025", **generator}}}
    study.write_config()
    study.config = config
    said = end(study)
    assert said.startswith("ragrelay: error: config key 'generators.demo-lm."), said
    assert "\n" not in said and "hunter2" not in said
    files = [path for path in study.folder.rglob("*") if path.is_file() and path.name != "small.yaml"]
    assert files
    assert not [path for path in files if b"hunter2" in path.read_bytes()]
