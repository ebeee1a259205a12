"""Citations in the forms of docs/judge-answers.md, read from there, and what looks like one but is none."""

import re

import polars as pl
import pytest
from ragrelay.questions.judging.judge_requests import bracket_counts
from ragrelay.scoring.judge_scorer import JudgeCase, judge_scorer
from ragrelay.scoring.sentences import cited_sentences, numbered_citations, read_citations

from tests.support.sandbox import ROOT

DOCNOS = ["tea-17", "ore_9"]
TABLE = (ROOT / "docs/judge-answers.md").read_text(encoding="utf-8").split("| form | examples |")[1].split("\n\n")[0]
ROWS = {
    name.strip(): re.findall(r"`([^`]+)`", examples) for name, examples in re.findall(r"\n\| ([^|-]+) \|(.*)\|", TABLE)
}
"""Examples of citations by the name of the form."""
IN_SENTENCE = ("several passages", "in running text")
FORMS = [form.removeprefix("hills") for name, forms in ROWS.items() if name not in IN_SENTENCE for form in forms]
BOTH = [
    *ROWS["several passages"],
    "¹,²",
    "(Passages 1 & 2)",
    "[tea-17; ore_9]",
    "[Doc 1, Doc 2]",
    "【1】【2】",
    "<cite>1, 2</cite>",
]
"""Examples that cite two passages."""
PLACES = {
    "before the full stop": "Tea is grown in hills {}. Copper is mined in pits {}.",
    "without a blank": "Tea is grown in hills{}. Copper is mined in pits{}.",
    "after the full stop": "Tea is grown in hills. {} Copper is mined in pits. {}",
    "after it without a blank": "Tea is grown in hills.{} Copper is mined in pits.{}",
    "between full stops": "Tea is grown in hills. {}. Copper is mined in pits. {}.",
    "Chinese": "茶叶长在山上{}。铜矿在坑里{}。",
    "Chinese, after the full stop": "茶叶长在山上。{}铜矿在坑里。{}",
    "in a list": "- Tea is grown in hills {}\n- Copper is mined in pits {}",
    "in a numbered list": "1. Tea is grown in hills. {}\n2. Copper is mined in pits. {}",
    "on lines of their own": "Tea is grown in hills.\n{}\nCopper is mined in pits.\n{}",
    "before the sentences": "{} Tea is grown in hills. {} Copper is mined in pits.",
    "at the beginning of lines": "{} Tea is grown in hills.\n{} Copper is mined in pits.",
}


def second(form: str) -> str:
    """The same form, of the second passage."""
    return form.translate(str.maketrans("1¹１", "2²２")).replace("tea-27", "ore_9")


def test_the_documentation_has_forms() -> None:
    assert len(FORMS) > 30 and len(BOTH) > 12 and len(ROWS) == 8


@pytest.mark.parametrize("form", [*FORMS, "[P1]", "(Doc. 1)", "[Ref 1]", "[cite: 1]", "[Source: Document 1]", "[1.]"])
def test_forms(form: str) -> None:
    """Two sentences, cited 1 and 2, wherever their citations are. A list's numbers are no citations: see (1)."""
    for place, text in PLACES.items():
        if form in ("(1)", "（1）") and place in ("before the sentences", "at the beginning of lines"):
            continue
        found = cited_sentences(text.format(form, second(form)), DOCNOS)
        assert [sentence.cited for sentence in found] == [(1,), (2,)], (place, found)
        assert not any(form in sentence.text for sentence in found), place


@pytest.mark.parametrize("form", BOTH)
def test_forms_of_two_passages(form: str) -> None:
    for text in ("Tea and copper are sold {}.", "Tea and copper are sold.{} ", "Tea and copper are sold{}\n\n"):
        assert [sentence.cited for sentence in cited_sentences(text.format(form.removeprefix("hills")), DOCNOS)] == [
            (1, 2)
        ]


