"""Collect the training passages from Debian packages into one JSON-lines file.

Usage: python corpus.py WORK_FOLDER        (writes WORK_FOLDER/passages.jsonl)

Needs apt-get and dpkg-deb: packages are fetched and unpacked below WORK_FOLDER, not installed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sources import MARKUP, PACKAGES, read_elements, read_foldoc, read_gcide, read_markup
from wordnet_passages import wordnet_passages

READERS = {"dict-foldoc": read_foldoc, "dict-elements": read_elements, "dict-gcide": read_gcide}
MOST = {"dict-gcide": 40_000, "dict-foldoc": 6_000}


def unpack(package: str, work: Path) -> Path:
    """Fetch a package with apt and unpack it; what is already unpacked is kept."""
    root = work / "x" / package
    if not root.exists():
        debs = work / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        if not list(debs.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=debs, check=True)
        deb = next(debs.glob(f"{package}_*.deb"))
        root.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
    return root


def main(work: Path) -> None:
    """Read every package, drop duplicates, shuffle, write."""
    rng = random.Random(7)
    passages = []
    for package in PACKAGES:
        root = unpack(package, work)
        if package == "wordnet-base":
            found = list(wordnet_passages(root, rng))
        elif package in MARKUP:
            found = list(read_markup(root, package))
        else:
            found = list(READERS[package](root))
        most = MOST.get(package, MARKUP.get(package, ("", len(found)))[1])
        if len(found) > most:
            found = rng.sample(found, most)
        passages.extend(found)
    passages = list({p.text: p for p in passages}.values())
    rng.shuffle(passages)
    with (work / "passages.jsonl").open("w", encoding="utf-8") as out:
        for passage in passages:
            out.write(json.dumps(passage._asdict(), ensure_ascii=False) + "\n")
    words = Counter()
    for passage in passages:
        words[passage.source] += len(passage.text.split())
    counts = Counter(p.source for p in passages)
    for source, count in counts.most_common():
        print(f"{source:22} {count:7} passages {words[source]:9} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
