"""What an expert would write instead of fastes: prior N(0, I), unit noise, a fixed set of arms.

Each baseline plays one problem or several, returns the regret and what it knows at the end, and is
held against tests/reference.py (bench/test_baselines.py) before it is timed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class MissingBaselineError(Exception):
    """A baseline cannot be run here; its sentence says what is missing."""


class Played(NamedTuple):
    """What came of T steps.

    Attributes
    ----------
    regret : float
        Cumulative regret, from mean rewards.
    arms, rewards : (T,) arrays
        What was played, and what it paid.
    mean, covariance : (d,) and (d, d) arrays
        The posterior.
    models : (M, d) array
        The models of an ensemble; for Thompson sampling one more draw of the posterior.
    """

    regret: float
    arms: NDArray[np.int64]
    rewards: Floats
    mean: Floats
    covariance: Floats
    models: Floats
