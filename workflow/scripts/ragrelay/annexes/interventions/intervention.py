"""Base classes for interventions, which change one passage in a context and define its effect."""

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
           BETWEEN: "with a passage that is unjudged or judged in between", UNCHANGED: "without a change"}  # fmt: skip
ROW = ["qid", "draw", "place"]


class JudgedPassage(NamedTuple):
    """A query's passage with its label from the judgements; ``label`` is None for an unjudged passage."""

    docno: str
    text: str
    label: int | None


class Exchange(NamedTuple):
    """A relevant and a non-relevant passage to insert; the context contains neither."""

    relevant: JudgedPassage
    other: JudgedPassage


class Given(NamedTuple):
    """A query's context, which an intervention changes.

    Args:
        context: The context's k passages, best rank first.
        order: The passages' ranks, counted from 0, in prompt order.
        pairs: Passages to insert, one pair per draw.
        bounds: The lowest label of a relevant passage, and the highest label of a non-relevant one.
    """

    context: Sequence[JudgedPassage]
    order: Sequence[int]
    pairs: Sequence[Exchange]
    bounds: tuple[int, int]

    def arm(self, label: int | None) -> str:
        """Name the arm that a passage belongs to.

        Args:
            label: The passage's label, or None if it is unjudged.

        Returns:
            `RELEVANT`, `OTHER` (non-relevant) or `BETWEEN`, for unjudged passages and labels between the bounds.
        """
        lowest, highest = self.bounds
        if label is None:
            return BETWEEN
        return RELEVANT if label >= lowest else OTHER if label <= highest else BETWEEN


class Change(NamedTuple):
    """A changed context, for which an answer is generated.

    Args:
        draw: Number of the inserted pair of passages, counted from 0.
        place: Position of the change in the prompt, counted from 1; 0 for the unchanged context.
        arm: Whether the inserted, omitted or repeated passage is relevant, not relevant or neither; or `unchanged`.
        docno: Id of the inserted, omitted or repeated passage; None for the unchanged context.
        label: Label of that passage; None if it is unjudged.
        ranked: The context's passage ids, best rank first.
        docnos: The same ids in prompt order.
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
        None, description="Sizes of the changed contexts, as values from `grid.k`; by default, all values in `grid.k`."
    )
    ordering: str | None = Field(
        None, description="Ordering of the changed contexts; by default, the first in `grid.orderings`."
    )
    max_label: int = Field(0, description="Highest label with which a passage counts as non-relevant.")
    seed: int = Field(0, ge=0, description="Seed for drawing passages.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check retrievers, k, ordering and ``max_label`` against the study.

        Args:
            place: The beginning of error messages, which names the config key.
            study: The study that uses the intervention.

        Raises:
            InputError: A retriever, k or ordering isn't in the grid, a processor changes a retriever's passages, no k
                fits the ordering, or ``max_label`` isn't below a dataset's lowest reference grade.
        """
        from ragrelay.retrieval.retriever import RETRIEVER_KINDS

        super().check(place, study)
        grid = study.grid
        for name in self.retrievers:
            if name not in grid.retrievers:
                expected = one_of(grid.retrievers, name) + " in grid.retrievers"
                raise InputError(f"{place}.retrievers'", repr(name), expected)
            if RETRIEVER_KINDS.of(study.config["retrievers"][name]).processing() is not None:
                expected = "a retriever without a processor, such as the one whose passages are processed"
                raise InputError(f"{place}.retrievers'", f"{name!r}, whose passages a processor changes", expected)
        for k in self.k or ():
            if k not in grid.k:
                raise InputError(f"{place}.k'", str(k), one_of(map(str, grid.k)) + " in grid.k")
        if self.ordering is not None and self.ordering not in grid.orderings:
            expected = one_of(grid.orderings, self.ordering) + " in grid.orderings"
            raise InputError(f"{place}.ordering'", repr(self.ordering), expected)
        if not self.depths(grid.k, grid.orderings):
            raise InputError(f"{place}.ordering'", self.ordering or grid.orderings[0], "one that some k can have")
        for name in grid.datasets:
            lowest = min(study.config["datasets"][name]["references"].values())
            if self.max_label >= lowest:
                raise InputError(
                    f"{place}.max_label'", str(self.max_label), f"less than {lowest}, the lowest grade of {name}"
                )

    def depths(self, ks: Sequence[int], orderings: Sequence[str]) -> list[int]:
        """List the values of k that the intervention uses.

        Args:
            ks: The grid's k.
            orderings: The grid's orderings.

        Returns:
            Each k that fits the intervention's ordering, in increasing order.
        """
        return [k for k in sorted(self.k or ks) if fits(self.laid_out(orderings), k)]

    def laid_out(self, orderings: Sequence[str]) -> str:
        """Choose the ordering of passages in the changed prompts.

        Args:
            orderings: The grid's orderings; the first is the default.

        Returns:
            The ordering.
        """
        return self.ordering or orderings[0]

    def changes(self, given: Given) -> list[Change] | str:
        """Build all changed versions of a query's context.

        Args:
            given: The query's context and the passages to insert.

        Returns:
            The changed contexts, or the reason why there are none, worded to follow `queries `.
        """
        raise NotImplementedError

    def effects(self, scored: "pl.DataFrame") -> "pl.DataFrame":
        """Compute the effect of each change.

        Args:
            scored: Rows for one k and reference set; columns qid, draw, place, arm, p (P) and value (the retrieval
                measure).

        Returns:
            Columns qid, draw, place, side, effect, moved. Effects are differences in P, and ``moved`` is the difference
            in the retrieval measure. ``side`` is the passage's arm; null if an effect compares both arms.
        """
        raise NotImplementedError


class OfOwnPassages(Intervention):
    """Base class for interventions that change each passage of a context in turn, and compare by relevance."""

    population = "with a relevant and a non-relevant passage in the top {k}"

    def changes(self, given: Given) -> list[Change] | str:
        """Return the unchanged context, then the context with each passage changed."""
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
        """Return the context with the passage at ``rank`` (from 0) changed, in rank order and in prompt order."""
        raise NotImplementedError

    def effects(self, scored: "pl.DataFrame") -> "pl.DataFrame":
        """Return the effect of changing each passage."""
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
    """Return ``passages``, given in rank order, in prompt order."""
    return tuple(passages[rank] for rank in order)


def order_of(k: int, ordering: str, qid: str) -> list[int]:
    """Return the ranks of a context's passages, counted from 0, in prompt order."""
    return list(ordered(list(range(k)), ordering, key=qid))


INTERVENTION_KINDS = Kinds(Intervention, "ragrelay.annexes.interventions.kinds")
Definitions = Mapping[str, Mapping[str, object]]
"""The configuration's interventions, keyed by name."""
