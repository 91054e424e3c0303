"""A run of an agent on any action set, step by step, beside the slow truth.

The reference draws its own numbers from the seed, in pure Python, and follows the paper's
equations in user coordinates. All it is given is U, the change of coordinates.
"""

import numpy as np
import pytest
import reference
from engine import lift
from every_agent import is_quick
from fastes.kernels.beliefs.interface import covariance_of
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.record import record
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source

import fastes
from fastes.actions import Fresh, Redrawn, Subset
from fastes.problem.world import World
from fastes.simulation.experiment import Experiment
from fastes.simulation.stages import offers_of_run

SEED, RUN, TOLERANCE = 2022, 3, 1e-8


def offered(actions, t):
    """Return the arms on offer at step t, by the reference."""
    if isinstance(actions, np.ndarray):
        return actions
    if isinstance(actions, (Fresh, Redrawn)):
        step = t if isinstance(actions, Fresh) else 0
        sizes = actions.K, actions.d, actions.arms
        return reference.drawn_arms(SEED, RUN, int(layout.OFFERS), step, *sizes)
    if isinstance(actions, Subset):
        n = len(actions.pool)
        chosen = reference.drawn_subset(SEED, RUN, int(layout.OFFERS), t, n, actions.size)
        return actions.pool[chosen]
    return np.asarray(actions.array[t % len(actions.array)], float)


def true_theta(problem, U, truth):
    """Return theta, by the reference: of the belief, or of a truth with a mean or variances."""
    d, r = U.shape
    if truth is None or (truth.prior_mean is None and truth.prior_cov is None):
        return problem.mean + U @ reference.normal_vector(SEED, RUN, int(layout.THETA), 0, r)
    mean = problem.mean if truth.prior_mean is None else truth.prior_mean
    root = U if truth.prior_cov is None else np.sqrt(np.diag(np.broadcast_to(truth.prior_cov, d)))
    root = root[:, root.any(axis=0)]  # a normal for each coordinate with a variance
    normals = reference.normal_vector(SEED, RUN, int(layout.THETA), 0, root.shape[1])
    return mean + root @ normals


def value_of(drift):
    """Return what the reference's `drifting` takes as value."""
    if drift.kind == "piecewise":
        return dict(zip(drift.steps, drift.thetas, strict=True))
    return getattr(drift, {"abrupt": "steps", "ar": "rho", "rotating": "angle"}[drift.kind])


def thetas(mean, root, drift, T, seed=SEED, run=RUN, first=None):
    """Return theta of every step, by the reference, with the prior N(mean, root root')."""

    def draw(t):
        return root @ reference.normal_vector(seed, run, int(layout.THETA), t, root.shape[1])

    first = mean + draw(0) if first is None else first
    return reference.drifting(drift.kind, value_of(drift), T, first, mean, draw)


def noise_of(truth, sigma):
    """Return the law of the noise and its standard deviation."""
    if truth is None:
        return "normal", sigma
    return truth.noise_law, sigma if truth.noise is None else truth.noise


class Played:
    """One run of an agent on an action set, step by step."""

    def __init__(self, bandit, agent, T, **world):
        self.experiment = Experiment(bandit, [agent], T, RUN + 1, SEED, world=World(**world))
        self.actions, self.environment, self.work = offers_of_run(
            self.experiment, agent, RUN, "scan"
        )
        self.source = source(SEED, RUN)
        lasting = self.actions.arms.K if bandit.action_set.arms_repeat else None
        self.state = agent.initial_state(lasting, bandit.rank, self.source, T)
        self.record = record(
            np.arange(1, T + 1),
            np.zeros(T),
            np.zeros(0, np.int64),
            np.zeros(T, np.uint32),
            np.zeros(T),
        )
        self.bandit = bandit

    def step(self, t):
        """Do step t. Return the row that was played, in the user's coordinates times F / sigma."""
        reached = advance(
            *(self.state, self.actions, self.environment, self.record, self.source, self.work),
            *(t, t + 1),
        )
        assert reached == t + 1
        return int(self.record.arms[t])

    @property
    def lift(self):
        """U (d x r) with theta = mu0 + U z."""
        if self.bandit.action_set.fixed:
            return lift(self.bandit)
        w = self.bandit.canonical.whitening()
        if len(w.matrix):
            return self.bandit.noise * w.matrix
        U = np.zeros((self.bandit.d, self.bandit.rank))
        U[w.kept, np.arange(self.bandit.rank)] = self.bandit.noise * w.scale
        return U


def greedy_scores(played, rows, t, mean, covariance, models):
    return rows @ mean


def linucb_scores(played, rows, t, mean, covariance, models):
    """Scores of LinUCB with alpha 1.5."""
    spread = np.sqrt(np.maximum(0, np.einsum("ij,jk,ik->i", rows, covariance, rows)))
    return rows @ mean + 1.5 * spread


