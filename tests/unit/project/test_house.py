"""The plan of the package: who may import whom."""

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path

from ragrelay.base.annex import Annex, annexes
from ragrelay.questions.question import questions

from tests.support.annex_cases import entries_of_annexes
from tests.support.imports import PACKAGE, imported, importers
from tests.support.rule_files import CORE_RULES, CORE_SCRIPTS, RULE_FILES
from tests.support.sandbox import ROOT
from tests.support.taken_away import rules_of

DOORS = {door for annex in annexes() for door in annex.doors}
# Each may import those before it. The ground floor comes first, and the doors stand where one gets to by them.
ORDER = (
    "base", "collection", "retrieval", "prompting", "generation", "scoring", "bertscore", "questions", "analysis",
    "report", "config", "execution", "annexes", "extend", *sorted(DOORS),
)  # fmt: skip
FOR_TYPES = ("questions", "execution", "questions/question.py")
"""The import that climbs, for type checkers alone: a question's methods get the study that rules see."""


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(package, package that it imports, file) of every import under ``folder``, at the top or in a function."""
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        for name in dict.fromkeys(imported(path)):
            if name.startswith(f"{PACKAGE.name}."):
                yield relative.parts[0].removesuffix(".py"), name.split(".")[1], str(relative)


def test_every_package_has_its_place() -> None:
    left_out = ("__init__.py", "__pycache__", "py.typed")
    found = {path.stem for path in PACKAGE.iterdir() if path.name not in left_out}
    assert found == {*ORDER} - (DOORS - found)


def test_imports_go_down() -> None:
    """There is then no cycle of packages: what is below knows nothing of what is above it."""
    place = {name: number for number, name in enumerate(ORDER)}
    seen = set(imports(PACKAGE))
    assert len(seen) > 300
    assert sorted(climb for climb in seen if place[climb[1]] > place[climb[0]]) == [FOR_TYPES]


def test_an_annex_imports_itself_and_those_that_it_builds_on() -> None:
    of = {annex.name: annex for annex in annexes()}
    assert set(of) == {path.parent.name for path in (PACKAGE / "annexes").glob("*/annex.py")}
    for name, annex in of.items():
        others = {f"ragrelay.annexes.{other}" for other in of.keys() - {name, *annex.builds_on}}
        assert importers(PACKAGE / "annexes" / name, others) == {}
        used = {other for other in of if importers(PACKAGE / "annexes" / name, {f"ragrelay.annexes.{other}"})}
        assert set(annex.builds_on) >= used - {name}


def test_tests_import_what_their_part_of_the_package_may() -> None:
    """Tests of the core import no annex and no door, those of an annex its own and what it builds on."""
    doors = {f"ragrelay.{door}" for door in DOORS}
    of = {"tests.annexes", "ragrelay.annexes", *doors}
    core = importers(ROOT / "tests", of, but=("annexes/",))
    assert core == {}
    for annex in annexes():
        others = {one.name for one in annexes()} - {annex.name, *with_ground(annex.builds_on)}
        modules = {f"{part}.annexes.{other}" for part in ("ragrelay", "tests") for other in others}
        assert importers(ROOT / "tests/annexes" / annex.name, modules) == {}


def with_ground(names: tuple[str, ...]) -> set[str]:
    """These annexes and all that they build on."""
    below = {name for annex in annexes() if annex.name in names for name in with_ground(annex.builds_on)}
    return {*names, *below}


def test_the_core_names_no_annex() -> None:
    """It names none in an import or as a text, as of a module or a path; it asks all of them in turn."""
    names = "|".join(annex.name for annex in annexes())
    named = re.compile(rf"\bannexes[./]({names})\b" if names else "(?!)")
    folders = (PACKAGE, ROOT / "tests")
    files = [path for top in folders for path in top.rglob("*.py") if path.relative_to(top).parts[0] != "annexes"]
    files += [*CORE_RULES, *CORE_SCRIPTS, ROOT / "Snakefile"]
    found = {str(path.relative_to(ROOT)) for path in files if named.search(path.read_text(encoding="utf-8"))}
    doors = {str((PACKAGE / door).relative_to(ROOT)) for door in DOORS}
    opened = str((PACKAGE / "__init__.py").relative_to(ROOT))  # its functions that are doors
    assert {name for name in found if not name.startswith(tuple(doors))} == ({opened} if "open" in DOORS else set())


def names_of(annex: Annex) -> set[str]:
    """Names of the annex's rules, keys, sections of the catalogue, tables and figures."""
    keys = [key for keys in (annex.keys, annex.grid_keys) if keys for key in keys.model_fields]
    own = [one for one in questions() if type(one).__module__.startswith(f"ragrelay.annexes.{annex.name}.")]
    rules = rules_of(annex.folder / "rules.smk") if annex.has_rules else []
    shown = [one.name for one in (*annex.result_tables, *annex.outputs)]
    return {*keys, *annex.kinds, *rules, *shown, *(name for one in own for name in (one.asks, one.reads))}


