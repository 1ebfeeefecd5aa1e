"""From the probabilities of an answer's sentences to that of the answer.

An answer is wrong if any of its sentences is; but sentences depend on each other, so a judge also sees the
answer as a whole. The rule weighs both equally: it takes the mean of their log-odds. Curves fitted by ``judge
calibrate --claims`` to labelled answers calibrate the sentences' probabilities and the result. On RAGTruth
this ranks answers better than either part (docs/claims.md).
"""

import math
from collections.abc import Sequence

from judge.calibration.curve import Curve, Fitted, chance, log_odds

FIELD = "claims"
"""The field of ``judge.json`` that stores a :class:`ClaimsCalibration`."""


class ClaimsCalibration(Fitted):
    """Two curves, and what they were fitted on.

    ``sentences`` maps a judge's raw probability that a sentence is wrong to the share of such sentences that
    are; ``answers`` maps :func:`combine` to the share of such answers that are FAIL. The errors are of
    out-of-fold probabilities.
    """

    sentences: Curve
    answers: Curve
    marked_sentences: int
    wrong_sentences: int
    ece_sentences: float
    ece_answers: float
    auroc_sentences: float
    auroc_answers: float


def any_wrong(p_wrong: Sequence[float]) -> float:
    """The probability that any sentence is wrong, as if they were independent."""
    return 1 - math.prod(1 - p for p in p_wrong)


def combine(p_wrong: Sequence[float], whole: float) -> float:
    """The raw probability of FAIL of an answer.

    Args:
        p_wrong: the probability that each of its sentences is wrong; at least one.
        whole: the judge's probability for the answer as a whole.
    """
    return chance((log_odds(any_wrong(p_wrong)) + log_odds(whole)) / 2)