def thompson_scores(played, rows, t, mean, covariance, models):
    normals = reference.normal_vector(
        SEED, RUN, int(layout.POSTERIOR_SAMPLE), t, played.bandit.rank
    )
    root = played.state.belief.root  # X with S = X'X
    return rows @ (mean + played.lift @ (root.T @ normals))


def ensemble_scores(played, rows, t, mean, covariance, models):
    return rows @ models[reference.integer(SEED, RUN, int(layout.MODEL_INDEX), t, len(models))]


AGENTS = (
    (fastes.Greedy(), greedy_scores),
    (fastes.LinUCB(1.5), linucb_scores),
    (fastes.ThompsonSampling(), thompson_scores),
    (fastes.EnsembleSampling(1, engine="eager"), ensemble_scores),
    (fastes.EnsembleSampling(5, engine="eager"), ensemble_scores),
)
"""Agents, and how the reference scores the arms for each."""


def agents_on(sets):
    """Return parameters (name of a set, agent, scores_of); some pairs are slow to compile."""
    return [
        pytest.param(
            *(name, agent, scores_of),
            marks=[] if is_quick(name, agent) else pytest.mark.slow,
            id=f"{name}-{agent}",
        )
        for name in sets
        for agent, scores_of in AGENTS
    ]


def normal_perturbation(t, m):
    """Return W of model m at step t."""
    return reference.normal(SEED, RUN, int(layout.PERTURBATION), m, t)


def compare(bandit, agent, T, scores_of, perturbation=normal_perturbation, truth=None, delay=0):
    """Play both, and compare every offer, action, belief and regret. Return the run and the steps.

    `scores_of(played, rows, t, mean, covariance, models)` is the reference's view of the arms on
    offer; `perturbation(t, m)` is W, in units of the noise.
    """
    played = Played(bandit, agent, T, truth=truth, delay=delay)
    problem = reference.Problem.of(
        np.zeros((1, bandit.d)), bandit.prior_mean, bandit.prior_cov, bandit.noise
    )
    U, sigma, r, given = played.lift, bandit.noise, bandit.rank, bandit.actions
    theta = np.tile(true_theta(problem, U, truth), (T, 1))
    if truth is not None and truth.drift is not None:
        theta = thetas(problem.mean, U, truth.drift, T)
    law, spread = noise_of(truth, sigma)
    regret, beliefs = [], []

    def arm_of(t, scores):
        posterior = played.state.belief
        beliefs.append((posterior.mu.copy(), covariance_of(posterior).copy()))
        rows = offered(given, t)
        arm = played.step(t)
        if isinstance(given, Subset):
            arm = reference.drawn_subset(
                SEED, RUN, int(layout.OFFERS), t, len(given.pool), given.size
            ).index(arm)
        if bandit.action_set is not None:
            tiles = played.actions.arms.tiles.transpose(0, 2, 1).reshape(-1, r)[: len(rows)]
            atol = 1e-12 * max(1, np.abs(U).max())
            np.testing.assert_allclose(tiles, rows @ U / sigma, atol=atol)
        # The best, or tied with it to rounding.
        assert scores[arm] >= scores.max() - TOLERANCE * max(1e-300, np.abs(scores).max())
        values = rows @ theta[t]
        regret.append(values.max() - values[arm])
        return arm

    steps = reference.play(
        problem,
        T,
        theta,
        noise=lambda t: spread * reference.noise(SEED, RUN, int(layout.NOISE), t, law),
        arm_of=arm_of,
        scores_of=lambda t, mean, covariance, models: scores_of(
            played, offered(given, t), t, mean, covariance, models
        ),
        models=[
            problem.mean + U @ reference.normal_vector(SEED, RUN, int(layout.INITIAL_MODELS), m, r)
            for m in range(getattr(agent, "M", 0))
        ],
        perturbation=lambda t, m: sigma * perturbation(t, m),
        offer=lambda t: offered(given, t),
        delay=delay,
    )
    beliefs.append((played.state.belief.mu, covariance_of(played.state.belief)))
    unit = np.sqrt(np.abs(problem.covariance).max()) or 1.0
    size = max(unit, np.abs(problem.mean).max())
    for (mu, S), step in zip(beliefs, steps, strict=True):
        assert np.abs(problem.mean + U @ mu - step.mean).max() <= TOLERANCE * size
        learned = U @ (S - np.eye(r)) @ U.T
        assert np.abs(problem.covariance + learned - step.covariance).max() <= TOLERANCE * unit**2
    expected = np.cumsum(regret)
    np.testing.assert_allclose(
        sigma * played.record.regret, expected, rtol=1e-10, atol=1e-9 * max(1e-300, expected[-1])
    )
    return played, steps
