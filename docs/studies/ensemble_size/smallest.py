"""The smallest ensemble that suffices, from its regret beside Thompson sampling's."""

import numpy as np


def smallest(sizes, gaps, tolerance):
    """Return where gaps first fall to a tolerance, between sizes by interpolation in log M.

    The first size where the first gap is small enough, infinity where none is.

    Examples
    --------
    >>> from ensemble_size.smallest import smallest
    >>> round(smallest([2, 4, 8], [9.0, 3.0, 1.0], tolerance=2.0), 2)
    5.66
    >>> smallest([2, 4], [9.0, 3.0], tolerance=2.0)
    inf
    """
    enough = np.flatnonzero(np.asarray(gaps) <= tolerance)
    if not len(enough):
        return np.inf
    i = enough[0]
    if i == 0:
        return float(sizes[0])
    share = (gaps[i - 1] - tolerance) / (gaps[i - 1] - gaps[i])
    return float(np.exp(np.log(sizes[i - 1]) + share * np.log(sizes[i] / sizes[i - 1])))
