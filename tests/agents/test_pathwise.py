"""Same random numbers in, same actions and beliefs out, for every agent on every bandit."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import all_models, as_reference, lift, start
from fastes.kernels.streams import layout
from played import RUN, SEED, TOLERANCE, compare

import fastes


@pytest.fixture(params=BANDITS, ids=lambda name: name.replace(" ", "-"))
def bandit(request):
    return BANDITS[request.param]


@pytest.mark.parametrize(("M", "T"), [(1, 1), (1, 30), (2, 100), (7, 40), (70, 25)])
def test_eager_ensemble_sampling(bandit, M, T):
    problem, U = as_reference(bandit), lift(bandit)
    unit = max(np.sqrt(np.abs(problem.covariance).max()), np.abs(problem.mean).max())

    def scores_of(run, rows, t, mean, covariance, models):
        return rows @ models[reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M)]

    run, steps = compare(bandit, fastes.EnsembleSampling(M, engine="eager"), T, scores_of)
    xi = all_models(run.state, run.source, 0)
    posterior = run.state.belief
    for m in range(M):
        model = problem.mean + U @ (posterior.mu + posterior.S @ xi[m])
        assert np.abs(model - steps[-1].models[m]).max() <= TOLERANCE * unit


@pytest.mark.parametrize("T", [1, 40])
def test_the_model_that_is_read_is_the_paper_s(bandit, T):
    M = 3
    problem, U = as_reference(bandit), lift(bandit)
    unit = max(np.sqrt(np.abs(problem.covariance).max()), np.abs(problem.mean).max())
    read = []

    def scores_of(run, rows, t, mean, covariance, models):
        if t:
            read[-1] = (read[-1], run.state.z.copy())
        read.append(models[reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M)])
        return rows @ read[-1]

    run, _ = compare(bandit, fastes.EnsembleSampling(M, engine="eager"), T, scores_of)
    read[-1] = (read[-1], run.state.z)
    for model, z in read:
        assert np.abs(problem.mean + U @ z - model).max() <= TOLERANCE * unit


@pytest.mark.parametrize("T", [1, 60])
def test_thompson_sampling(bandit, T):
    U = lift(bandit)

    def scores_of(run, rows, t, mean, covariance, models):
        normals = reference.normal_vector(SEED, RUN, layout.POSTERIOR_SAMPLE, t, bandit.rank)
        return rows @ (mean + U @ (run.state.belief.root.T @ normals))

    compare(bandit, fastes.ThompsonSampling(), T, scores_of)


@pytest.mark.parametrize("T", [1, 60])
def test_greedy(bandit, T):
    def scores_of(run, rows, t, mean, covariance, models):
        return rows @ mean

    compare(bandit, fastes.Greedy(), T, scores_of)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_linucb(bandit, alpha):
    def scores_of(run, rows, t, mean, covariance, models):
        variances = [max(0.0, a @ covariance @ a) for a in rows]
        return rows @ mean + alpha * np.sqrt(variances)

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
