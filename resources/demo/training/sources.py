"""Where the training text comes from: Debian packages, and how each is read.

Every reader yields :class:`Passage` records of roughly 25 to 90 words. All packages are in
Debian's main section, hence freely licensed; the licence named here is that of the text.
"""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MIN_WORDS = 24
MAX_WORDS = 85


class Passage(NamedTuple):
    """A piece of prose with what it is about (`title`) and where it stands (`source`)."""

    title: str
    text: str
    source: str


# package -> licence of its text, as stated in its copyright file
PACKAGES = {
    "wordnet-base": "WordNet 3.0 licence (permissive)",
    "dict-gcide": "GPL-2+ (after Webster 1913, public domain)",
    "dict-elements": "public domain",
    "dict-foldoc": "GFDL-1.1+",
    "kstars-data": "GFDL-1.2+ (handbook)",
    "gnucash-docs": "GFDL-1.1+",
    "debian-reference-en": "GPL-2+",
    "python-sklearn-doc": "BSD-3-Clause",
    "python3.11-doc": "PSF-2.0",
    "postgresql-doc-15": "PostgreSQL licence",
}

# package -> (glob below the unpacked root, most passages to take: keeps computing from
# drowning the everyday vocabulary of the dictionaries)
MARKUP = {
    "kstars-data": ("usr/share/doc/HTML/en/**/*.docbook", 4000),
    "gnucash-docs": ("usr/share/doc/gnucash-docs/gnucash-guide-en/*.html", 2500),
    "debian-reference-en": ("usr/share/debian-reference/*.en.html", 1500),
    "python-sklearn-doc": ("usr/share/doc/**/modules/*.html", 2500),
    "python3.11-doc": ("usr/share/doc/python3.11/html/**/*.html", 2500),
    "postgresql-doc-15": ("usr/share/doc/postgresql-doc-15/html/*.html", 1500),
}

_PARAGRAPH = re.compile(
    r"<(?:p|para)\b[^>]*>(.*?)</(?:p|para)>|<(?:h[1-4]|title)\b[^>]*>(.*?)</(?:h[1-4]|title)>",
    re.S | re.I,
)


def split_sentences(text: str) -> list[str]:
    """Sentences of `text`, cut after . ! or ? before a capital, a digit or a quote."""
    return [s for s in re.split(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])", text.strip()) if s]


def windows(text: str) -> Iterator[str]:
    """Whole sentences gathered into pieces of MIN_WORDS..MAX_WORDS words; the rest is dropped."""
    gathered: list[str] = []
    count = 0
    for sentence in split_sentences(text):
        words = len(sentence.split())
        if words > MAX_WORDS:
            gathered, count = [], 0
            continue
        if count + words > MAX_WORDS:
            if count >= MIN_WORDS:
                yield " ".join(gathered)
            gathered, count = [], 0
        gathered.append(sentence)
        count += words
    if count >= MIN_WORDS:
        yield " ".join(gathered)


def _plain(markup: str) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", "", markup))
    text = re.sub(r"[¶\u00ad]|&[\w.-]+;", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _looks_like_prose(text: str) -> bool:
    """Whether letters, spaces and plain punctuation make up nearly all of it (no code)."""
    plain = len(re.findall(r"[A-Za-z ,.;'-]", text))
    balanced = text.count("(") == text.count(")") and "--" not in text and "|" not in text
    return balanced and plain > 0.95 * len(text) and text[:1].isupper() and text[-1:] in ".!?"


def read_markup(root: Path, package: str) -> Iterator[Passage]:
    """Paragraphs of a package's HTML or DocBook pages, each under its nearest heading."""
    pattern, _ = MARKUP[package]
    for path in sorted(root.glob(pattern)):
        raw = path.read_text(encoding="utf-8", errors="ignore")
        title = path.stem
        for match in _PARAGRAPH.finditer(raw):
            if match.group(2) is not None:
                title = _plain(match.group(2))[:80] or title
                continue
            for text in windows(_plain(match.group(1))):
                if _looks_like_prose(text):
                    yield Passage(title, text, package)


def read_dictd(path: Path) -> str:
    """The whole text of a dictd database (dictzip is gzip)."""
    with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as handle:
        return handle.read()


def read_foldoc(root: Path) -> Iterator[Passage]:
    """Articles of the Free On-line Dictionary of Computing."""
    text = read_dictd(root / "usr/share/dictd/foldoc.dict.dz")
    for entry in re.split(r"\n(?=\S)", text):
        head, _, body = entry.partition("\n")
        body = re.sub(r"\(\d{4}-\d\d-\d\d\)|<[^>]*>|\[[^\]]*\]|[{}]", "", body)
        body = re.sub(r"\s+", " ", body).strip()
        for piece in windows(body):
            if _looks_like_prose(piece):
                yield Passage(head.strip(), piece, "dict-foldoc")


def read_elements(root: Path) -> Iterator[Passage]:
    """One passage per chemical element, its headword put in front as a subject."""
    text = read_dictd(root / "usr/share/dictd/elements.dict.dz")
    pattern = re.compile(r"\n\n([a-z]+)\nSymbol: (\w+)\nAtomic number: (\d+)\n[^\n]*\n(.*?)(?=\n\n)", re.S)
    for name, symbol, number, body in pattern.findall(text):
        body = re.sub(r"\s+", " ", body).strip()
        lead = f"{name.capitalize()} is a chemical element with the symbol {symbol} and the"
        yield Passage(name, f"{lead} atomic number {number}. {body}", "dict-elements")


def read_gcide(root: Path) -> Iterator[Passage]:
    """Definitions and notes of the Collaborative International Dictionary of English.

    Quotations, etymologies and field labels go; `Head: definition` becomes a sentence.
    """
    text = read_dictd(root / "usr/share/dictd/gcide.dict.dz")
    for entry in re.split(r"\n\n(?=\S)", text):
        match = re.match(r"([A-Z][\w' -]+?) \\[^\\]*\\[^\n]*?\bn\.", entry)
        if not match:
            continue
        head = match.group(1)
        body = entry[match.end() :]
        body = re.sub(r"\n {9,}[^\n]*--[^\n]*|\[[^\]]*\]|\((?:[A-Z][\w. &]*\.)\)", " ", body)
        body = re.sub(r"[{}*`]|\bNote:|--\s*[A-Z][\w. ]+\.?$|\s\d\.", " ", body)
        body = re.sub(r"\s+", " ", body).strip(" .;")
        sentences = [s.strip() for s in re.split(r"(?<=[.;])\s+(?=[A-Z])", body)]
        kept = [s for s in sentences if len(s.split()) >= 5 and "?" not in s and "\\" not in s]
        if not kept:
            continue
        first = kept[0][0].lower() + kept[0][1:]
        article = "An" if head[0] in "AEIOU" else "A"
        joined = " ".join([f"{article} {head.lower()} is {first}", *kept[1:]])
        joined = re.sub(r"[;,]?$", ".", joined.rstrip(" .;,"))
        for piece in windows(joined.replace("; ", ", ")):
            if _looks_like_prose(piece):
                yield Passage(head, piece, "dict-gcide")
