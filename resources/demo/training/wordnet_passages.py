"""Short encyclopaedic passages made of WordNet's nouns: gloss, kinds, parts, relatives.

WordNet has everyday vocabulary in clean modern sentences, which the other free texts lack.
Several passages are made of one synset, so that passages on one topic differ in what they say.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sources import MAX_WORDS, MIN_WORDS, Passage


class Synset(NamedTuple):
    """A WordNet noun sense; `links` maps a pointer symbol to synset offsets."""

    words: list[str]
    gloss: str
    examples: list[str]
    links: dict[str, list[str]]


def read_nouns(path: Path) -> dict[str, Synset]:
    """Synsets of `data.noun` by offset."""
    synsets = {}
    for line in path.read_text(encoding="utf-8", errors="ignore").splitlines():
        if line.startswith(" "):
            continue
        data, _, gloss = line.partition(" | ")
        fields = data.split()
        n_words = int(fields[3], 16)
        names = fields[4 : 4 + 2 * n_words : 2]
        words = [re.sub(r"\(\w+\)", "", name).replace("_", " ") for name in names]
        links: dict[str, list[str]] = {}
        at = 4 + 2 * n_words
        for i in range(int(fields[at])):
            symbol, offset, pos, _ = fields[at + 1 + 4 * i : at + 5 + 4 * i]
            if pos == "n":
                links.setdefault(symbol, []).append(offset)
        examples = re.findall(r'"([^"]+)"', gloss)
        plain = re.sub(r'[;:]?\s*"[^"]*"(\s*-[^;]*)?', "", gloss).strip(" ;")
        synsets[fields[0]] = Synset(words, plain, examples, links)
    return synsets


def _article(noun: str) -> str:
    """`noun` with a/an, unless it is a name."""
    if noun[0].isupper():
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _sentence(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ;,")
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _define(synset: Synset, rng: random.Random) -> str:
    """The definition as a sentence or two: `A volcano is a fissure ... . It ...`."""
    name = synset.words[0]
    parts = [p.strip() for p in synset.gloss.split(";") if p.strip()]
    verb = rng.choice(["is", "is", "is", "means", "refers to"])
    subject = _article(name) if verb == "is" else f"the term {name}"
    first = _sentence(f"{subject} {verb} {parts[0]}")
    rest = []
    for part in parts[1:]:
        starts = re.match(r"(used|found|made|has|is|contains|produced|grows)\b", part)
        if starts and starts.group(1) in ("has", "is", "contains", "grows"):
            rest.append(_sentence(f"it {part}"))
        elif starts and starts.group(1) in ("used", "found", "made", "produced"):
            rest.append(_sentence(f"it is {part}"))
        else:
            rest.append(_sentence(part))
    return " ".join([first, *rest])


def wordnet_passages(root: Path, rng: random.Random) -> Iterator[Passage]:
    """Passages of all noun synsets; those of a synset share the title."""
    synsets = read_nouns(root / "usr/share/wordnet/data.noun")

    def facts(synset: Synset) -> list[str]:
        """Sentences that surround the definition, in a random order."""
        name = synset.words[0]
        found = []
        hyper = [synsets[o] for o in synset.links.get("@", []) + synset.links.get("@i", [])]
        kinds = [synsets[o] for o in synset.links.get("~", []) + synset.links.get("~i", [])]
        parts = [synsets[o] for o in synset.links.get("%p", []) + synset.links.get("%s", [])]
        wholes = [synsets[o] for o in synset.links.get("#p", []) + synset.links.get("#m", [])]
        if len(synset.words) > 1:
            also = _join(synset.words[1:4])
            found.append(_sentence(rng.choice([f"it is also called {also}", f"another name for it is {also}"])))
        if hyper:
            kind = hyper[0].words[0]
            found.append(_sentence(f"it is a kind of {kind}, which is {hyper[0].gloss}"))
        if kinds:
            names = _join([k.words[0] for k in rng.sample(kinds, min(5, len(kinds)))])
            found.append(_sentence(rng.choice([f"kinds of {name} include {names}", f"examples are {names}"])))
            for kind in rng.sample(kinds, min(3, len(kinds))):
                found.append(_define(kind, rng))
        if parts:
            names = _join([p.words[0] for p in rng.sample(parts, min(5, len(parts)))])
            found.append(_sentence(f"its parts include the {names}"))
            found.append(_define(rng.choice(parts), rng))
        if wholes:
            found.append(_sentence(f"it is part of {_article(wholes[0].words[0])}, which is {wholes[0].gloss}"))
        found.extend(_sentence(e) for e in synset.examples if len(e.split()) > 4)
        rng.shuffle(found)
        return found

    for offset in sorted(synsets):
        synset = synsets[offset]
        copies = 1 + (len(synset.links.get("~", [])) > 3) + (len(synset.links.get("%p", [])) > 2)
        for copy in range(copies):
            sentences = [_define(synset, rng)] if copy == 0 or rng.random() < 0.5 else []
            count = sum(len(s.split()) for s in sentences)
            target = rng.randint(MIN_WORDS + 4, 70)
            for fact in facts(synset):
                words = len(fact.split())
                if count + words <= MAX_WORDS and fact not in sentences:
                    sentences.append(fact)
                    count += words
                if count >= target:
                    break
            if count >= MIN_WORDS - 6:
                yield Passage(synset.words[0], " ".join(sentences), "wordnet-base")
