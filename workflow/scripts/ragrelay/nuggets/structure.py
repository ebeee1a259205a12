"""The form of a list that a generator writes: a JSON array of texts, which vLLM's structured output enforces.

The form is a regular expression, not a JSON schema: it excludes escapes and line ends, so that every reply can be read,
even half a character.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragrelay.nuggets.lists import folded

LONGEST_TEXT = 150
"""Characters of a nugget, which should have up to a dozen words: without a bound a small model may never end one."""
_CHARACTER = r'[^"\\\x00-\x1f\x7f]'
_ITEM = re.compile(rf'"({_CHARACTER}*)"')


class WrittenList(NamedTuple):
    """``texts`` of a list. ``repeated``: how many texts were left out as blank, or as already in the list."""

    texts: list[str]
    repeated: int


def form(most: int) -> str:
    """The regular expression of a list of 1 to ``most`` texts."""
    text = rf'"{_CHARACTER}{{1,{LONGEST_TEXT}}}"'
    return rf"\[{text}(, {text}){{0,{most - 1}}}\]"


def read_list(answer: str, before: Sequence[str] = ()) -> WrittenList:
    """The complete texts of a list of this form, which may have been cut, followed by further texts of ``before``."""
    items = [" ".join(text.split()) for text in _ITEM.findall(answer)]
    texts: dict[str, str] = {}
    for text in filter(None, items):
        texts.setdefault(folded(text), text)
    repeated = len(items) - len(texts)
    for text in before:
        texts.setdefault(folded(text), text)
    return WrittenList(list(texts.values()), repeated)
