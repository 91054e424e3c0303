"""Same random numbers in, same actions and beliefs out, for every agent on every bandit.

The reference draws its own numbers from the seed, in pure Python, and follows the paper's
equations in user coordinates. All it is given is U, the change of coordinates.
"""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import all_models, as_reference, lift, start
from fastes.kernels.posterior.state import covariance as covariance_of
from fastes.kernels.streams import layout

import fastes

TOLERANCE = 1e-8
SEED, RUN = 2022, 3


@pytest.fixture(params=BANDITS, ids=lambda name: name.replace(" ", "-"))
def bandit(request):
    return BANDITS[request.param]


def compare(bandit, agent, T, scores_of, model_count=0):
    """Play both, and compare every action, belief and model. Return the reference's steps."""
    problem, U, sigma = as_reference(bandit), lift(bandit), bandit.noise
    r = bandit.rank
    run = start(bandit, agent, T, SEED, RUN)
    arms, beliefs = [], []

    def arm_of(t, scores):
        """Let the engine play. Its arm must be the best, or tied with it to rounding."""
        posterior = run.state.posterior
        beliefs.append((posterior.mu.copy(), covariance_of(posterior).copy()))
        arms.append(run.step(t))
        best = scores.max()
        assert scores[arms[-1]] >= best - TOLERANCE * max(1e-300, np.abs(scores).max())
        return arms[-1]

    steps = reference.play(
        problem,
        T,
        theta=problem.mean + U @ reference.normal_vector(SEED, RUN, layout.THETA, 0, r),
        noise=lambda t: sigma * reference.normal(SEED, RUN, layout.NOISE, 0, t),
        arm_of=arm_of,
        scores_of=lambda t, mean, covariance, models: scores_of(
            problem, run.state, t, mean, covariance, models
        ),
        models=[
            problem.mean + U @ reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, m, r)
            for m in range(model_count)
        ],
        perturbation=lambda t, m: sigma * reference.normal(SEED, RUN, layout.PERTURBATION, m, t),
    )
    beliefs.append((run.state.posterior.mu, covariance_of(run.state.posterior)))
    unit = np.sqrt(np.abs(problem.covariance).max()) or 1.0
    size = max(unit, np.abs(problem.mean).max())
    for (mu, S), step in zip(beliefs, steps, strict=True):
        assert np.abs(problem.mean + U @ mu - step.mean).max() <= TOLERANCE * size
        learned = U @ (S - np.eye(r)) @ U.T
        assert np.abs(problem.covariance + learned - step.covariance).max() <= TOLERANCE * unit**2
    theta = problem.mean + U @ reference.normal_vector(SEED, RUN, layout.THETA, 0, r)
    expected = reference.regret(problem, theta, arms)
    np.testing.assert_allclose(
        sigma * run.record.regret, expected, rtol=1e-10, atol=1e-9 * max(1e-300, expected[-1])
    )
    return run, steps


@pytest.mark.parametrize(("M", "T"), [(1, 1), (1, 30), (2, 100), (7, 40), (70, 25)])
def test_eager_ensemble_sampling(bandit, M, T):
    problem, U = as_reference(bandit), lift(bandit)
    unit = max(np.sqrt(np.abs(problem.covariance).max()), np.abs(problem.mean).max())

    def scores_of(problem, state, t, mean, covariance, models):
        return problem.actions @ models[reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M)]

    run, steps = compare(
        bandit, fastes.EnsembleSampling(M, engine="eager"), T, scores_of, model_count=M
    )
    xi = all_models(run.state, run.source, 0)
    posterior = run.state.posterior
    for m in range(M):
        model = problem.mean + U @ (posterior.mu + posterior.S @ xi[m])
        assert np.abs(model - steps[-1].models[m]).max() <= TOLERANCE * unit


@pytest.mark.parametrize("T", [1, 40])
def test_the_model_that_is_read_is_the_paper_s(bandit, T):
    M = 3
    problem, U = as_reference(bandit), lift(bandit)
    unit = max(np.sqrt(np.abs(problem.covariance).max()), np.abs(problem.mean).max())
    read = []

    def scores_of(problem, state, t, mean, covariance, models):
        if t:
            read[-1] = (read[-1], state.z.copy())
        read.append(models[reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M)])
        return problem.actions @ read[-1]

    run, _ = compare(
        bandit, fastes.EnsembleSampling(M, engine="eager"), T, scores_of, model_count=M
    )
    read[-1] = (read[-1], run.state.z)
    for model, z in read:
        assert np.abs(problem.mean + U @ z - model).max() <= TOLERANCE * unit


@pytest.mark.parametrize("T", [1, 60])
def test_thompson_sampling(bandit, T):
    U = lift(bandit)

    def scores_of(problem, state, t, mean, covariance, models):
        normals = reference.normal_vector(SEED, RUN, layout.POSTERIOR_SAMPLE, t, bandit.rank)
        return problem.actions @ (mean + U @ (state.posterior.root.T @ normals))

    compare(bandit, fastes.ThompsonSampling(), T, scores_of)


@pytest.mark.parametrize("T", [1, 60])
def test_greedy(bandit, T):
    def scores_of(problem, state, t, mean, covariance, models):
        return problem.actions @ mean

    compare(bandit, fastes.Greedy(), T, scores_of)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_linucb(bandit, alpha):
    def scores_of(problem, state, t, mean, covariance, models):
        variances = [max(0.0, a @ covariance @ a) for a in problem.actions]
        return problem.actions @ mean + alpha * np.sqrt(variances)

    compare(bandit, fastes.LinUCB(alpha), 40, scores_of)


def test_uniform_random(bandit):
    T = 50
    run = start(bandit, fastes.UniformRandom(), T, SEED, RUN)
    for t in range(T):
        assert run.step(t) == reference.integer(SEED, RUN, layout.TIES, t, bandit.K)


def test_ties_are_drawn_from_the_ties_stream():
    bandit = BANDITS["only zero arms"]
    run = start(bandit, fastes.Greedy(), 40, SEED, RUN)
    for t in range(40):
        assert run.step(t) == reference.integer(SEED, RUN, layout.TIES, t, 3)
