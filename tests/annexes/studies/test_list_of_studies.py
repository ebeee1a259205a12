"""The list of studies: whole, broken, killed and running ones, other folders, hostile names, and a real browser."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ragrelay.annexes.studies import page as page_module
from ragrelay.annexes.studies.listed import EARLIER, RUNNING, UNFINISHED, of_facts, read_all
from ragrelay.annexes.studies.page import MARK, keep_list

from tests.support.report_browser import needs_browser, violations
from tests.support.sandbox import ROOT

pytestmark = pytest.mark.page

HOSTILE = "<img src=x onerror=window.hacked=1>"
PAGE = "<html><body>a page</body></html>\n"


def facts(answers: list[tuple[str, str]], **other: Any) -> dict[str, Any]:
    """What a study's facts.json has of a section with these topics and answers."""
    told = [{"topic": topic, "sentence": sentence} for topic, sentence in answers]
    return {"over_all": [], "notes": [], "sections": [{"answers": told, "warnings": []}], **other}


ANSWERS = facts([("Systems", "Answers from a<b are better: P 0.8 against 0.7.")])


def write_study(
    root: Path, name: str, page: str | None = PAGE, provenance: Any = None, time: int = 0, told: Any = ANSWERS
) -> Path:
    """A study's folder with what the list reads; ``provenance`` may be a text, written as it is."""
    report = root / name / "report"
    report.mkdir(parents=True)
    grid = {"datasets": ["dl19"], "retrievers": ["bm25", "dense"], "generators": ["lm"]}
    whole = {"config": {"study": name, "grid": grid, "generators": {"lm": {"model": f"org/{HOSTILE}"}}}}
    text = provenance if isinstance(provenance, str) else json.dumps(whole if provenance is None else provenance)
    (report / "provenance.json").write_text(text, encoding="utf-8")
    if page is not None:
        if told is not None:
            (report / "facts.json").write_text(json.dumps(told), encoding="utf-8")
        (report / "index.html").write_text(page, encoding="utf-8")
        os.utime(report / "index.html", (1_700_000_000 + time, 1_700_000_000 + time))
    return root / name


def troubles(root: Path) -> dict[str, str]:
    return {study.folder: study.trouble for study in read_all(root)[0]}


def test_a_study_is_listed_with_its_date_grid_model_and_answers(tmp_path: Path) -> None:
    write_study(tmp_path, "old")
    write_study(tmp_path, "new", time=60)
    studies, others = read_all(tmp_path)
    assert [(study.name, study.date) for study in studies] == [("new", "2023-11-14 22:14"), ("old", "2023-11-14 22:13")]
    assert (studies[0].datasets, studies[0].retrievers, studies[0].models, others) == (
        ["dl19"], ["bm25", "dense"], [f"org/{HOSTILE}"], [],
    )  # fmt: skip
    assert studies[0].answers == [("Systems", "Answers from a<b are better: P 0.8 against 0.7.")]
    assert troubles(tmp_path) == {"new": "", "old": ""}


def test_answers_of_several_datasets_are_named_by_them() -> None:
    """A page opens with a table of them, and not with its first section's."""
    rows = [{"dataset": name, "answers": [{"topic": "Relay", "sentence": said}]}
            for name, said in (("one", "It is."), ("two", "We do not know."))]  # fmt: skip
    told = facts([("Systems", "of the first section")], over_all=rows)
    assert of_facts(told)["answers"] == [("one · Relay", "It is."), ("two · Relay", "We do not know.")]
    assert of_facts(facts([], sections=[]))["answers"] == []


def test_the_first_answer_by_each_other_scorer_is_listed() -> None:
    """As on the page; those of other datasets and generators are not."""
    names = {"dataset": "d", "generator": "g"}
    parts = [("s", "d", "first"), ("people", "d", "the opposite"), ("s", "other", "elsewhere")]
    sections = [names | {"scorer": scorer, "dataset": dataset, "warnings": [],
                         "answers": [{"topic": "Systems", "sentence": said}, {"topic": "Relay", "sentence": "open"}]}
                for scorer, dataset, said in parts]  # fmt: skip
    assert of_facts(facts([], sections=sections))["answers"] == [
        ("Systems", "first"), ("Relay", "open"), ("Scored by people", "the opposite"),
    ]  # fmt: skip


