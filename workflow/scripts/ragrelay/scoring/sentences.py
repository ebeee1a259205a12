"""Split an answer into sentences, and read the sentences' citations (for the formats, see docs/judge-answers.md)."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ragrelay.base.io.characters import plain
from ragrelay.collection.sentences import split_sentences

_TAG = "(?:cite|ref|citation|source|doc|document|passage)"
_RAISED = "[⁰¹²³⁴-⁹]+(?:[,⁻–-]?[⁰¹²³⁴-⁹]+)*"
_FORM = re.compile(
    r"(?<![ \t\u00a0])[ \t\u00a0]*(?:"  # the look-behind keeps a search through a long run of spaces linear
    r"(?:\\\w{0,9}cite\w{0,9}|\^)?(?P<sure>\[{1,2}\^?[^\[\]\n]+\]{1,2}(?:\((?:https?:|\#)[^()\s]{0,300}\))?"
    r"|【[^【】\n]{1,100}】|〔[^〔〕\n]{1,100}〕|［[^［］\n]{1,100}］"
    rf"|\\\w{{0,9}}cite\w{{0,9}}\{{[^{{}}\n]{{1,100}}\}}|<{_TAG}>[^<>\n]{{1,100}}</{_TAG}>|<{_TAG}\b[^<>\n]{{1,100}}>)\^?"
    rf"|(?P<tag></?{_TAG}>)"
    r"|(?P<loose>\{[^{}\n]{1,100}\}|[(（][^()（）\n]{1,100}[)）]"
    r"|(?:(?<=[^\W\d_]{3})|(?<![^\s.,;:!?)\]\"'”’。！？]))"
    rf"(?:{_RAISED}|<sup>[^<>\n]{{1,100}}</sup>|\^[\d, -]{{1,20}}\^))"
    r"|(?P<mention>\b(?:passage|document|context|source|excerpt|snippet|chunk)s?[ ]\#?\d{1,3}\b"
    r"(?:(?:,[ ]?\d{1,3})*,?[ ](?:and|&)[ ]\d{1,3}\b)?))",
    re.IGNORECASE,
)
"""What may be a citation: ``sure`` rarely is anything else, ``loose`` and ``mention`` often are; ``tag`` has no
number."""
_TOKEN = re.compile(
    r"\s*(?:(?P<n>\d+)|(?P<r>-|~|\.{2,3}|(?:to|through)\b)|(?P<s>[,;/&+|、·]|(?:and|und|et|y)\b)"
    r"|(?P<l>(?:see|cf|from|according to|documents?|docs?|passages?|contexts?|sources?|references?|refs?|citations?"
    r"|cite[ds]?|chunks?|snippets?|excerpts?|results?|evidence|footnotes?|fn|id|dokumente?|quellen?|fuentes?"
    r"|documentos?|文档|文献|段落|资料|来源|引用|[dpscr](?=[\d_\#]))(?![^\W\d_])[.:\#_\s-]*|\#))"
)
_LIST = re.compile("l*n(?:(?:[sr]+l*|l+)n)*")
_CLOSES = re.compile(r"\s*(?:[.,;:!?)\]。，；！？…\[(（【]|$|\n)")
_LINE_ENDS = re.compile(r"[ \t]*(?:\n|$)")
_BARE = re.compile(r"[({（]\d{1,3}[)}）]")
_LAST = re.compile(rf"{_BARE.pattern}[.。]?\s*\Z")
_BETWEEN = re.compile(r"[ \t]*(?:[,;&]|and)?[ \t]*")
_ENDS = (".", "!", "?", "。", "！", "？")
MOST = 999
"""The highest number that is read as a citation if the number of passages is unknown."""
MOST_DIGITS = 9
"""A number with more digits isn't a passage's number, and neither is 0."""


class Sentence(NamedTuple):
    """A sentence, without citation marks. ``cited``: the distinct numbers of the cited passages, in order."""

    text: str
    cited: tuple[int, ...]


class Citations(NamedTuple):
    """An answer's text without citations, the citations' positions and numbers, and all unrecognised brackets."""

    text: str
    places: list[int]
    numbers: list[list[int]]
    unread: list[str]


def read_citations(answer: str, docnos: Sequence[str] | None = None) -> Citations:
    """Find an answer's citations, which name passages by number (from 1) or by id (``docnos``, if known)."""
    kept, places, cited, unread = [""], list[int](), list[list[int]](), list[str]()
    size = start = done = counted = 0
    while form := _FORM.search(answer, start):
        numbers = [] if form["tag"] else _numbers(form, docnos)
        if numbers is None:
            start = form.end() - len(form[0].lstrip()) + 1
            if form.start() >= counted and _is_doubtful(form):
                unread.append(form[0].strip())
                counted = form.end()
            continue
        before = answer[done : form.end() if form["mention"] else form.start()]
        kept.append("" if done and _BETWEEN.fullmatch(before) else before)
        size += len(kept[-1])
        start = done = form.end()
        if numbers:
            places.append(size)
            cited.append(numbers)
        if kept[-1].endswith(_ENDS):
            done += answer.startswith((".", ",", ";"), done)  # "Tea. [1]." has one end
            kept.append(" " if answer[done : done + 1].isalpha() else "")
            size += len(kept[-1])
    return Citations("".join([*kept, answer[done:]]), places, cited, unread)


