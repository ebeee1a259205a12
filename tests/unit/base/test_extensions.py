"""Entry points of other packages."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ragrelay.base import extensions as found
from ragrelay.base import public_names
from ragrelay.base.errors import InputError
from ragrelay.scoring.scorer import SCORER_KINDS

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that installs a package ``a_lab`` with these entry points and files."""
    caches = (found._entries, found.extensions, found.extending_packages, found.source_folder, found.source_hash)

    def installed(entries: dict[str, str], **files: str) -> None:
        folder = tmp_path / "a_lab-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: a-lab\nVersion: 1.0\n")
        lines = [f"{name} = {module}" for name, module in entries.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[ragrelay]", *lines]))
        (tmp_path / "a_lab").mkdir()
        for name, text in {"__init__": "", **files}.items():
            (tmp_path / "a_lab" / f"{name}.py").write_text(text)
        for each in caches:
            each.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield installed
    for each in caches:
        each.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "a_lab"]:
        del sys.modules[name]


SCORER = "from ragrelay.extend import PairScorer\n\nclass Short(PairScorer):\n    'How short.'\n"


def test_a_kind_is_found_by_its_name(install: Install) -> None:
    install({"Scorer.short": "a_lab.short"}, short=SCORER)
    assert "short" in SCORER_KINDS.names() and "rouge" in SCORER_KINDS.names()
    assert SCORER_KINDS["short"].__module__ == SCORER_KINDS.module({"kind": "short"}) == "a_lab.short"
    assert SCORER_KINDS.completed({"kind": "short"})["code"] == {"kind": found.source_hash("a_lab.short")}
    assert "code" not in SCORER_KINDS.completed({"kind": "rouge"})


def test_the_hash_follows_imports_inside_the_package(install: Install, tmp_path: Path) -> None:
    install(
        {"Scorer.short": "a_lab.short"},
        short=SCORER + "from . import words\n",
        words="from a_lab.letters import N\n",
        letters="N = 1\n",
        other="M = 1\n",
    )

    def hashed() -> str:
        found.source_hash.cache_clear()
        return found.source_hash("a_lab.short")

    before = hashed()
    (tmp_path / "a_lab/other.py").write_text("M = 2\n")
    assert hashed() == before
    (tmp_path / "a_lab/letters.py").write_text("N = 2\n")
    assert hashed() != before


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"short": "a_lab.short"}, "entry point 'short' of a-lab: found a name in another form; expected a base"),
        ({"Scorer.short": "b_lab.short"}, "entry point 'Scorer.short' of a-lab: found no package 'b_lab'; "),
        ({"Scorer.rouge": "a_lab.short"}, "entry point Scorer.rouge: found the name of one of ragrelay's kinds; "),
        ({"Scorer.short": "a_lab.broken"}, "module a_lab.broken: found ZeroDivisionError: division by zero; "),
        ({"Scorer.short": "a_lab"}, "module a_lab: found 0 classes; expected exactly one subclass of Scorer"),
    ],
)
def test_what_cannot_be_used_is_one_line(install: Install, entry: dict[str, str], message: str) -> None:
    install(entry, short=SCORER, broken="1 / 0\n")
    with pytest.raises(InputError) as error:
        assert SCORER_KINDS.names()  # as a configuration's check
        SCORER_KINDS[next(iter(entry)).rpartition(".")[2]]
    assert str(error.value).startswith(message)


def test_two_packages_with_one_name(install: Install, tmp_path: Path) -> None:
    install({"Scorer.short": "a_lab.short"}, short=SCORER)
    other = tmp_path / "b_lab-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: b-lab\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[ragrelay]\nScorer.short = a_lab.other\n")
    found._entries.cache_clear()
    with pytest.raises(InputError, match="expected a name that no other package uses"):
        found.extensions("Scorer")


def test_an_unknown_base_class(install: Install) -> None:
    install({"Scoerr.short": "a_lab.short"}, short=SCORER)
    with pytest.raises(InputError, match=r"found base class 'Scoerr'; .*did you mean 'Scorer'"):
        public_names.check_extensions()
