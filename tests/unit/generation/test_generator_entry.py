"""Type checkers know every key of a generator's entry."""

from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS

ADDED = {"engine", "code", "converted", "structured"}


def test_the_typed_entry_has_the_keys_of_every_engine_that_comes_with_the_package() -> None:
    """``ADDED``: the selector of the kind, and keys that no user sets."""
    ours = [GENERATOR_KINDS[name] for name in ("file", "openai", "vllm")]
    assert set(GeneratorEntry.__annotations__) == {key for kind in ours for key in kind.known()} | ADDED
