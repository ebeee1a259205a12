"""ACU, accumulated context usage: how far the evidence moves the words' probabilities in the direction of its stance.

Source: Hagström et al., A Reality Check on Context Utilisation for RAG, ACL 2025.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragrelay.claims.stances import DIRECTIONS

Array = npt.NDArray[np.float64]


def change(without: Array, with_evidence: Array) -> Array:
    """ΔP(t) of probabilities ``without`` the evidence and ``with_evidence``, of one shape; values in [-1, 1].

    The change as a share of the largest possible one: (P_E - P) / (1 - P) up, (P_E - P) / P down. Both are defined
    wherever they apply except at P = P_E = 1, where the change is 0. Raises ValueError for values outside [0, 1].
    """
    before, after = np.asarray(without, dtype=np.float64), np.asarray(with_evidence, dtype=np.float64)
    for values in (before, after):
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise ValueError("probabilities must be in [0, 1]")
    room = np.where(after >= before, 1.0 - before, before)
    return np.divide(after - before, room, out=np.zeros_like(room), where=room > 0.0)


def acu(without: Array, with_evidence: Array, stances: Sequence[str]) -> Array:
    """ACU (n,) of the probabilities of True, None and False (n, 3) and the evidence's ``stances``; in [-1, 1].

    The mean over the words of D(t, S) ΔP(t): 1 where every probability went all the way that the stance says, -1 where
    it went all the way against it, 0 where nothing changed. Raises KeyError for an unknown stance.
    """
    directions = np.array([DIRECTIONS[stance] for stance in stances], dtype=np.float64).reshape(-1, 3)
    return (directions * change(without, with_evidence)).mean(axis=1)
