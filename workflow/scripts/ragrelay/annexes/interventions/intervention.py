"""Base classes for interventions, which change one passage in a context and define the effect of the change."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy, Kind, Kinds
from ragrelay.base.settings import Name, Unique
from ragrelay.base.vocabulary.orderings import fits, ordered

if TYPE_CHECKING:
    import polars as pl

UNCHANGED, RELEVANT, OTHER, BETWEEN = "unchanged", "relevant", "other", "between"
"""Names of arms: the unchanged context, and the contexts whose changed passage is relevant, non-relevant or neither."""
OF_ARMS = {RELEVANT: "with a relevant passage", OTHER: "with a passage judged non-relevant",
           BETWEEN: "with a passage judged neither relevant nor non-relevant", UNCHANGED: "as retrieved"}  # fmt: skip
ROW = ["qid", "draw", "place"]


class JudgedPassage(NamedTuple):
    """A passage with its label from the query's judgements; ``label`` is None if the passage is unjudged."""

    docno: str
    text: str
    label: int | None


class Exchange(NamedTuple):
    """A relevant and a non-relevant passage to insert, neither of which is in the context."""

    relevant: JudgedPassage
    other: JudgedPassage


class Given(NamedTuple):
    """A query's context, as input to an intervention.

    Args:
        context: The context's k passages, best rank first.
        order: Ranks of the passages in prompt order, counted from 0.
        pairs: Pairs of passages to insert, one for each draw.
        bounds: The lowest label of relevant passages, and the highest label of non-relevant passages.
    """

    context: Sequence[JudgedPassage]
    order: Sequence[int]
    pairs: Sequence[Exchange]
    bounds: tuple[int, int]

    def arm(self, label: int | None) -> str:
        """Classify a passage with ``label`` as relevant, non-relevant or neither.

        Args:
            label: The passage's label; None if the passage is unjudged.

        Returns:
            `RELEVANT`, `OTHER` (non-relevant) or `BETWEEN` (unjudged, or with a label between the bounds).
        """
        lowest, highest = self.bounds
        if label is None:
            return BETWEEN
        return RELEVANT if label >= lowest else OTHER if label <= highest else BETWEEN


class Change(NamedTuple):
    """A changed context, from which an answer is generated.

    Args:
        draw: Number of the pair that contains the inserted passage, counted from 0.
        place: Position of the changed passage in the prompt, counted from 1; 0 for the unchanged context.
        arm: Relevance of the inserted, omitted or repeated passage (`relevant`, `other` or `between`), or `unchanged`.
        docno: Id of the inserted, omitted or repeated passage; None for the unchanged context.
        label: Label of the passage ``docno``; None if the passage is unjudged.
        ranked: Ids of the passages in the changed context, best rank first.
        docnos: Ids of the passages in the changed context, in prompt order.
    """

    draw: int
    place: int
    arm: str
    docno: str | None
    label: int | None
    ranked: tuple[str, ...]
    docnos: tuple[str, ...]


