"""The curve that turns a judge's score of a sentence into the probability that the sentence is wrong."""

from judge.calibration.curve import Curve, Fitted

FIELD = "claims"
"""The field of ``judge.json`` that stores a :class:`ClaimsCalibration`."""


class ClaimsCalibration(Fitted):
    """A curve, and what it was fitted on.

    ``sentences`` maps a judge's probability that a sentence is wrong to the share of such sentences that are;
    ``ece_sentences`` is of out-of-fold probabilities.
    """

    sentences: Curve
    marked_sentences: int
    wrong_sentences: int
    ece_sentences: float
    auroc_sentences: float
