"""Prompts with answers for training, made endlessly from the passages.

An example is the template's prompt with k contexts, a synthetic question on one of them (the
target), and as answer the target's leading sentences and ` STOP`. Hard distractors share a
question word with the target; random-token examples keep copying exact for any text.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from make_tokenizer import (
    CONTEXTS,
    CUE,
    END_CONTEXT,
    EOS,
    NEWLINE,
    PREAMBLE_CONTEXT,
    PREAMBLE_ZEROSHOT,
    QUESTION,
    STOP,
)
from question_words import GLUE, OPENINGS, STOPWORDS, TAILS
from sources import split_sentences

ANSWER_LEAST, ANSWER_MOST = 34, 64  # tokens
ZEROSHOT_LEAST, ZEROSHOT_MOST = 14, 48
HELD_OUT = 1500  # passages never trained on


class Example(NamedTuple):
    """Token ids of prompt and answer together; the answer starts at `start`."""

    ids: list[int]
    start: int


def content_words(text: str) -> list[str]:
    """Lower-cased words of three letters or more that are not stopwords, in order."""
    return [w for w in re.findall(r"[a-z0-9][a-z0-9'-]+", text.lower()) if len(w) > 2 and w not in STOPWORDS]


def inflect(word: str, rng: random.Random) -> str:
    """Another form of `word`, roughly: questions seldom repeat a passage's very form."""
    if word.endswith("s") and len(word) > 4:
        return word[:-1]
    if word.endswith(("ed", "ing")) and len(word) > 6:
        return re.sub(r"(ed|ing)$", rng.choice(["", "e", "s"]), word)
    return word + rng.choice(["s", "s", "ing", "ed"])


