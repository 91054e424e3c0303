"""The law of the optimal action by quasi-Monte Carlo."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from fastes.agents.best_arms import best_arms
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.kernels.actions.arms import empty_arms, store_rows
from fastes.problem.constants import Estimate
from fastes.theory.exact_laws import BestArmLaw
from fastes.theory.measures import entropy

REPLICATES = 16
_ENOUGH = 10  # draws for each arm: with fewer the entropy is bounded, not estimated


def shared_entropy(p: Floats, copies: Any) -> float:
    """Return the entropy when each probability is shared by its copies."""
    return float(entropy(p)) + float(p @ np.log(copies))


class Extremes(NamedTuple):
    """The arms' values under n draws of theta, summed up: one replicate.

    Attributes
    ----------
    best : (n,) array
        The arm of the largest value.
    largest, least : (n,) arrays
        The largest and the least value.
    mean : (n,) array
        The mean of the values of all arms, copies among them.
    """

    best: NDArray[np.int64]
    largest: Floats
    least: Floats
    mean: Floats


def extremes_of_draws(m: Floats, c: Floats, copies: Any, samples: int, seed: int) -> list[Extremes]:
    """Return what m + c x is under draws x ~ N(0, I), in independent replicates.

    Cost O(samples K r), most of it in single precision; the numbers are those of double
    precision (kernels/diagnostics/best_of_models.py).
    """
    if c.shape[1] == 0:
        c = np.zeros((len(m), 1))
    require(f"values of {len(m):,} arms", empty_arms.nbytes(*c.shape))
    arms = empty_arms(*c.shape)
    store_rows(arms, 0, np.ascontiguousarray(c), np.ascontiguousarray(m))
    weights = copies / copies.sum()
    mean, slope = weights @ m, weights @ c
    drawn = []
    for x in normal_draws(c.shape[1], -(-samples // REPLICATES), seed):
        found = best_arms(arms, x, least=True)
        drawn.append(Extremes(found.arm, found.score, found.least, mean + x @ slope))
    return drawn


def sampled_law(copies: Any, drawn: list[Extremes]) -> tuple[BestArmLaw, Estimate]:
    """Return the law for arms that differ, of which there may be copies, and its entropy."""
    K = len(copies)
    counts = np.array([np.bincount(each.best, minlength=K) for each in drawn], float)
    values = sum(np.bincount(each.best, each.largest, minlength=K) for each in drawn)
    total = counts.sum(axis=0)
    draws = total.sum()
    se = counts.std(axis=0, ddof=1) * np.sqrt(REPLICATES) / draws
    p = total / draws
    # What was never seen, or seen equally often in every replicate, is not known exactly.
    se = np.maximum(se, np.where(total > 0, np.sqrt(p) / draws, 1.0 / draws))
    entropy_of = _entropy if draws >= _ENOUGH * K else _entropy_from_few
    return BestArmLaw(p, values / draws, se, "quasi-Monte Carlo"), entropy_of(counts, copies)


def _entropy(counts: Floats, copies: Any) -> Estimate:
    """Return the entropy from counts of each replicate, (REPLICATES, K).

    The jackknife takes off the bias of the plug-in estimate, which is too small.
    """
    total = counts.sum(axis=0)
    whole = shared_entropy(total / total.sum(), copies)
    left_out = [shared_entropy((total - k) / (total - k).sum(), copies) for k in counts]
    value = REPLICATES * whole - (REPLICATES - 1) * float(np.mean(left_out))
    spread = np.sqrt((REPLICATES - 1) * np.var(left_out))
    return Estimate(min(value, math.log(copies.sum())), float(spread))


def _entropy_from_few(counts: Floats, copies: Any) -> Estimate:
    """Return what the entropy is at most, on average; the error reaches what it is at least.

    It is at least the entropy of the frequencies, on average, for entropy is concave. It is at
    most the mean of -log q over the draws of a replicate, whatever q is, if q knows nothing of
    these draws. q is made of the other replicates, arms that they miss sharing what Good and
    Turing estimate for these: the share of arms that were met once.
    """
    total = counts.sum(axis=0)
    upper = np.empty(REPLICATES)
    for i, k in enumerate(counts):
        others = total - k
        n, missed = others.sum(), others == 0
        new = ((others == 1).sum() + 1.0) / (n + 2.0) if missed.any() else 0.0
        each = (1.0 - new) * others / copies / n
        each[missed] = new / max(1, copies[missed].sum())
        upper[i] = -(k @ np.log(each)) / k.sum()
    value = min(float(upper.mean()), math.log(copies.sum()))
    gap = value - shared_entropy(total / total.sum(), copies)
    spread = upper.std(ddof=1) / math.sqrt(REPLICATES)
    return Estimate(value, math.hypot(gap, spread))


def normal_draws(r: int, n: int, seed: int) -> Any:
    """Yield independent replicates of n points (n x r), each N(0, I).

    Scrambled Sobol points, where there are tables for that many dimensions.
    """
    require(f"{n:,} draws in {r:,} dimensions", 3 * 8 * n * r)
    for rng in np.random.default_rng(seed).spawn(REPLICATES):
        if r > qmc.Sobol.MAXDIM:
            yield rng.standard_normal((n, r))
        else:
            power = max(0, (n - 1).bit_length())
            points = qmc.Sobol(r, rng=rng).random_base2(power)[:n]
            yield ndtri(np.clip(points, 1e-16, 1 - 1e-16))
