"""Relatives of ensemble and Thompson sampling, step by step beside the slow truth."""

import functools
import statistics

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import as_reference, lift, start
from fastes.kernels.streams import layout
from played import RUN, SEED, TOLERANCE, compare

import fastes

FEW = [
    "smallest",
    "one arm",
    "isotropic",
    "diagonal with zeros",
    "full",
    "singular",
    "fewer arms than dimensions",
    "duplicate arms",
    "only zero arms",
    "huge scale",
    "hardly any noise",
    "more than a tile",
]


@pytest.fixture(params=FEW, ids=lambda name: name.replace(" ", "-"))
def bandit(request):
    return BANDITS[request.param]


def read(t, M, symmetric):
    """Return the model that step t reads, and its sign."""
    choice = reference.integer(SEED, RUN, layout.MODEL_INDEX, t, 2 * M if symmetric else M)
    return (choice, 1.0) if choice < M else (choice - M, -1.0)


def sign(t, m):
    return reference.sign(SEED, RUN, layout.PERTURBATION, m, t)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("inflation", [1.0, 0.0, 2.5])
@pytest.mark.parametrize(("M", "T"), [(1, 1), (3, 140)])
def test_eager_ensembles_with_signs_reflections_and_inflation(bandit, M, T, symmetric, inflation):
    def scores_of(run, rows, t, mean, covariance, models):
        m, s = read(t, M, symmetric)
        return rows @ (mean + s * inflation * (models[m] - mean))

    given = {"perturbations": "signs", "symmetric": symmetric, "inflation": inflation}
    agent = fastes.EnsembleSampling(M, engine="eager", **given)
    compare(bandit, agent, T, scores_of, perturbation=sign)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("M", "T"), [(1, 1), (1, 200), (4, 150), (90, 60)])
def test_deferred_signs_are_summed_by_arm(bandit, M, T, symmetric):
    """A read takes in sums of signs, one for each arm it missed, in the order of first plays."""
    problem, U, r = as_reference(bandit), lift(bandit), bandit.rank
    xi, taken, order, counts = {}, {}, [], {}

    def catch_up(t, m):
        new = m not in xi
        stream = layout.INITIAL_MODELS if new else layout.PERTURBATION
        if new:
            xi[m] = reference.normal_vector(SEED, RUN, stream, t, r)
            taken[m] = {}
        missed = {a: counts[a] - taken[m].get(a, 0) for a in order}
        missed = {a: n for a, n in missed.items() if n}
        lane = r if new else 0
        sums = reference.sign_sums(SEED, RUN, stream, t, lane, list(missed.values()))
        for a, total in zip(missed, sums, strict=True):
            xi[m] = xi[m] + total * (U.T @ problem.actions[a] / bandit.noise)
        taken[m] = dict(counts)

    played = []

    def scores_of(run, rows, t, mean, covariance, models):
        arms = np.flatnonzero(run_counts(run.state))
        for a in arms:
            if a not in counts:
                order.append(a)
        counts.update({a: int(run_counts(run.state)[a]) for a in arms})
        m, s = read(t, M, symmetric)
        catch_up(t, m)
        played.append(m)
        deviation = U @ run.state.belief.S @ xi[m]
        return rows @ (mean + s * deviation)

    def run_counts(state):
        slots = state.log.slot_of_arm
        return np.where(slots >= 0, state.log.plays[np.maximum(slots, 0)], 0)

    compare(bandit, fastes.EnsembleSampling(M, "deferred", "signs", symmetric), T, scores_of)
    assert len(played) == T


@pytest.mark.parametrize("inflation", [0.0, 0.3, 2.0])
def test_inflated_thompson_sampling(bandit, inflation):
    U = lift(bandit)

    def scores_of(run, rows, t, mean, covariance, models):
        normals = reference.normal_vector(SEED, RUN, layout.POSTERIOR_SAMPLE, t, bandit.rank)
        return rows @ (mean + inflation * U @ (run.state.belief.root.T @ normals))

    compare(bandit, fastes.ThompsonSampling(inflation), 60, scores_of)


@pytest.mark.parametrize("reference_law", ["normal", "sphere", "signs", "coordinates"])
@pytest.mark.parametrize("perturbations", ["normal", "sphere", "signs"])
@pytest.mark.parametrize("M", [1, 5, 131])
def test_ensemble_plus_plus(reference_law, perturbations, M):
    """Its models are those of ensemble sampling, with perturbations that are drawn together."""
    bandits = {1: "smallest", 5: "full", 131: "isotropic"}
    bandit, T = BANDITS[bandits[M]], {1: 1, 5: 60, 131: 12}[M]

    @functools.cache
    def drawn_together(t):
        return reference.weights(perturbations, SEED, RUN, layout.PERTURBATION, t, M)

    def perturbation(t, m):
        return drawn_together(t)[m]

    def scores_of(run, rows, t, mean, covariance, models):
        zeta = reference.weights(reference_law, SEED, RUN, layout.REFERENCE, t, M)
        deviation = sum(w * (model - mean) for w, model in zip(zeta, models, strict=True))
        return rows @ (mean + deviation / np.sqrt(M))

    agent = fastes.EnsemblePlusPlus(M, reference_law, perturbations)
    compare(bandit, agent, T, scores_of, perturbation=perturbation)


