"""Run the studies whose pages docs/gallery.md shows, as README and docs print them: python tools/gallery.py CORES"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
OWN = ".gallery"
"""Folder of what the pages have a user write."""


def printed(page: str, file: str) -> str:
    """The block of ``page`` that begins with the name of ``file``, with paths of answers below OWN."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if block.startswith(f"# {file}\n")).replace('"answers/', f'"{OWN}/answers/')


def main(cores: str) -> None:
    (ROOT / OWN / "answers").mkdir(parents=True, exist_ok=True)
    own = {
        f"{OWN}/two-runs.yaml": printed("README.md", "my-study.yaml"),
        f"{OWN}/answers.yaml": printed("docs/bring-your-own-answers.md", "my-study.yaml"),
        f"{OWN}/make.py": printed("docs/bring-your-own-answers.md", "answers/make.py"),
    }
    for name, content in own.items():
        (ROOT / name).write_text(content, encoding="utf-8")
    subprocess.run([sys.executable, f"{OWN}/make.py"], cwd=ROOT, check=True)
    snakemake = [sys.executable, "-m", "snakemake", "--cores", cores]
    for targets, file in (
        ([], []),
        ([], [f"{OWN}/two-runs.yaml"]),
        ([], [f"{OWN}/answers.yaml"]),
        (["report", "erag"], ["config/judges.yaml"]),
    ):
        subprocess.run([*snakemake, *targets, *(["--configfile", *file] if file else [])], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