def cited_sentences(answer: str, docnos: Sequence[str] | None = None) -> list[Sentence]:
    """Split an answer into sentences, each with its citations (if any). Sentences that contain no words are left out.

    A citation after a full stop belongs to the sentence before the full stop. However, it belongs to the next sentence
    if it starts a line and text follows on that line, or if the answer begins with a citation.
    """
    text, places, numbers, _ = read_citations(answer, docnos)
    starts = accumulate(map(len, split_sentences(text)), initial=0)
    spans = [(start, text[start:end].strip()) for start, end in pairwise(starts)]
    spans = [(start, sentence) for start, sentence in spans if re.search(r"\w", sentence)]
    cited: list[dict[int, None]] = [{} for _ in spans]
    leads = bool(places) and not text[: places[0]].strip()
    for at, some in zip(places, numbers, strict=True) if spans else ():
        here = max(0, bisect_left(spans, (at, "")) - 1)
        stop = spans[here][0] + len(spans[here][1])
        begins_line = text.find("\n", stop, at) >= 0 and not _LINE_ENDS.match(text, at)
        here += at >= stop and here + 1 < len(spans) and (leads or begins_line)
        cited[here] |= dict.fromkeys(some)
    return [Sentence(sentence, tuple(some)) for (_, sentence), some in zip(spans, cited, strict=True)]


def numbered_citations(cited: Sequence[Mapping[str, Any]] | None, docnos: Sequence[str]) -> list[Sentence] | None:
    """Convert the docnos cited in sentences to numbers. Sentences that contain no words are left out.

    A docno's number is its position (from 1) in ``docnos``, or 0 if it isn't there. Marks such as ``[1]`` are removed.
    """
    if cited is None:
        return None
    place = {docno: number for number, docno in enumerate(docnos, start=1)}
    sentences = []
    for sentence in cited:
        text = read_citations(sentence["text"], docnos).text.strip()
        if re.search(r"\w", text):
            sentences.append(
                Sentence(text, tuple(dict.fromkeys(place.get(docno, 0) for docno in sentence["citations"])))
            )
    return sentences


def _numbers(form: re.Match[str], docnos: Sequence[str] | None) -> list[int] | None:
    """Return the numbers that a form cites; None if it isn't a citation."""
    sure = form["sure"] or ""
    inside = re.sub(r"\]\(\S*$|^\\\w+", "", sure or form["loose"] or form["mention"])
    if "<" in inside:
        inside = re.sub(r"</?\w+|[\w:]+\s*=|[\"'/<>]", " ", inside)
    inside = inside.strip("[]【】〔〕［］(){}（）^ \t")
    most = MOST if docnos is None else len(docnos)
    numbers, labelled = _listed(inside)
    known = bool(numbers) and all(1 <= number <= most for number in numbers)
    items = re.split(r"\s*[,;]\s*", inside)
    if docnos and not known and set(items) <= set(docnos):
        return [docnos.index(item) + 1 for item in items]
    year = not labelled and all(number > max(most, MOST) for number in numbers)
    closes = labelled or form[0].strip()[0] not in "(（" or _CLOSES.match(form.string, form.end()) or _is_suffix(form)
    return numbers if (known and closes) or (sure and numbers and not year) else None


def _listed(text: str) -> tuple[list[int], bool]:
    """Return the numbers in a list of numbers and ranges, and whether it has a label; no numbers for any other text."""
    text = re.sub(r"†.*|(?<=\d)\s*:\s.*|\.$", "", plain(unicodedata.normalize("NFKC", text)).lower())
    kinds, end, numbers, ranged = list[str](), 0, list[int](), False
    while token := _TOKEN.match(text, end):
        kinds.append(str(token.lastgroup))
        end = token.end()
        if token["n"]:
            number = int(token["n"]) if len(token["n"]) <= MOST_DIGITS else 0
            between = range(numbers[-1] + 1, number) if ranged and numbers else ()
            numbers += [*(between if len(between) < MOST else ()), number]
        ranged = bool(token["r"] or (ranged and token["l"]))
    whole = _LIST.fullmatch("".join(kinds)) and not text[end:].strip()
    return (numbers, "l" in kinds) if whole else ([], False)


def _is_suffix(form: re.Match[str]) -> bool:
    """Return whether a number in parentheses follows a full stop, in an answer that ends with such a number."""
    before = form.string[max(0, form.start() - 1) : form.start()]
    return before in _ENDS and _LAST.search(form.string, max(0, len(form.string) - 20)) is not None


def _is_doubtful(form: re.Match[str]) -> bool:
    """Return whether an unread form may be a citation: a bracket that isn't a link, or a number in other brackets."""
    link = form.string.startswith("(", form.end()) or "](" in form[0]
    return bool(form["sure"] and re.search(r"\w", form[0]) and not link) or bool(_BARE.fullmatch(form[0].strip()))