def test_mentions_stay_in_their_sentence() -> None:
    found = cited_sentences("According to Passage 1, tea grows. Documents 1 and 2 say so. Source 7 does not.", DOCNOS)
    assert [sentence.cited for sentence in found] == [(1,), (1, 2), ()]
    assert found[1].text == "Documents 1 and 2 say so."


@pytest.mark.parametrize(
    ("answer", "cited", "unread"),
    [
        ("Tea [1990] is grown [1].", [(1,)], ["[1990]"]),
        ("Tea of [1990-1995] is grown [sic].", [()], ["[1990-1995]", "[sic]"]),
        ("It covers 5 km² and 10² hills (1990, p. 2).", [()], []),
        ("There are two: (1) tea, (2) copper.", [()], ["(1)", "(2)"]),
        ("He had sons (3).", [()], ["(3)"]),
        ("See [the page](https://example.org) [1a] [1.2].", [()], ["[1a]", "[1.2]"]),
        ("Tea [9].", [(9,)], []),
        ("Tea [0, 1].", [(0, 1)], []),
        ("Tea [2-1].", [(2, 1)], []),
        ("Tea [1-999999999].", [(1, 999999999)], []),
        ("f(x) = {x} and a[i] [ ] […]", [()], ["[i]"]),
        ("【4:0†source】 Tea.", [()], ["【4:0†source】"]),
    ],
)
def test_what_is_no_citation_stays_in_the_text(answer: str, cited: list[tuple[int, ...]], unread: list[str]) -> None:
    assert [sentence.cited for sentence in cited_sentences(answer, DOCNOS)] == cited
    found = read_citations(answer, DOCNOS)
    assert found.unread == unread and all(bracket in found.text for bracket in unread)


def test_numbers_that_are_ids_of_passages() -> None:
    """A number of a passage comes first; a larger one may be an id."""
    assert cited_sentences("Tea [2]. Ore [7067032].", ["7067032", "1"]) == [("Tea.", (2,)), ("Ore.", (1,))]


def test_ids_in_a_judges_case() -> None:
    support = judge_scorer({"kind": "support", "generator": "judge", "prompt": "support"})
    case = JudgeCase("1", "q", "Ore is mined [ore_9]. Tea 【1】.", passages=["tea", "ore"], docnos=DOCNOS)
    assert [(question.texts or {})["passages"] for question in support.questions(case)] == [["ore"], ["tea"]]
    faithful = judge_scorer({"kind": "faithfulness", "generator": "judge", "prompt": "faithfulness"})
    assert [(question.texts or {})["sentence"] for question in faithful.questions(case)] == ["Ore is mined.", "Tea."]


def test_known_citations_lose_their_marks() -> None:
    cited = [{"text": "Ore is mined【2】.", "citations": ["ore_9"]}]
    assert numbered_citations(cited, DOCNOS) == [("Ore is mined.", (2,))]


def test_unread_brackets_are_counted_and_shown() -> None:
    """Answers without a context, or with citations outside the text, are not counted."""
    answers = pl.DataFrame(
        {
            "qid": ["q", "q", "q", "q"],
            "ordering": ["descending", "descending", "none", "descending"],
            "k": [2, 2, 0, 2],
            "answer": ["Tea [1] [sic]. Ore [2].", "Tea [1a]. Ore [sic].", "[x1]", "Tea [x2]."],
            "cited_sentences": [None, None, None, [{"text": "Tea [x2].", "citations": ["tea-17"]}]],
        }
    )
    found = bracket_counts(answers, {("descending", 2): {"q": DOCNOS}, ("none", 0): {"q": []}})
    assert found == {"read": 2, "unread": 3, "such_as": ["[sic]", "[1a]"]}
    assert "brackets" in counts_of(found)[-1]["what"] and counts_of(found)[-1]["count"] == 3
    assert counts_of(found)[-1]["warning"].startswith("such as [sic], [1a]; docs/judge-answers.md")
    assert "warning" not in counts_of({"read": 97, "unread": 3, "such_as": ["[sic]"]})[-1]


def counts_of(brackets: dict) -> list[dict]:
    from ragrelay.questions.judging.scores import _brackets

    return _brackets({"brackets": brackets})