class Intervention(Kind):
    """Base class for interventions, which change one passage in a retriever's contexts and measure the effect on the
    answers.
    """

    population: ClassVar[str]
    """The queries whose effect is estimated, worded to follow `queries `; ``{k}`` is filled in."""
    effect: ClassVar[str]
    """A sentence that states the intervention's effect, with ``{effect}`` for the value."""
    about: ClassVar[str] = ""
    """What the effect of a single passage means, in words."""
    needs_pairs: ClassVar[bool] = False
    """Whether the intervention inserts pairs of passages that aren't in the context."""
    measured: ClassVar[bool] = True
    """Whether retrieval measures can be computed for the changed contexts."""

    retrievers: Annotated[Unique[Name], Field(min_length=1)] = Field(
        description="Names of the retrievers in `grid.retrievers` whose contexts are changed."
    )
    k: Unique[Annotated[int, Field(ge=1)]] | None = Field(
        None, description="Values from `grid.k` for which contexts are changed; by default, all values in `grid.k`."
    )
    ordering: str | None = Field(
        None, description="Ordering for which contexts are changed; by default, the first in `grid.orderings`."
    )
    max_label: int = Field(0, description="Highest label that counts as non-relevant.")
    seed: int = Field(0, ge=0, description="Seed for drawing passages.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check retrievers, k, ordering and ``max_label`` against the rest of the configuration.

        Args:
            place: The config key, as the start of error messages.
            study: The study in which the intervention is used.

        Raises:
            InputError: A setting doesn't fit the grid, a retriever's processors or a dataset's reference grades.
        """
        from ragrelay.retrieval.retriever import RETRIEVER_KINDS

        super().check(place, study)
        grid = study.grid
        for name in self.retrievers:
            if name not in grid.retrievers:
                expected = one_of(grid.retrievers, name, what="a retriever in grid.retrievers")
                raise InputError(f"{place}.retrievers'", repr(name), expected)
            if RETRIEVER_KINDS.of(study.config["retrievers"][name]).processing() is not None:
                expected = "a retriever without a processor, such as the one whose passages are processed"
                raise InputError(f"{place}.retrievers'", f"{name!r}, whose passages a processor changes", expected)
        for k in self.k or ():
            if k not in grid.k:
                raise InputError(f"{place}.k'", str(k), one_of(grid.k, what="a k in grid.k"))
        if self.ordering is not None and self.ordering not in grid.orderings:
            expected = one_of(grid.orderings, self.ordering, what="an ordering in grid.orderings")
            raise InputError(f"{place}.ordering'", repr(self.ordering), expected)
        if not self.depths(grid.k, grid.orderings):
            raise InputError(f"{place}.ordering'", self.ordering or grid.orderings[0], "an ordering that some k allows")
        for name in grid.datasets:
            lowest = min(study.config["datasets"][name]["references"].values())
            if self.max_label >= lowest:
                raise InputError(
                    f"{place}.max_label'",
                    str(self.max_label),
                    f"less than {lowest}, the label of the lowest grade in {name}",
                )

    def depths(self, ks: Sequence[int], orderings: Sequence[str]) -> list[int]:
        """List the context sizes k that the intervention uses.

        Args:
            ks: The grid's k.
            orderings: The grid's orderings.

        Returns:
            The values of k that suit the intervention's ordering, in increasing order.
        """
        return [k for k in sorted(self.k or ks) if fits(self.laid_out(orderings), k)]

    def laid_out(self, orderings: Sequence[str]) -> str:
        """Return the ordering of the passages in the changed prompts.

        Args:
            orderings: The grid's orderings, the first of which is the default.

        Returns:
            The ordering.
        """
        return self.ordering or orderings[0]

    def changes(self, given: Given) -> list[Change] | str:
        """Change a query's context in every way that the intervention defines.

        Args:
            given: The query's context and the passages to insert.

        Returns:
            The changed contexts, or the reason why there are none, as a phrase that follows `queries `.
        """
        raise NotImplementedError

    def effects(self, scored: "pl.DataFrame") -> "pl.DataFrame":
        """Compute the effect of each change on P and on the retrieval measure.

        Args:
            scored: Scores for a single k and reference set: columns qid, draw, place, arm, p and value (the measure).

        Returns:
            Columns qid, draw, place, side, effect (difference in P) and moved (difference in the measure). ``side`` is
            the changed passage's ``arm``, or null if the effect compares two arms.
        """
        raise NotImplementedError


class OfOwnPassages(Intervention):
    """Base class for interventions that change a context's passages in turn and compare the effects by relevance."""

    population = "with a relevant and a non-relevant passage in the top {k}"

    def changes(self, given: Given) -> list[Change] | str:
        """Return the unchanged context, followed by the context with each passage changed in turn."""
        arms = {given.arm(passage.label) for passage in given.context}
        if RELEVANT not in arms or OTHER not in arms:
            lacking = "relevant" if RELEVANT not in arms else "judged non-relevant"
            return f"without a {lacking} passage in the context"
        docnos = [passage.docno for passage in given.context]
        whole = tuple(docnos[rank] for rank in given.order)
        rows = [Change(0, 0, UNCHANGED, None, None, tuple(docnos), whole)]
        for place, rank in enumerate(given.order, 1):
            passage = given.context[rank]
            ranked, laid = self.changed(docnos, given.order, rank)
            arm = given.arm(passage.label)
            rows.append(Change(0, place, arm, passage.docno, passage.label, tuple(ranked), tuple(laid)))
        return rows

    def changed(self, docnos: Sequence[str], order: Sequence[int], rank: int) -> tuple[list[str], list[str]]:
        """Change the passage at ``rank`` (counted from 0); return the passage ids in rank order and in prompt order."""
        raise NotImplementedError

    def effects(self, scored: "pl.DataFrame") -> "pl.DataFrame":
        """Return the effect of each changed passage: columns qid, draw, place, side, effect and moved."""
        import polars as pl

        was = scored.filter(place=0).select("qid", was="p", value_was="value")
        # Multiplying by the sign would turn 0 into −0.
        less, moved = (
            pl.col(now) - pl.col(then) if self.sign > 0 else pl.col(then) - pl.col(now)
            for now, then in (("p", "was"), ("value", "value_was"))
        )
        return (
            scored.filter(pl.col("place") > 0)
            .join(was, on="qid", maintain_order="left")
            .select(*ROW, side="arm", effect=less, moved=moved)
        )

    sign: ClassVar[int]
    """1 if the effect is P with the change minus P without it, -1 if it is P without the change minus P with it."""


def laid_out(passages: Sequence[str], order: Sequence[int]) -> tuple[str, ...]:
    """Reorder ``passages`` from rank order to prompt order."""
    return tuple(passages[rank] for rank in order)


def order_of(k: int, ordering: str, qid: str) -> list[int]:
    """Return the ranks (from 0) of a context's ``k`` passages, in the order in which they appear in the prompt."""
    return list(ordered(list(range(k)), ordering, key=qid))


INTERVENTION_KINDS = Kinds(Intervention, "ragrelay.annexes.interventions.kinds")
Definitions = Mapping[str, Mapping[str, object]]
"""The configuration's interventions, keyed by name."""
