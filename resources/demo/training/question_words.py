"""Word lists for synthetic questions."""

from __future__ import annotations


def _listed(text: str) -> list[str]:
    """The comma-separated entries of `text`."""
    return [" ".join(entry.split()) for entry in text.split(",")]


OPENINGS = _listed("""
what is, what is the, what are, what are the, how does, how do, how do you, how is, how are, how
long does, how many, how much, why does, why do, why is, why are, what causes, what makes, who
was, when did, when was, where is, where do, is, can, does, what happens when, what does,
definition of, define, what was the, which, how did, what type of, what kind of, in what way
does, describe, explain,
""")
GLUE = ["the", "of", "in", "a", "and", "to", "for", "from", "with", "on", "by", "an", "its"]
TAILS = ["", "", "", "", "work", "mean", "made", "used for", "called", "important", "different"]
STOPWORDS = frozenset(
    _listed("""
the, of, in, a, and, to, for, from, with, on, by, an, its, it, is, are, was, were, be, been,
being, this, that, these, those, which, who, whom, as, at, or, not, but, if, than, then, so,
such, into, over, under, their, his, her, they, them, he, she, we, you, your, our, has, have,
had, do, does, did, can, could, may, might, will, would, shall, should, also, called, term,
refers, means, kind, kinds, part, include, includes, examples, another, name, used, any, all,
some, other, one, two, more, most, very, when, where, what, how, why, there, about, between,
through, it's
""")
)
