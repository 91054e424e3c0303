"""The law of the arm that an agent would play, and the moments of an ensemble."""

from typing import NamedTuple

from fastes.checks.arrays import Floats


class ActionLaw(NamedTuple):
    """What an agent in some state would play, and the models it would play it for.

    Attributes
    ----------
    probabilities : (K,) array or None
        Of each arm, given the state and not only the history; None stands for the law of the
        optimal action itself.
    moments : Moments, optional
        Of an ensemble.
    """

    probabilities: Floats | None
    moments: "Moments | None" = None


class Moments(NamedTuple):
    """How an ensemble compares with M independent draws from the posterior N(mu, S).

    All three are about 1 for such draws; the expectation of the last two's squares is.

    Attributes
    ----------
    variance : float
        tr(P C) / r, with C the mean of (z - mu)(z - mu)' over models.
    mean_error : float
        |mean of z - mu| in the norm of P, over sqrt(r / M).
    cov_error : float
        Frobenius norm of C - S, in coordinates where S is the identity, over sqrt(r (r + 1) / M).
    """

    variance: float
    mean_error: float
    cov_error: float
