"""Greedy matching by hand, on embeddings of two dimensions."""

import numpy as np
import pytest
import torch
from ragrelay.scoring import matching
from ragrelay.scoring.embeddings import TokenEmbeddings

from tests.support.hand_embeddings import embeddings

CPU = torch.device("cpu")


ANSWERS = embeddings(
    [((0, 1), False), ((1, 0), True)],
    [],
    [((0, 1), False), ((1, 0), True), ((0.6, 0.8), True), ((0, 1), True)],
)
REFERENCES = embeddings(
    [((0.6, 0.8), False), ((0.8, 0.6), True), ((0, 1), True)],
    [((1, 0), False), ((0, 1), True)],
    [((-0.6, -0.8), True)],
    [],
)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("block", [1, 4, 100])
def test_by_hand(monkeypatch: pytest.MonkeyPatch, batched: bool, block: int) -> None:
    monkeypatch.setattr(matching, "REFERENCE_TOKENS", block)
    monkeypatch.setattr(matching, "ANSWER_TOKENS", block)
    scores = matching.match(ANSWERS, np.array([0, 1, 2]), REFERENCES, np.array([1, 0, 2, 3]), CPU, batched)
    # With the first reference asked for: word finds special token (1), its word the answer's special token (1).
    # With the second: word 0.8; words 0.8 (by the word) and 1 (by the special token), on average 0.9.
    # The third points the other way: a negative precision and recall have no harmonic mean.
    expected_precision = [
        [1, 0.8, -0.6, 0],
        [0, 0, 0, 0],
        [(1 + 0.8 + 1) / 3, (0.8 + 1 + 1) / 3, (-0.6 - 1 - 0.8) / 3, 0],
    ]
    expected_recall = [[1, 0.9, -0.6, 0], [0, 0, 0, 0], [1, (0.96 + 1) / 2, -0.6, 0]]
    np.testing.assert_allclose(scores.precision, expected_precision, atol=1e-6)
    np.testing.assert_allclose(scores.recall, expected_recall, atol=1e-6)
    assert scores.f1[0].tolist() == pytest.approx([1, 2 * 0.8 * 0.9 / 1.7, 0, 0], abs=1e-6)
    assert scores.f1[1].tolist() == [0, 0, 0, 0]
    precision, recall = 2.8 / 3, 0.98
    assert scores.f1[2, 1] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)


def test_sixteen_bit_embeddings_are_matched_in_float32() -> None:
    half = TokenEmbeddings(REFERENCES.tokens.astype(np.float16), REFERENCES.weights, REFERENCES.offsets)
    scores = matching.match(half, np.array([0]), half, np.array([0]), CPU)
    assert scores.f1.dtype == np.float32
    assert scores.f1[0, 0] == pytest.approx(1, abs=1e-3)
