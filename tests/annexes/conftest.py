"""The small datasets and definitions of tests/unit, for tests of annexes."""

from tests.unit.conftest import browser, config, generator, tiny_llama, write_dataset  # noqa: F401
from tests.unit.kinds.conftest import drop, reference  # noqa: F401