def test_ensemble_plus_plus_on_hostile_problems(bandit):
    M = 3

    def perturbation(t, m):
        return reference.weights("sphere", SEED, RUN, layout.PERTURBATION, t, M)[m]

    def scores_of(run, rows, t, mean, covariance, models):
        zeta = reference.weights("sphere", SEED, RUN, layout.REFERENCE, t, M)
        deviation = sum(w * (model - mean) for w, model in zip(zeta, models, strict=True))
        return rows @ (mean + deviation / np.sqrt(M))

    compare(bandit, fastes.EnsemblePlusPlus(M), 40, scores_of, perturbation)


@pytest.mark.parametrize("inflation", [0.0, 1.7])
def test_inflated_ensemble_plus_plus(inflation):
    M, bandit = 4, BANDITS["full"]

    def perturbation(t, m):
        return reference.weights("sphere", SEED, RUN, layout.PERTURBATION, t, M)[m]

    def scores_of(run, rows, t, mean, covariance, models):
        zeta = reference.weights("normal", SEED, RUN, layout.REFERENCE, t, M)
        deviation = sum(w * (model - mean) for w, model in zip(zeta, models, strict=True))
        return rows @ (mean + inflation * deviation / np.sqrt(M))

    agent = fastes.EnsemblePlusPlus(M, "normal", inflation=inflation)
    compare(bandit, agent, 40, scores_of, perturbation)


@pytest.mark.parametrize("scale", [0.0, 1.0, 2.0])
def test_perturbed_history(bandit, scale):
    """Before the posterior is first computed afresh: a normal for each arm, by its first play."""
    r, sigma = bandit.rank, bandit.noise

    def scores_of(run, rows, t, mean, covariance, models):
        posterior, total = run.state.belief, np.zeros(bandit.d)
        n = posterior.since_refactor[1]
        normals = reference.normal_vector(SEED, RUN, layout.PERTURBATION, t, r + n)[r:]
        for i in range(n):
            arm = rows[posterior.recent_key[i]]
            total += scale * np.sqrt(posterior.recent_plays[i]) * normals[i] * arm
        return rows @ (mean + covariance @ total / sigma)

    compare(bandit, fastes.PerturbedHistory(scale), 60, scores_of)


def test_bayes_ucb(bandit):
    def scores_of(run, rows, t, mean, covariance, models):
        quantile = statistics.NormalDist().inv_cdf(1 - 1 / (t + 2))
        variances = [max(0.0, a @ covariance @ a) for a in rows]
        return rows @ mean + quantile * np.sqrt(variances)

    compare(bandit, fastes.BayesUCB(), 25, scores_of)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_epsilon_greedy(bandit, epsilon):
    T = 50
    problem, run = as_reference(bandit), start(bandit, fastes.EpsilonGreedy(epsilon), T, SEED, RUN)
    explored = 0
    for t in range(T):
        values = problem.actions @ (problem.mean + lift(bandit) @ run.state.belief.mu)
        arm = run.step(t)
        if reference.uniform(SEED, RUN, layout.EXPLORATION, t) < epsilon:
            assert arm == reference.integer(SEED, RUN, layout.TIES, t, bandit.K)
            explored += 1
        else:
            assert values[arm] >= values.max() - TOLERANCE * max(1e-300, np.abs(values).max())
    assert explored == T or epsilon < 1
    assert explored == 0 or epsilon > 0


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (functools.partial(fastes.EnsembleSampling, 3), "inflation"),
        (fastes.ThompsonSampling, "inflation"),
        (functools.partial(fastes.EnsemblePlusPlus, 3), "inflation"),
        (fastes.PerturbedHistory, "scale"),
    ],
)
def test_deviations_are_multiplied_by_what_leaves_a_mean_to_deviate_from(kind, name):
    """Far larger ones overflowed where squares are taken, and were blamed on the arms."""
    ball = fastes.LinearBandit(fastes.actions.Ball(3))
    for bandit in (ball, fastes.LinearBandit.random(K=6, d=3)):
        assert np.isfinite(fastes.simulate(bandit, kind(**{name: 1e9}), T=20).regret.mean).all()
    for wrong in (1e300, 1.1e9, -1, float("inf"), float("nan"), "2", None, True):
        with pytest.raises(ValueError, match=rf"{name} must be a number from 0 to 1e.09, got"):
            kind(**{name: wrong})
    probed = fastes.simulate(bandit, kind(**{name: 1e9}), T=5, diagnostics=[4], samples=64)
    assert np.isfinite(probed.diagnostics.mean("hellinger_squared").value).all()


def test_a_flag_may_be_numpys():
    assert fastes.EnsembleSampling(3, symmetric=np.True_).symmetric is True
    for wrong in (1, "yes", None, np.array([True])):
        with pytest.raises(ValueError, match="symmetric must be True or False, got"):
            fastes.EnsembleSampling(3, symmetric=wrong)
