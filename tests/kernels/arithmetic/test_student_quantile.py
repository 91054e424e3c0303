"""Quantiles of Student's law against SciPy."""

import numpy as np
import pytest
from engine import from_python
from fastes.kernels.arithmetic import student_quantile
from scipy import special, stats

quantile = from_python(student_quantile.student_upper_quantile)

DEGREES = (1.0, 1.5, 2.0, 3.0, 5.5, 40.0, 59.9, 60.1, 1e3, 9_999.0, 1e4, 1e7, 2e9)
PROBABILITIES = (1 / 3, 0.25, 0.1, 0.042, 0.03, 1e-2, 1e-3, 1e-5, 1e-8, 1e-12, 1e-17)


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantiles_are_those_of_scipy(degrees):
    found = [quantile(p, degrees) for p in PROBABILITIES]
    expected = [-special.stdtrit(degrees, p) for p in PROBABILITIES]
    np.testing.assert_allclose(found, expected, rtol=2e-13)
    tail = stats.t.sf(found, degrees)
    np.testing.assert_allclose(tail, PROBABILITIES, rtol=1e-11)


def test_quantiles_grow_as_the_law_has_heavier_tails():
    for p in PROBABILITIES:
        found = [quantile(p, degrees) for degrees in DEGREES]
        assert (np.diff(found) < 0).all()