ENGLISH = {"change", "moved", "processing", "queries", "rounds", "tests", "thoughts"}
"""Names of annexes' tables and rules that are words of the core, too."""


def test_the_core_and_its_tests_use_no_name_of_an_annex() -> None:
    """No text or argument is a rule, key, table or figure of one; names with an underscore are in no text."""
    names = {name for annex in annexes() for name in names_of(annex)} - ENGLISH
    assert all(names_of(annex) for annex in annexes() if annex.has_rules)
    inside = re.compile(rf"\b({'|'.join(name for name in names if '_' in name) or '(?!)'})\b")
    own = (PACKAGE / "annexes", ROOT / "tests/annexes", *(PACKAGE / door for door in DOORS))
    paths = [*PACKAGE.rglob("*.py"), *CORE_SCRIPTS, *(ROOT / "tests").rglob("*.py")]
    found = []
    for path in (path for path in paths if not any(path.is_relative_to(folder) for folder in own)):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        texts += [node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg]
        found += [(path.name, text[:80]) for text in texts if text in names or inside.search(text)]
    assert found == []


def defined(sort: type[ast.ClassDef] | type[ast.Assign]) -> dict[str, list[str]]:
    """Files by the class, or the constant, that they define at the top."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, sort)]
        targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
        names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
        for name in [*names, *(target.id for target in targets if isinstance(target, ast.Name))]:
            found.setdefault(name, []).append(str(path.relative_to(PACKAGE)))
    return found


OF_KINDS = ("engines", "formats", "predictors", "questions", "retrievers", "scorers", "sources")
"""Folders whose modules are kinds."""


def test_one_word_is_one_class() -> None:
    """Exceptions are kinds and annexes, named as their modules, and what is declared here and shown there."""
    classes = defined(ast.ClassDef)
    apart = re.compile(rf"[^/]*$|.*\b({'|'.join(OF_KINDS)})/|.*/annex\.py$")
    twice = {name for name, files in classes.items() if len([f for f in files if not apart.match(f)]) > 1}
    assert twice - {"Settings"} == {"Column", "Grid", "Table"}
    once = ("Study", "Section", "KeyedFiles")
    assert [classes[name] for name in once] == [
        ["config/study.py"], ["report/display/sections.py"], ["base/io/keyed_files.py"],
    ]  # fmt: skip


def test_words_of_the_vocabulary_are_defined_there_alone() -> None:
    constants = defined(ast.Assign)
    words = {name: files for name, files in constants.items() if any(f.startswith("base/vocabulary/") for f in files)}
    assert {"UNSEEN", "ZEROSHOT", "NO_ORDERING", "CELL"} <= set(words)
    own = {"COLUMNS", "LABEL", "PERMUTATIONS", "RANDOM"}  # each module's own: its table's columns, a pattern, a number
    assert {name: files for name, files in words.items() if len(files) > 1 and name not in own} == {}
    assert constants["Cell"] == ["scoring/answer_cells.py"]


def test_one_module_writes_to_the_terminal() -> None:
    """It escapes what a terminal would obey, and has say() for output and tell() for errors."""
    writes = re.compile(r"(?<![\w.])print\(|\bstd(out|err)\.write")
    scripts = [*(ROOT / "workflow").rglob("*.py"), *RULE_FILES, ROOT / "Snakefile"]
    found = {str(path.relative_to(ROOT)) for path in scripts if writes.search(path.read_text(encoding="utf-8"))}
    assert found == {"workflow/scripts/ragrelay/base/display/terminal.py"}


CEILINGS = {
    "base": 5800,  # measures of subtopics; entry points; public names; blocks of the explorer; generators' entries
    "collection": 2000,  # forms of judged subtopics; public names' Args, Returns, Raises
    "retrieval": 2850,  # a search without files of runs; contexts that a processor emptied; public names' Args
    "prompting": 250,
    "generation": 6300,  # tokens of endpoints, pools, likelihoods; thoughts within answers; keys' defaults in words
    "scoring": 4400,  # public names' Args, Returns, Raises; panels of judges
    "bertscore": 600,  # public names' Args, Returns, Raises
    "questions": 2300,  # pairs of answers; public names' Args; types for the study, receipts and answers
    "analysis": 5900,  # intervals end where the scores' scale does; reasons name the column that is constant; panels
    "report": 7600,  # the first screen's rows with their types, facts.json; signature; the explorer's blocks; panels
    "config": 1200,  # public names' Args, Returns, Raises; scorers that only a panel uses
    "execution": 5900,  # the command ragrelay, and doctor; public names' Args; panels; subtopics; types
    "extend": 100,
    "scripts": 1100,  # counts in the jobs' scripts; panels; subtopics
    "rules": 1600,  # rules that count; a run's last lines on endpoints; panels; subtopics
    "tests": 50100,  # facts.json: rows, types, every number; first days; reworded texts; panels; subtopics
    **entries_of_annexes("CEILING"),
}  # fmt: skip
"""Most lines of Python and rules in each room; an annex has its rules, scripts, tests and doors, and its ceiling in its
cases.py. Rooms with public names have their Args, Returns and Raises. Raise one only with the reason beside it. This
command lowers them:
PYTHONPATH=workflow/scripts:. python -m tests.unit.project.test_house"""
STEP, SLACK = 50, 100
"""Ceilings are multiples of the one, and at most the other above their rooms."""


def lines() -> dict[str, int]:
    """Lines of each room."""
    rooms = {name: [PACKAGE / name, PACKAGE / f"{name}.py"] for name in ORDER if name not in {"annexes", *DOORS}}
    rooms["scripts"], rooms["rules"] = CORE_SCRIPTS, CORE_RULES
    rooms["tests"] = [path for path in (ROOT / "tests").iterdir() if path.name != "annexes"]
    for annex in annexes():
        doors = [PACKAGE / name for door in annex.doors for name in (door, f"{door}.py")]
        rooms[f"annex {annex.name}"] = [annex.folder, ROOT / "tests/annexes" / annex.name, *doors]
    return {room: count for room, paths in rooms.items() if (count := sum(map(_lines, set(paths))))}


def _lines(path: Path) -> int:
    files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.smk")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def test_no_room_is_above_its_ceiling_or_far_below() -> None:
    counts = lines()
    assert {room: count for room, count in counts.items() if count > CEILINGS.get(room, 0)} == {}, (
        "remove as many elsewhere"
    )
    low = {room: count for room, count in counts.items() if count < CEILINGS[room] - SLACK}
    assert low == {}, "lower these ceilings, by the command at CEILINGS"


def lower(path: Path) -> None:
    """Lower the ceilings in ``path`` to the lines of their rooms."""
    text = path.read_text(encoding="utf-8")
    for room, count in lines().items():
        lowered = min(math.ceil(count / STEP) * STEP, CEILINGS[room])
        text = re.sub(f'"{room}": {CEILINGS[room]}\\b', f'"{room}": {lowered}', text)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in (Path(__file__), *(ROOT / "tests/annexes").glob("*/cases.py")):
        lower(each)