def test_a_study_is_listed_with_its_pages_warnings(tmp_path: Path) -> None:
    heads = [{"topic": topic} for topic in ("Primary pair", "Answers", "Answers")]
    names = {"dataset": "d", "generator": "g", "scorer": "s", "answers": []}
    sections = [names | {"warnings": heads}, names | {"warnings": heads[1:2]}]
    kinds = (("notice", f"data {HOSTILE}"), ("notice", "seeds"), ("opening", "no warning"), ("warning", "people"),
             ("missing", "3 of 9 answers of a<b are missing."))  # fmt: skip
    notes = [{"kind": kind, "sentence": said} for kind, said in kinds]
    assert of_facts(facts([], notes=notes, sections=sections))["warnings"] == [
        "Warning: 3 of 9 answers of a<b are missing.", f"Warning: data {HOSTILE}", "Warning: seeds",
        "Its page has 1 other warning and 4 remarks: Primary pair, Answers (3).",
    ]  # fmt: skip
    one = {"answers": [], "warnings": heads[:1]}
    assert of_facts(facts([], sections=[one]))["warnings"] == ["Its page has 1 remark: Primary pair."]
    assert of_facts(ANSWERS)["warnings"] == []
    write_study(tmp_path, "one", told=ANSWERS | {"notes": notes})
    assert keep_list(tmp_path) == []
    listed = (tmp_path / "index.html").read_text()
    assert listed.index("0.8 against 0.7") < listed.index("3 of 9 answers of a&lt;b are missing")
    assert HOSTILE not in listed
    long = [{"kind": "notice", "sentence": said} for said in ("長" * 500, "word " * 100)]
    write_study(tmp_path, "long", told=ANSWERS | {"notes": long})
    assert keep_list(tmp_path) == []
    shown = re.findall('<p class="note warned">(.*)</p>', (tmp_path / "index.html").read_text())
    assert len(shown) == 6 and max(map(len, shown)) <= 245 and any(text.startswith("Warning: 長") for text in shown)


def test_a_page_of_an_earlier_version_is_listed_without_answers(tmp_path: Path) -> None:
    write_study(tmp_path, "early", told=None)
    for name, told in {"list": [], "other": {"sections": 3}, "texts": facts([]) | {"notes": ["text"]}}.items():
        write_study(tmp_path, name, told=told)
    found = {study.folder: study for study in read_all(tmp_path)[0]}
    assert (found["early"].warnings, found["early"].answers, found["early"].trouble) == ([EARLIER], (), "")
    for name in ("list", "other", "texts"):
        assert found[name].trouble == "Broken: report/facts.json has content that ragrelay does not write."


def test_a_broken_study_is_a_row_that_says_so(tmp_path: Path) -> None:
    for name, provenance in {
        "cut": '{"config": {"gr', "list": "[]", "empty": "{}", "grid": '{"config": {"grid": {}}}',
        "names": '{"config": {"grid": {"datasets": 3}}}',
    }.items():  # fmt: skip
        write_study(tmp_path, name, provenance=provenance)
    (write_study(tmp_path, "without") / "report/provenance.json").unlink()
    write_study(tmp_path, "half", page=PAGE[:10])
    (write_study(tmp_path, "bytes") / "report/index.html").write_bytes(b"\xff\xfe\x00</html>")
    found = troubles(tmp_path)
    assert found["cut"].startswith("Broken: report/provenance.json is invalid JSON (")
    assert found["list"] == "Broken: report/provenance.json is a list."
    assert found["empty"] == "Broken: report/provenance.json is without a configuration."
    assert found["grid"] == found["names"] == "Broken: report/provenance.json is without grid.generators."
    assert found["without"] == "Broken: report/provenance.json is missing."
    assert found["half"] == found["bytes"] == "Broken: report/index.html is cut off."
    assert keep_list(tmp_path) == []
    assert all(text.split("(")[0] in (tmp_path / "index.html").read_text() for text in found.values())


def test_a_killed_and_a_running_study_say_so(tmp_path: Path) -> None:
    root = tmp_path / "results"
    write_study(root, "one")
    write_study(root, "killed", page=None)
    (root / "early/demo/collection").mkdir(parents=True)
    assert troubles(root) == {"one": "", "killed": UNFINISHED, "early": UNFINISHED}
    lock = tmp_path / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/one-more/report/index.html\nresults/one/report/index.html\n")
    assert troubles(root)["one"] == RUNNING
    [ending] = [study for study in read_all(root, root / "one")[0] if study.folder == "one"]
    assert ending.trouble == "", "its own run is ending"


def test_other_folders_are_named_and_files_are_not(tmp_path: Path) -> None:
    write_study(tmp_path, "one")
    (tmp_path / "notes").mkdir()
    (tmp_path / "one-preview").mkdir()
    (tmp_path / "one-preview/preview.html").write_text("")
    for page in ("report/pages.js", "compare/one-to-two/index.html"):  # of a run that only compared other studies
        (tmp_path / "demo" / page).parent.mkdir(parents=True)
        (tmp_path / "demo" / page).write_text("")
    (tmp_path / ".hidden/report").mkdir(parents=True)
    (tmp_path / "table.csv").write_text("")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    studies, others = read_all(tmp_path)
    assert ([study.folder for study in studies], others) == (["one"], ["notes"])


