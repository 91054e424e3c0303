"""The law of the optimal action by quasi-Monte Carlo."""

from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.results.constants import Estimate
from fastes.theory.exact_laws import Law
from fastes.theory.measures import entropy

REPLICATES = 16
_BLOCK = 1 << 22  # values held at a time


def shared_entropy(p: Floats, copies: Any) -> float:
    """Return the entropy when each probability is shared by its copies."""
    return float(entropy(p)) + float(p @ np.log(copies))


def sampled_law(m: Floats, c: Floats, copies: Any, samples: int, seed: int) -> tuple[Law, Estimate]:
    """Return the law for arms that differ, of which there may be copies, and its entropy."""
    counts, values = np.zeros((REPLICATES, len(m))), np.zeros(len(m))
    n = -(-samples // REPLICATES)
    for replicate, (best, largest) in enumerate(best_of_draws(m, c, n, seed)):
        counts[replicate] = np.bincount(best, minlength=len(m))
        values += np.bincount(best, largest, minlength=len(m))
    total = counts.sum(axis=0)
    draws = total.sum()
    se = counts.std(axis=0, ddof=1) * np.sqrt(REPLICATES) / draws
    p = total / draws
    # What was never seen, or seen equally often in every replicate, is not known exactly.
    se = np.maximum(se, np.where(total > 0, np.sqrt(p) / draws, 1.0 / draws))
    # The jackknife takes off the bias of the plug-in estimate, which is too small.
    whole = shared_entropy(p, copies)
    left_out = [shared_entropy((total - k) / (draws - k.sum()), copies) for k in counts]
    value = REPLICATES * whole - (REPLICATES - 1) * float(np.mean(left_out))
    spread = np.sqrt((REPLICATES - 1) * np.var(left_out))
    return Law(p, values / draws, se, "quasi-Monte Carlo"), Estimate(value, float(spread))


def best_of_draws(m: Floats, c: Floats, n: int, seed: int) -> Any:
    """Yield, for independent replicates, the argmax and max of m + c x for n draws x ~ N(0, I)."""
    for x in normal_draws(c.shape[1], n, seed):
        rows = max(1, _BLOCK // len(m))
        require(f"values of {len(m):,} arms", 2 * 8 * rows * len(m))
        best, largest = np.empty(n, np.int64), np.empty(n)
        for first in range(0, n, rows):
            part = slice(first, first + rows)
            scores = m + x[part] @ c.T
            best[part], largest[part] = scores.argmax(axis=1), scores.max(axis=1)
        yield best, largest


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
