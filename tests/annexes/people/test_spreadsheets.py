"""What `to_score` writes comes back from spreadsheet programs with every score, for any qid, name and answer.

`spreadsheets/` has a file that was drawn, and what LibreOffice Calc 7.4.7 saved after it had opened it; RECORD=1 with
Calc writes them anew. What Excel and Google Sheets do is a function here, after their documentation.
"""

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.people.to_score import to_score
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.scoring.score_files import (
    ScoreCells,
    ScoreScale,
    answer_key,
    mean_scores,
    of_answers,
    placed_scores,
    read_score_rows,
)

QIDS = ["q01", "007", "1e5", "12345678e012", "3-4", "1/2", "=1+1", "-5", "+7", "@x", "TRUE", "may-5", "10:30", "5%",
        "1234567890123456789", "1,5", "1.000", "'x", "é1", "a;b", 'x"y', "#N/A", "(5)", "Dec12", "x=y"]  # fmt: skip
NAMES = ["007", "1e5", "3-4", "TRUE"]
TEXTS = ["3-4", "=1+1", "1/2", "TRUE", "12e4", "5 May", 'A long answer, with 2 valves; "really".', "two\nlines", "日本"]
CELLS = ScoreCells(["lm", "other"], NAMES, ["descending"], [3, 5], [1, 2])
SCALE = ScoreScale((1.0, 5.0))
RECORDED = Path(__file__).parent / "spreadsheets"
CALC = "Text - txt - csv (StarCalc)"
OPENED = {"libreoffice.csv": ("44,34,76,1,,1033,false,true", "44,34,76,1,,1033,false,true,false"),
          "libreoffice-german.csv": ("44,34,76,1,,1031,false,true", "59,34,76,1,,1031,false,true,false")}  # fmt: skip
"""Calc's options for opening and saving: separator, quotes, UTF-8, language, whether it looks for dates."""
DRAWN = 96


def answers() -> pl.DataFrame:
    rows = [
        ("lm", name, "descending", 3, 1, qid, TEXTS[(at + place) % len(TEXTS)])
        for place, name in enumerate(NAMES)
        for at, qid in enumerate(QIDS)
    ]
    names = ["generator", "retriever", "ordering", "k", "seed", "qid", "answer"]
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A file that `to_score` drew, with the grades that a person gave."""
    files = []
    for name in NAMES:
        files.append(tmp_path / f"small/answers/lm/{name}/descending/k3/seed1.parquet")
        files[-1].parent.mkdir(parents=True)
        answers().filter(retriever=name).select("qid", "seed", "answer").write_parquet(files[-1])
    queries = tmp_path / "small/queries.parquet"
    pl.DataFrame({"qid": QIDS, "query": [f"what is {qid}" for qid in QIDS]}).write_parquet(queries)
    keyed = {
        "answers": KeyedFiles(
            "{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet", tuple(files)
        ),
        "queries": KeyedFiles("{dataset}/queries.parquet", (queries,)),
    }
    path = tmp_path / "drawn.csv"
    of = answers().select("generator", "retriever", "ordering", "k").unique().to_dicts()
    to_score(keyed, {"small": None}, {"small": str(path)}, None, None, of, DRAWN, 1)
    return path


def grade(number: int) -> str:
    return f"{1 + number % 9 / 2:g}"


def saved(path: Path, cell: Callable[[str], str], **form: str) -> Path:
    """Save the file as a program does that shows ``cell`` for a text, after a person typed in grades."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    place = {name: number for number, name in enumerate(header)}
    with path.with_name("saved.csv").open("w", encoding=form.pop("encoding", "utf-8-sig"), newline="") as file:
        file.write(form.pop("first", ""))
        writer = csv.writer(file, **form)  # type: ignore[arg-type]
        writer.writerow(header)
        for number, row in enumerate(rows):
            row[place["value"]], row[place["assessor"]] = grade(number), "Ann"
            writer.writerow([cell(text) for text in row])
    return path.with_name("saved.csv")


def scores(path: Path) -> pl.DataFrame:
    rows = placed_scores(read_score_rows(path, SCALE), CELLS)
    found, counts = of_answers(mean_scores(rows), answers())
    assert counts["unknown"] == counts["changed"] == 0
    return found.drop("n").sort("qid", "retriever")


def excel(text: str, comma: str = ".") -> str:
    """Show a cell as Excel does: numbers of more than 11 digits in E notation, dates, times and truth values."""
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text) and abs(float(text)) < 1.7e308:
        number = float(text)
        return (f"{number:.5E}" if abs(number) >= 1e11 else f"{number:.10g}").replace(".", comma)
    if re.fullmatch(r"\d+[-/]\d+|may-5|Dec12|5 May", text):
        return "04. Mrz" if comma == "," else "4-Mar"
    known = {"10:30": "10:30:00", "TRUE": "TRUE", "(5)": "-5", "#N/A": "#N/A", "5%": "5%"}
    return known.get(text, "#NAME?" if text.startswith(("=", "+", "@")) else text)


