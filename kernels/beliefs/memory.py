"""How long a belief remembers: all rewards alike, the recent ones more, or the last ones only.

With a discount gamma < 1 a reward counts gamma times as much with each reward taken in after it,
and what is forgotten goes back to the prior, N(0, I):

    P <- gamma P + b b',   eta <- gamma eta + y b,   mu = P^-1 eta,

and with every n-th reward also P <- P + (1 - gamma^n) I. After k rewards the weight of the prior
in P is thus lambda_k = gamma^(k mod n): it is 1 after every n-th reward, and at least 1/2 before,
or n is 1. So P stays between I / 2 and what a memory of 1 / (1 - gamma) rewards can tell: it does
not wind up, however long a direction is not played. A refill takes O(r^3), so n is as large as that
allows, and at most 256.

A model in information space, xi ~ N(0, P) given the rewards, goes along:

    xi <- sqrt(gamma) xi + W b,   and with every n-th reward  xi <- xi + sqrt(1 - gamma^n) N(0, I).

docs/explanation/forgetting.md has the proofs.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..jit.decorators import generic, inlined
from ..states.layout import allocated, zeros

LONGEST_PERIOD = 256

LEAST_WEIGHT = 1e-100
"""What counts less is dropped, before arithmetic with it becomes slow."""


class Unlimited(NamedTuple):
    """All rewards count alike."""


class Discounted(NamedTuple):
    """A reward counts gamma^age."""

    discount: float
    period: int  # n


class Windowed(NamedTuple):
    """Only the last n rewards count."""

    rows: np.ndarray  # (n, r): what they were of, reward k in k % n
    pay: np.ndarray  # (n,)
    seen: np.ndarray  # (1,) int64: rewards so far


@allocated
def windowed(n: int, r: int) -> Windowed:
    """Return the memory of the last n rewards, of which there was none so far."""
    return Windowed(zeros((n, r)), zeros(n), zeros(1, np.int64))


UNLIMITED = Unlimited()

Memory = Any
"""One of the three."""


def with_discount(discount: float, period: int = LONGEST_PERIOD) -> Memory:
    """Return the memory of a discount of at most 1, with this period or half of its life."""
    if discount == 1.0:
        return UNLIMITED
    half_life = math.log(0.5) / math.log(discount)
    return Discounted(discount, max(1, math.floor(min(period, half_life))))


@generic
def fading(memory, rewards):
    """Return the factor of a deviation in information space over a number of rewards."""
    return 1.0


@fading.body(Discounted)
def _fading(memory, rewards):
    return memory.discount ** (0.5 * np.float64(rewards))


@inlined
def kept(x):
    """Return a number that fades, or zero where it counts too little."""
    return 0.0 if abs(x) < LEAST_WEIGHT else x


@generic
def fade_by_age(memory, x):
    """Multiply x[i] by `fading` over the rewards after the i-th, of as many as x has."""


@fade_by_age.body(Discounted)
def _fade_by_age(memory, x):
    root, scale = np.sqrt(memory.discount), 1.0
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] *= scale
        scale *= root


@generic
def refill_scale(memory, since, now):
    """Return the standard deviation of what a model got of the prior between two counts of rewards.

    That is sqrt(lambda_now - gamma^(now - since) lambda_since), by how many periods have ended.
    """
    return 0.0


@refill_scale.body(Discounted)
def _refill_scale(memory, since, now):
    n = memory.period
    forgotten = _forgotten(memory, (now // n - since // n) * n)
    return np.sqrt(forgotten) * fading(memory, now % n)


@generic
def lost(memory, power):
    """Return 1 - gamma^(power n), what a refill gives back where gamma^power is the discount."""
    return 0.0


@lost.body(Discounted)
def _lost(memory, power):
    return _forgotten(memory, power * memory.period)


@inlined
def _forgotten(memory, rewards):
    """Return 1 - gamma^rewards, to full precision."""
    return -np.expm1(np.float64(rewards) * np.log(memory.discount))


@generic
def forgotten(memory, rewards):
    """Return whether rounding hides what a model had before this many rewards."""
    return False


@forgotten.body(Discounted)
def _is_forgotten(memory, rewards):
    return fading(memory, rewards) < 2.0**-53


@generic
def refill_due(memory, rewards):
    """Return whether the prior is refilled with the last of a number of rewards."""
    return False


@refill_due.body(Discounted)
def _refill_due(memory, rewards):
    return rewards > 0 and rewards % memory.period == 0
