"""The families of rewards: their mean psi' and their variance psi'', given an arm's value.

A reward y of an arm of value eta has the density exp(y eta - psi(eta)) beside some measure.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.exponential import exponential, log_one_plus, logistic_tail
from ..arithmetic.floats import fma
from ..jit.decorators import required

_LARGEST_VALUE = 300.0
"""Of a Poisson law: where its mean is taken for that of this value, sums of squares are finite."""


class Gaussian(NamedTuple):
    """Normal rewards with noise of variance 1: psi = eta^2 / 2."""

    perturbation: float  # the variance of a perturbation, or 0 for psi'' at the mode


class Bernoulli(NamedTuple):
    """Rewards of 0 or 1, by the logistic model: psi = log(1 + exp(eta))."""

    perturbation: float


class Poisson(NamedTuple):
    """Counts with a logarithmic link: psi = exp(eta)."""

    perturbation: float


Family = Gaussian | Bernoulli | Poisson


@required
def slope_and_curvature(family, plays, pay, value):
    """Return n psi' - y and n psi'' at a value, for n plays that paid y in all.

    By arithmetic that vectorises.
    """


@slope_and_curvature.body(Gaussian)
def _of_gaussian(family, plays, pay, value):
    return fma(plays, value, -pay), plays


@slope_and_curvature.body(Bernoulli)
def _of_bernoulli(family, plays, pay, value):
    # From the smaller of psi' and 1 - psi': where nearly all of many plays paid, n psi' - y would
    # cancel.
    small, curvature = logistic_tail(value)
    by_ones, by_zeros = fma(plays, small, -pay), fma(-plays, small, plays - pay)
    return by_zeros if value >= 0.0 else by_ones, plays * curvature


@slope_and_curvature.body(Poisson)
def _of_poisson(family, plays, pay, value):
    mean = exponential(value if value < _LARGEST_VALUE else _LARGEST_VALUE)
    return fma(plays, mean, -pay), plays * mean


@required
def minus_log_likelihood(family, plays, pay, value):
    """Return n psi - y eta at a value eta, for n plays that paid y in all.

    By arithmetic that vectorises.
    """


@minus_log_likelihood.body(Gaussian)
def _minus_log_of_gaussian(family, plays, pay, value):
    return value * fma(0.5 * plays, value, -pay)


@minus_log_likelihood.body(Bernoulli)
def _minus_log_of_bernoulli(family, plays, pay, value):
    # Of both terms none is negative: where nearly all of many plays paid, n psi - y eta would
    # cancel.
    size = abs(value)
    unlikely = plays - pay if value >= 0.0 else pay
    return fma(plays, log_one_plus(exponential(-size)), unlikely * size)


@minus_log_likelihood.body(Poisson)
def _minus_log_of_poisson(family, plays, pay, value):
    mean = exponential(value if value < _LARGEST_VALUE else _LARGEST_VALUE)
    return fma(plays, mean, -pay * value)


@required
def likeliest_value(family, reward):
    """Return the value under which a reward is the likeliest: psi' is equal to it there."""


@likeliest_value.body(Gaussian)
def _likeliest_of_gaussian(family, reward):
    return reward


@likeliest_value.body(Bernoulli)
def _likeliest_of_bernoulli(family, reward):
    return np.inf if reward > 0.5 else -np.inf


@likeliest_value.body(Poisson)
def _likeliest_of_poisson(family, reward):
    return np.log(reward) if reward > 0.0 else -np.inf