def german(text: str) -> str:
    return excel(text, ",")


def sheets(text: str) -> str:
    """Show a cell as Google Sheets does, which drops an apostrophe before a text."""
    return text[1:] if text.startswith("'") else excel(text)


PROGRAMS: list[tuple[Callable[[str], str], dict[str, str]]] = [
    (excel, {}),
    (german, {"delimiter": ";"}),
    (german, {"delimiter": ";", "first": "sep=;\r\n"}),
    (german, {}),
    (excel, {"delimiter": "\t"}),
    (sheets, {"encoding": "utf-8", "lineterminator": "\n"}),
]


@pytest.mark.parametrize(("cell", "form"), PROGRAMS)
def test_every_score_comes_back(drawn: Path, cell: Callable[[str], str], form: dict[str, str]) -> None:
    plain = scores(saved(drawn, str))
    assert plain.height == DRAWN and plain["value"].n_unique() == 9
    assert scores(saved(drawn, cell, **form)).equals(plain)


def test_ansi_may_spoil_texts_but_no_score(drawn: Path) -> None:
    """Excel's plain CSV is not UTF-8, and has ? for what its code page lacks."""
    plain = scores(saved(drawn, str))
    lost = saved(drawn, lambda text: text.encode("cp1252", "replace").decode("cp1252"), encoding="cp1252")
    with pytest.raises(ValueError, match=r"byte 0xe9 in .*CSV UTF-8"):
        scores(lost)  # the qid é1
    lines = lost.read_bytes().splitlines(keepends=True)
    lost.write_bytes(b"".join(line for line in lines if b"qid=\xe91" not in line))
    assert scores(lost).equals(plain.filter(pl.col("qid") != "é1"))


def test_answers_are_shown_as_they_are(drawn: Path) -> None:
    with drawn.open(encoding="utf-8-sig", newline="") as file:
        shown = {row["answer"] for row in csv.DictReader(file)}
    assert shown == {"'3-4", "'=1+1", "'1/2", "'TRUE", "'12e4", "'5 May", *TEXTS[6:]}
    assert drawn.read_bytes().startswith("\ufeff".encode())


@pytest.mark.parametrize("name", OPENED)
def test_libreoffice_gave_every_score_back(name: str) -> None:
    given, back = (read_score_rows(RECORDED / each, SCALE).drop("place") for each in ("drawn.csv", name))
    assert back.equals(given) and given.drop_nulls("value").height == DRAWN
    columns = [pl.read_csv(RECORDED / each, separator=by, infer_schema=False)["qid"].to_list()
               for each, by in (("drawn.csv", ","), (name, ";" if "german" in name else ","))]  # fmt: skip
    assert columns[0] != columns[1], "although it changed qids"


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.skipif(shutil.which("soffice") is None, reason="without LibreOffice")
def test_libreoffice_gives_every_score_back(drawn: Path, name: str, tmp_path: Path) -> None:
    opened, written = OPENED[name]
    filled, folder, profile = saved(drawn, str), tmp_path / "calc", f"-env:UserInstallation=file://{tmp_path}/profile"
    command = ["soffice", "--headless", profile, f"--infilter={CALC}:{opened}", "--convert-to", f"csv:{CALC}:{written}",
               "--outdir", str(folder), str(filled)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    if os.environ.get("RECORD"):
        shutil.copy(filled, RECORDED / "drawn.csv")
        shutil.copy(folder / "saved.csv", RECORDED / name)
    assert scores(folder / "saved.csv").equals(scores(filled))


@pytest.mark.parametrize(("form", "cell"), [({}, excel), ({"delimiter": ";"}, german), ({}, str)])
def test_files_with_the_short_key_are_still_read(
    tmp_path: Path, form: dict[str, str], cell: Callable[[str], str]
) -> None:
    """Before, the key was 12 hex digits, of which some programs made a number."""
    texts = {
        key: text for text in map(str, range(20_000)) if (key := answer_key("q1", text)).replace("e", "").isdigit()
    }
    assert {len(set(key) & {"e"}) for key in texts} == {0, 1}
    names = ["lm", "007", "descending", 3, 1, "q1"]
    columns = ["generator", "retriever", "ordering", "k", "seed", "qid", "answer"]
    for key, text in list(texts.items())[:60]:
        known = pl.DataFrame([(*names, text)], schema=columns, orient="row")
        header = "key,query,answer,value,assessor,qid,generator,retriever,ordering,k,seed"
        row = f"{key},q,{text},4,,q1,lm,007,descending,3,1"
        (tmp_path / "s.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
        path = saved(tmp_path / "s.csv", lambda each: cell(each) if each != "007" else each, **dict(form))
        rows = placed_scores(read_score_rows(path, SCALE), CELLS)
        assert of_answers(mean_scores(rows), known)[1]["scored"] == 1
        other = known.with_columns(answer=pl.lit("another text"))
        assert of_answers(mean_scores(rows), other)[1]["changed"] == 1