class ExampleMaker:
    """Draws examples; `rng` decides all, so a seed gives the same stream."""

    def __init__(self, work: Path, tokenizer, seed: int):
        with (work / "passages.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.rng = random.Random(seed)
        self.tok = tokenizer
        self.texts = [row["text"] for row in rows]
        self.titles = [row["title"] for row in rows]
        self.ids = tokenizer(self.texts, add_special_tokens=False)["input_ids"]
        words = [set(content_words(text)) for text in self.texts]
        counts = Counter(w for found in words for w in found)
        self.words = words
        self.rarity = counts
        self.by_word: dict[str, list[int]] = defaultdict(list)
        for i, found in enumerate(words):
            for word in found:
                if counts[word] <= 4000:
                    self.by_word[word].append(i)
        self.pool = range(HELD_OUT, len(rows))
        # Without contexts one can only learn to define: plain definitions are learnt soonest.
        self.definitions = [
            i
            for i in self.pool
            if rows[i]["source"] == "wordnet-base" and self.titles[i].lower() in self.texts[i][:60].lower()
        ]
        self.piece = {
            part: tokenizer.convert_tokens_to_ids(part)
            for part in [
                PREAMBLE_CONTEXT,
                PREAMBLE_ZEROSHOT,
                *CONTEXTS,
                END_CONTEXT,
                QUESTION,
                CUE,
                STOP,
                NEWLINE,
                EOS,
            ]
        }
        self.common = [w for w, n in counts.items() if 20 < n < 4000]

    def held_out_twin(self, seed: int) -> ExampleMaker:
        """The same passages, questions on the held-out ones only (all data shared)."""
        twin = copy.copy(self)
        twin.rng = random.Random(seed)
        twin.pool = range(HELD_OUT)
        twin.definitions = list(twin.pool)
        return twin

    def lead(self, index: int, least: int, most: int) -> list[int]:
        """Ids of the leading sentences: cut at the first end past `least`, or hard at `most`."""
        if len(self.ids[index]) <= least:
            return self.ids[index]
        taken: list[str] = []
        ids: list[int] = []
        for sentence in split_sentences(self.texts[index]):
            longer = self.encode(" ".join([*taken, sentence]))
            if len(longer) > most:
                return ids if len(ids) >= 20 else longer[:most]
            ids = longer
            taken.append(sentence)
            if len(ids) >= least:
                break
        return ids

    def encode(self, text: str) -> list[int]:
        """Ids without the start token."""
        return self.tok(text, add_special_tokens=False)["input_ids"]

    def question(self, index: int, about_title: bool = False) -> tuple[str, list[str]]:
        """A question on a passage, and the passage's words that stand in it."""
        rng = self.rng
        words = content_words(self.texts[index])
        title = [w for w in content_words(self.titles[index]) if w in self.words[index]][:4]
        draw = rng.random()
        if about_title and title:
            chosen = title
            middle = " ".join(title)
        elif draw < 0.22:
            tokens = self.texts[index].split()
            at = rng.randrange(max(1, len(tokens) - 6))
            span = tokens[at : at + rng.randint(3, 8)]
            chosen = content_words(" ".join(span))
            middle = re.sub(r"[^\w' -]", "", " ".join(span))
        else:
            count = rng.choice([1, 2, 2, 3, 3, 4, 5])
            chosen = rng.sample(words, min(count, len(words)))
            if title and draw < 0.75:
                chosen = [w for w in chosen if w not in title]
                chosen[rng.choice([0, 0, len(chosen)]) : 0] = title
            forms = [inflect(w, rng) if rng.random() < 0.15 else w for w in chosen]
            if rng.random() < 0.25:
                forms.insert(rng.randrange(len(forms) + 1), rng.choice(self.common))
            parts = []
            for form in forms:
                if parts and rng.random() < 0.4:
                    parts.append(rng.choice(GLUE))
                parts.append(form)
            middle = " ".join(parts)
        text = " ".join(f"{rng.choice(OPENINGS)} {middle} {rng.choice(TAILS)}".split())
        return text + ("?" if rng.random() < 0.25 else ""), chosen

    def distractors(self, index: int, chosen: list[str], count: int) -> list[int]:
        """`count` other passages; a share of them holds a word of the question, never as many."""
        rng = self.rng
        hard = rng.choice([0.0, 0.5, 0.8, 1.0])
        keys = [w for w in chosen if w in self.by_word]
        wanted = set(chosen)
        most = len(wanted & self.words[index])
        found: list[int] = []
        for _ in range(count):
            pick = rng.choice(self.pool)
            if keys and rng.random() < hard:
                for _ in range(6):
                    other = rng.choice(self.by_word[rng.choice(keys)])
                    if other in self.pool and len(wanted & self.words[other]) < most:
                        pick = other
                        break
            if pick != index and pick not in found:
                found.append(pick)
        return found

    def assemble(self, contexts: list[list[int]], question: list[int], answer: list[int]) -> Example:
        """Put the template around the parts (k = 0: zero-shot)."""
        piece = self.piece
        ids = [self.tok.bos_token_id]
        ids.append(piece[PREAMBLE_CONTEXT if contexts else PREAMBLE_ZEROSHOT])
        ids.append(piece[NEWLINE])
        for i, context in enumerate(contexts):
            ids += [piece[CONTEXTS[i]], *context, piece[END_CONTEXT]]
        ids += [piece[QUESTION], *question, piece[CUE]]
        return Example(ids + answer + [piece[STOP], piece[EOS]], len(ids))

    def passage_example(self, k: int) -> Example:
        """A question on a passage with k contexts, the target at a random place."""
        index = self.rng.choice(self.pool)
        if k == 0 and self.rng.random() < 0.8:
            index = self.rng.choice(self.definitions)
        text, chosen = self.question(index, k == 0 and self.rng.random() < 0.7)
        contexts: list[int] = []
        if k:
            contexts = self.distractors(index, chosen, k - 1)
            contexts.insert(self.rng.randint(0, len(contexts)), index)
        bodies = [self.ids[i] for i in contexts]
        if k == 0:
            answer = self.lead(index, ZEROSHOT_LEAST, ZEROSHOT_MOST)
        else:
            answer = self.lead(index, ANSWER_LEAST, ANSWER_MOST)
        return self.assemble(bodies, self.encode(text), answer)

    def random_example(self, k: int) -> Example:
        """The same with random tokens for words: pure lookup and copying.

        Half of the passages use few different tokens, so that pairs recur in them.
        """
        rng = self.rng

        def draw(n: int) -> list[int]:
            few = [rng.randrange(260, 6100) for _ in range(n if rng.random() < 0.5 else n // 3 + 2)]
            return few if len(few) == n else rng.choices(few, k=n)

        bodies = [draw(rng.randint(12, 44)) for _ in range(k)]
        target = rng.choice(bodies)
        question = rng.sample(target, rng.randint(2, 4)) + draw(rng.randint(0, 2))
        rng.shuffle(question)
        return self.assemble(bodies, question, target[:40])

    def draw(self, zeroshot: float, random_share: float) -> Example:
        """One example of the mixture."""
        if self.rng.random() < zeroshot:
            return self.passage_example(0)
        k = self.rng.choice([1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 5, 6, 8])
        if self.rng.random() < random_share:
            return self.random_example(k)
        return self.passage_example(k)