def test_two_runs_that_end_at_once_are_both_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that ends after the list was read, and before it is written, is in the list that is left."""
    write_study(tmp_path, "one")
    read = page_module.read_all

    def slowly(*given: Any) -> Any:
        found = read(*given)
        if not (tmp_path / "two").exists():
            write_study(tmp_path, "two")
            keep_list(tmp_path)
        return found

    monkeypatch.setattr(page_module, "read_all", slowly)
    assert keep_list(tmp_path) == []
    page = (tmp_path / "index.html").read_text()
    assert 'href="./two/report/index.html"' in page and "<code>report/facts.json</code> in each folder" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "one", "two"]


def test_two_processes_that_write_the_list_leave_no_torn_file(tmp_path: Path) -> None:
    """Whoever reads meanwhile finds a whole list, and the last one has every study."""
    write_study(tmp_path, "first")
    assert keep_list(tmp_path) == []
    work = (
        "import sys; from pathlib import Path\n"
        "from ragrelay.annexes.studies.page import keep_list\n"
        "from tests.annexes.studies.test_list_of_studies import write_study\n"
        "root = Path(sys.argv[1])\n"
        "for n in range(20): write_study(root, sys.argv[2] + str(n)); assert not keep_list(root)"
    )
    at_work = [
        subprocess.Popen([sys.executable, "-c", work, str(tmp_path), name], cwd=ROOT, env=with_package())
        for name in "ab"
    ]
    read = 0
    while any(one.poll() is None for one in at_work):
        text = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert MARK in text and text.rstrip().endswith("</html>")
        read += 1
    assert read and [one.returncode for one in at_work] == [0, 0]
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert all(
        f'href="./{name}/report/index.html"' in text
        for name in ("first", *(f"{a}{n}" for a in "ab" for n in range(20)))
    )
    assert sum(path.is_file() for path in tmp_path.iterdir()) == 1, "nothing temporary is left"


def with_package() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{ROOT / 'workflow/scripts'}:{ROOT}"}


def test_what_can_not_be_written_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_study(tmp_path, "one")
    (tmp_path / "index.html").write_text("<html>mine</html>")
    assert keep_list(tmp_path) == [f"{tmp_path}/index.html: not ragrelay's list of studies, so it is left unchanged"]
    assert (tmp_path / "index.html").read_text() == "<html>mine</html>"
    (tmp_path / "index.html").unlink()

    def refused(*given: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(page_module, "write_text", refused)
    assert keep_list(tmp_path) == [f"{tmp_path}/index.html: cannot write the list of studies: Permission denied"]
    monkeypatch.chdir(tmp_path)
    assert keep_list(Path()) == [], "results in the working directory itself"
    monkeypatch.undo()
    assert keep_list(tmp_path) == [] and MARK in (tmp_path / "index.html").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_a_warning(tmp_path: Path) -> None:
    write_study(tmp_path, "one")
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    [warning] = keep_list(tmp_path)
    tmp_path.chmod(stat.S_IRWXU)
    assert "is not written" in warning and "\n" not in warning


@needs_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_the_list_in_a_browser(browser: Any, tmp_path: Path, width: int) -> None:
    """One file from the disk, without a request; names are text, links lead to pages; no scroll sideways."""
    for name in (HOSTILE, "a#b?c%d", "javascript:alert(1)", "line\nbreak", "\udcff", *map(str, range(2))):
        write_study(tmp_path, name)
    write_study(tmp_path, "broken", provenance="{")
    (tmp_path / HOSTILE.upper()).mkdir()
    assert keep_list(tmp_path) == []
    tab = browser.new_page()
    tab.set_viewport_size({"width": width, "height": 900})
    trouble: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((tmp_path / "index.html").as_uri())
    assert violations(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("window.hacked") is None
    shown = tab.locator("#studies").inner_text()
    assert HOSTILE in shown and "a#b?c%d" in shown and r"line\nbreak" in shown
    assert "Broken: report/provenance.json is invalid JSON" in shown
    assert "Folders that don’t look like studies" in tab.locator("main").inner_text()
    links = tab.eval_on_selector_all("#studies a", "(all) => all.map((one) => one.href)")
    assert len(links) == 8 and set(links) == {
        (tmp_path / study.folder / "report/index.html").as_uri() for study in read_all(tmp_path)[0]
    }
    if width == 1400:
        button = tab.locator("#studies thead button").first
        button.focus()
        tab.keyboard.press("Enter")
        assert tab.locator("#studies th[aria-sort=ascending]").count() == 1
    else:
        assert tab.locator("#studies td").first.bounding_box()["width"] > 300, "a row is a card"
    assert (trouble, requests) == ([], [(tmp_path / "index.html").as_uri()])
    tab.close()
