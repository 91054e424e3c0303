"""The probabilities of a live agent's next arm, exact or estimated."""

from typing import Any, NamedTuple

import numpy as np

from fastes.agents.agent import Agent
from fastes.agents.best_arms import BLOCK, BestArmCounts, draws_of, read_models
from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.information_directed import InformationDirectedSampling
from fastes.agents.own_compiled import require_action_law
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.checks.memory import require
from fastes.kernels.actions.arms import Arms, empty_arms, store_rows
from fastes.kernels.beliefs.interface import normal_law
from fastes.kernels.ensembles.eager import EagerEnsemble
from fastes.kernels.streams.philox import Source

_DRAWS = 8192  # of models
_REPLICATES = 64, 8  # at most, of an ensemble; at least, for an error from their spread
_PROBES = 32  # of information-directed sampling, whose law is random itself


@documented
class ArmProbabilities(NamedTuple):
    """The probability of each arm to be chosen next, given the agent's state.

    Attributes
    ----------
    probability : (n,) array
        Of each arm in its order: that of the problem, of `actions` or of `available`.
    standard_error : (n,) array
        Of each probability; 0 where they are exact, else at least 1 / draws.
    draws : int or None
        Number of draws of which the probabilities are frequencies; None if they are exact.
    """

    probability: Floats
    standard_error: Floats
    draws: int | None = None


@documented
class Chosen(NamedTuple):
    """An arm, and the probability with which it was chosen: what to log.

    Attributes
    ----------
    arm : int
        The arm, as `act` returns it.
    probability : float
        Of this arm, given the agent's state. Estimated by n draws it is (n p + 1) / (n + 1) for a
        frequency p: it is never 0, and its inverse is 1 / probability on average, but for a
        relative error of (1 - probability)^(n + 1).
    standard_error : float
        Of the probability; 0 if it is exact.
    draws : int or None
        Number of draws n, or None if the probability is exact.
    """

    arm: int
    probability: float
    standard_error: float
    draws: int | None = None


def chosen_with(law: ArmProbabilities, arm: int, position: int) -> Chosen:
    """Return an arm with its probability, at a position of a law."""
    p, se = float(law.probability[position]), float(law.standard_error[position])
    if law.draws is not None:
        p = (law.draws * p + 1.0) / (law.draws + 1.0)
    return Chosen(arm, p, se, law.draws)


def law_on(agent: Agent, state: Any, arms: Arms, source: Source, t: int) -> ArmProbabilities:
    """Return the law of the arm at step t; neither the state nor later choices change."""
    require_action_law(agent)
    if isinstance(agent, EnsembleSampling):
        return _of_ensemble(agent, state, arms, source, t)
    if isinstance(agent, InformationDirectedSampling):
        laws = [agent.action_law(state, arms, source, t + i) for i in range(_PROBES)]
        return _of_replicates(np.array([each.probabilities for each in laws]), _PROBES)
    law = agent.action_law(state, arms, source, t)
    if law.probabilities is None:  # that of the best arm under the posterior
        best, normal = BestArmCounts(arms), normal_law(state.belief)
        z = draws_of(normal, source, t, _DRAWS)
        for first in range(0, _DRAWS, BLOCK):
            best.add(z[first : first + BLOCK])
        return _of_draws(best.counts / _DRAWS, _DRAWS)
    if law.draws is not None:
        return _of_draws(law.probabilities, law.draws)
    return ArmProbabilities(law.probabilities, np.zeros(arms.K))


def _of_ensemble(
    agent: EnsembleSampling, state: Any, arms: Arms, source: Source, t: int
) -> ArmProbabilities:
    """Return how often each arm is the best of a model.

    Deferred models are random given the state: what they missed is drawn, several times for a
    small ensemble. Of a large one, the first models stand for all.
    """
    n = min(agent.M, _DRAWS)
    known = isinstance(state, EagerEnsemble)
    replicates = 1 if known else max(1, min(_REPLICATES[0], _DRAWS // n))
    signs = (1.0, -1.0) if agent.symmetric else (1.0,)
    frequencies = np.empty((replicates, arms.K))
    for i in range(replicates):
        best = BestArmCounts(arms)
        for first in range(0, n, BLOCK):
            xi = agent.models(state, source, t + i, first, min(n, first + BLOCK))
            for sign in signs:
                best.add(read_models(state.belief, sign * xi))
        frequencies[i] = best.counts / (len(signs) * n)
    if known and n == agent.M:
        return ArmProbabilities(frequencies[0], np.zeros(arms.K))
    if replicates < _REPLICATES[1]:
        return _of_draws(frequencies.mean(axis=0), replicates * n)
    return _of_replicates(frequencies, replicates * n)


def _of_draws(p: Floats, n: int) -> ArmProbabilities:
    return ArmProbabilities(p, np.maximum(np.sqrt(p * (1.0 - p) / n), 1.0 / n), n)


def _of_replicates(each: Floats, n: int) -> ArmProbabilities:
    """Return the mean of independent estimates, of n draws in all."""
    se = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    return ArmProbabilities(each.mean(axis=0), np.maximum(se, 1.0 / n), n)


def known_again(arms: Arms) -> Arms:
    """Return arms that were offered as those of a fixed set, with copies for screening."""
    r = arms.tiles.shape[1]
    require(f"{arms.K:,} arms on offer", empty_arms.nbytes(arms.K, r))
    whole = empty_arms(arms.K, r)
    rows = np.ascontiguousarray(arms.tiles.transpose(0, 2, 1).reshape(-1, r)[: arms.K])
    store_rows(whole, 0, rows, arms.offsets.reshape(-1)[: arms.K].copy())
    return whole
