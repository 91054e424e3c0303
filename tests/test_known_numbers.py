"""A seed gives the numbers that it gave: see known_numbers.py."""

import known_numbers
import numpy as np


def test_simulations_give_the_numbers_they_gave():
    with np.load(known_numbers.FILE) as known:
        for name, found in known_numbers.simulations():
            np.testing.assert_array_equal(found, known[name], err_msg=name)


def test_live_agents_make_the_choices_they_made():
    with np.load(known_numbers.FILE) as known:
        for name, found in known_numbers.live():
            # Through the matrix products of a library, in user coordinates: not to the last bit.
            np.testing.assert_allclose(found, known[name], rtol=1e-12, atol=1e-12, err_msg=name)


def test_diagnostics_measure_what_they_measured():
    with np.load(known_numbers.FILE) as known:
        for name, found in known_numbers.probes():
            np.testing.assert_allclose(found, known[name], rtol=1e-9, atol=1e-9, err_msg=name)
