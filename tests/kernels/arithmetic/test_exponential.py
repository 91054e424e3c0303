import numpy as np
import pytest
from engine import from_python
from fastes.kernels.arithmetic import exponential as module

exponential = from_python(module.exponential)
logistic_tail = from_python(module.logistic_tail)
log_one_plus = from_python(module.log_one_plus)

VALUES = [*np.linspace(-708, 709, 1201), *np.linspace(-1, 1, 501), 0.0, -0.0, 1e-300, -1e-17]


def test_the_exponential_is_numpy_s_to_two_units():
    found = np.array([exponential(x) for x in VALUES])
    np.testing.assert_allclose(found, np.exp(VALUES), rtol=5e-16)
    assert exponential(0.0) == 1.0


def test_beyond_the_range_it_is_that_of_the_ends():
    assert exponential(-1e300) == exponential(-np.inf) == exponential(-708.0)
    assert exponential(1e300) == exponential(np.inf) == exponential(709.0) < np.inf


@pytest.mark.parametrize("x", [-700.0, -30.0, -1.0, 0.0, 1e-9, 2.0, 36.0, 700.0])
def test_the_logistic_function_and_its_derivative_keep_small_numbers(x):
    tail, variance = logistic_tail(x)
    e = np.exp(-abs(np.longdouble(x)))
    assert tail == pytest.approx(float(e / (1 + e)), rel=1e-15)
    assert variance == pytest.approx(float(e / (1 + e) ** 2), rel=1e-15)


def test_the_logarithm_is_numpy_s_to_two_units():
    values = [*np.linspace(0, 1, 1001), 1e-300, 5e-324, 1e-17, 1e-9, 1 - 2**-53]
    found = np.array([log_one_plus(x) for x in values])
    np.testing.assert_allclose(found, np.log1p(values), rtol=5e-16, atol=5e-324)
    assert log_one_plus(0.0) == 0.0
