"""The deferred engine: pathwise against Algorithm 1, and in law against the eager engine."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import all_models, as_reference, from_python, lift, observe, rows, start
from fastes.kernels.agents.interface import saved_arrays
from fastes.kernels.ensembles import cached_models, deferred
from fastes.kernels.streams import layout
from scipy import stats

import fastes

read = from_python(deferred.read)
slot_of = from_python(cached_models.slot_of)
TOLERANCE = 1e-8
SEED, RUN = 77, 5


@pytest.fixture(params=["counters", "log"])
def counted(request, monkeypatch):
    """Whether plays are counted for each model, or looked up in the log."""
    if request.param == "log":
        monkeypatch.setattr(cached_models, "_MOST_COUNTERS", 0)
    return request.param == "counters"


def drawn_sums(arms, since, t, counted):
    """The engine's contract: one normal for each distinct arm of [since, t).

    By first play in all if plays are counted, or if many steps have gone by for each arm ever
    played; else by first play since then.
    """
    recent, ever = arms[since:t], list(dict.fromkeys(arms[:t]))
    distinct = list(dict.fromkeys(recent))
    if counted or t - since >= 8 * len(ever):
        distinct.sort(key=ever.index)
    normals = reference.normal_vector(SEED, RUN, layout.PERTURBATION, t, len(distinct))
    return {a: np.sqrt(recent.count(a)) * n for a, n in zip(distinct, normals, strict=True)}


def bridged(arms, b, reads, factors, counted, rng):
    """Split what each read drew into initial models and one perturbation a step.

    A sum over n plays of one arm becomes n normals conditional on their sum. A first read,
    xi = U'n + sum over arms since the factor of sqrt(n_a) N_a b_a ~ N(0, P_t), becomes an
    initial model and perturbations conditional on it.
    """
    T, r = len(arms), b.shape[1]
    initial, W, last = {}, {}, {}
    for t, m in enumerate(reads):
        if m not in last:
            U, since = factors[t]
            recent = list(dict.fromkeys(arms[since:t]))
            normals = reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, t, r + len(recent))
            target = U.T @ normals[:r]
            for a, normal in zip(recent, normals[r:], strict=True):
                target = target + np.sqrt(arms[since:t].count(a)) * normal * b[a]
            W[m] = rng.normal(size=T)
            initial[m] = rng.normal(size=r)
            played = b[arms[:t]]
            missing = target - initial[m] - W[m][:t] @ played
            correction = np.linalg.solve(np.eye(r) + played.T @ played, missing)
            initial[m] = initial[m] + correction
            W[m][:t] += played @ correction
        else:
            for a, total in drawn_sums(arms, last[m], t, counted).items():
                steps = [s for s in range(last[m], t) if arms[s] == a]
                free = rng.normal(size=len(steps))
                W[m][steps] = free - free.mean() + total / len(steps)
        last[m] = t
    return initial, W


def check_pathwise(bandit, M, T, counted):
    problem, U, sigma, r = as_reference(bandit), lift(bandit), bandit.noise, bandit.rank
    run = start(bandit, fastes.EnsembleSampling(M), T, SEED, RUN)
    arms, models_read, factors = [], [], []
    reads = [reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M) for t in range(T)]
    for t in range(T):
        posterior = run.state.belief
        factors.append((np.triu(posterior.factor), t - int(posterior.since_refactor[0])))
        arms.append(run.step(t))
        models_read.append(run.state.z.copy())
    assert run.state.models.plays.shape[1] == (bandit.K if counted else 0)
    rng = np.random.default_rng(1)
    initial, W = bridged(arms, rows(bandit) / sigma, reads, factors, counted, rng)
    names = sorted(initial)
    place = {m: i for i, m in enumerate(names)}
    unit = max(np.sqrt(np.abs(problem.covariance).max()), np.abs(problem.mean).max())

    def scores_of(t, mean, covariance, models):
        model = models[place[reads[t]]]
        assert np.abs(problem.mean + U @ models_read[t] - model).max() <= TOLERANCE * unit
        return problem.actions @ model

    def arm_of(t, scores):
        slack = TOLERANCE * max(1e-300, np.abs(scores).max())
        assert scores[arms[t]] >= scores.max() - slack
        return arms[t]

    steps = reference.play(
        problem,
        T,
        theta=problem.mean + U @ reference.normal_vector(SEED, RUN, layout.THETA, 0, r),
        noise=lambda t: sigma * reference.normal(SEED, RUN, layout.NOISE, 0, t),
        arm_of=arm_of,
        scores_of=scores_of,
        models=[problem.mean + U @ initial[m] for m in names],
        perturbation=lambda t, i: sigma * W[names[i]][t],
    )
    mean = problem.mean + U @ run.state.belief.mu
    assert np.abs(mean - steps[-1].mean).max() <= TOLERANCE * unit


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize(("M", "T"), [(1, 1), (1, 60), (2, 60), (9, 60), (10**6, 60)])
def test_every_action_and_model_is_algorithm_1_s(name, M, T):
    bandit = BANDITS[name]
    check_pathwise(bandit, M, T, counted=bandit.K * M <= 2**20)


@pytest.mark.parametrize("name", ["one dimension", "full", "singular", "more than a tile"])
@pytest.mark.parametrize("M", [1, 3, 40])
def test_the_same_over_a_horizon_that_refactors(name, M, counted):
    check_pathwise(BANDITS[name], M, 330, counted)


@pytest.mark.parametrize("name", ["isotropic", "more than a tile"])
def test_the_same_when_every_array_must_grow(name):
    # More first reads than slots, and more distinct arms than places, at the start.
    check_pathwise(BANDITS[name], 10**9, 262, counted=False)


@pytest.mark.parametrize("M", [1, 2, 8, 32])
def test_regret_has_the_law_of_the_eager_engine_s(M):
    # Final regret of 4,000 runs each, on different seeds: two-sample KS test and z test of the
    # mean, level 1e-4 each.
    bandit = fastes.LinearBandit.random(K=20, d=4, prior_cov=4.0)
    runs = {
        engine: fastes.simulate(
            bandit, fastes.EnsembleSampling(M, engine), T=120, runs=4_000, seed=seed
        ).regret
        for seed, engine in enumerate(["deferred", "eager"])
    }
    first, second = runs["deferred"], runs["eager"]
    assert stats.ks_2samp(first.final, second.final).pvalue > 1e-4
    error = np.hypot(first.se[-1], second.se[-1])
    assert abs(first.mean[-1] - second.mean[-1]) < 3.9 * error


ARMS = [0, 1, 1, 2, 0, 1, 3, 3, 1, 4, 0, 2]


def shown(bandit, agent, seed, until):
    run = start(bandit, agent, len(ARMS), seed)
    teach(run, 0, until)
    return run


def teach(run, first, last):
    for t in range(first, last):
        observe(run.state, run.bandit.canonical.arms, run.source, t, ARMS[t], 0.3 * t)


def test_two_reads_of_a_model_have_their_joint_law():
    # Fixed actions; a model is read after 5 and after 12 plays. Then xi_5 ~ N(0, P_5) and
    # xi_12 - xi_5 ~ N(0, P_12 - P_5) are independent. 6,000 seeds; each entry of the whitened
    # 6 x 6 second moment by a z test, level 1e-5 each.
    rng = np.random.default_rng(0)
    bandit = fastes.LinearBandit(rng.normal(size=(5, 3)))
    b = rows(bandit)
    n, agent = 6_000, fastes.EnsembleSampling(7)
    both = np.empty((n, 6))
    for seed in range(n):
        run = shown(bandit, agent, seed, 5)
        early = run.state.models.xi[read(run.state, run.source, 3, 4)].copy()
        teach(run, 5, 12)
        late = run.state.models.xi[read(run.state, run.source, 9, 4)]
        both[seed] = np.concatenate([early, late - early])
    P5 = np.eye(3) + b[ARMS[:5]].T @ b[ARMS[:5]]
    gap = b[ARMS[5:]].T @ b[ARMS[5:]]
    for part, covariance in ((slice(0, 3), P5), (slice(3, 6), gap)):
        both[:, part] = np.linalg.solve(np.linalg.cholesky(covariance), both[:, part].T).T
    second = both.T @ both / n
    assert (np.abs(second - np.eye(6)) < 4.4 * np.sqrt((1 + np.eye(6)) / n)).all()
    assert stats.kstest((both**2).sum(axis=1), "chi2", args=(6,)).pvalue > 1e-4


@pytest.mark.parametrize("engine", ["deferred", "eager"])
def test_the_whole_ensemble_has_the_law_of_the_posterior(engine):
    # 20,000 models, some read before: whitened xi are iid N(0, I). Level 1e-4 each.
    M = 20_000
    rng = np.random.default_rng(3)
    bandit = fastes.LinearBandit(rng.normal(size=(5, 3)))
    run = shown(bandit, fastes.EnsembleSampling(M, engine), 1, 6)
    if engine == "deferred":
        for t in range(200):
            read(run.state, run.source, t, 3 * t)
    teach(run, 6, 12)
    xi = all_models(run.state, run.source, 1)
    assert xi.shape == (M, 3)
    P = np.eye(3) + rows(bandit)[ARMS].T @ rows(bandit)[ARMS]
    whitened = np.linalg.solve(np.linalg.cholesky(P), xi.T).T
    assert stats.kstest((whitened**2).sum(axis=1), "chi2", args=(3,)).pvalue > 1e-4
    assert (np.abs(whitened.T @ whitened / M - np.eye(3)) < 3.9 * np.sqrt(2 / M)).all()


def test_models_that_were_just_read_are_looked_at_as_they_are():
    bandit = BANDITS["full"]
    run = start(bandit, fastes.EnsembleSampling(50), 40, 1)
    run.advance(0, 40)
    slots = [read(run.state, run.source, 40 + m, m) for m in range(50)]
    assert (all_models(run.state, run.source, 0) == run.state.models.xi[slots]).all()


@pytest.mark.parametrize("engine", ["deferred", "eager"])
@pytest.mark.parametrize("M", [3, 500])
def test_looking_at_the_ensemble_changes_no_action(engine, M):
    bandit, agent = BANDITS["full"], fastes.EnsembleSampling(M, engine)
    plain, watched = (start(bandit, agent, 200, 9) for _ in range(2))
    for t in range(200):
        if t % 13 == 0:
            all_models(watched.state, watched.source, t)
        assert plain.step(t) == watched.step(t)


def test_memory_is_bounded_by_the_horizon_not_by_M():
    bandit = BANDITS["isotropic"]
    run = start(bandit, fastes.EnsembleSampling(2**32 - 1), 3_000, 2)
    run.advance(0, 3_000)
    models = run.state.models
    assert models.used[0] <= 3_000 <= len(models.model) <= 8_192
    assert all(slot_of(models, int(m)) == i for i, m in enumerate(models.model[: models.used[0]]))


def test_two_looks_differ_only_in_what_was_not_read():
    bandit = BANDITS["full"]
    run = start(bandit, fastes.EnsembleSampling(20), 30, 1)
    run.advance(0, 30)
    first, second = (all_models(run.state, run.source, mark) for mark in (1, 2))
    again = all_models(run.state, run.source, 1)
    assert (first == again).all()
    assert (first != second).any()


def test_a_model_that_was_read_before_is_probed_with_what_it_has_missed_since():
    # The contract of a probe, exactly: what a model was when it was last read and one normal of
    # the diagnostics stream for each arm played since; for a model that was never read, a draw.
    rng = np.random.default_rng(6)
    bandit = fastes.LinearBandit(rng.normal(size=(5, 3)))
    b, probe = rows(bandit), 9
    run = shown(bandit, fastes.EnsembleSampling(4), SEED, 5)
    slots = [read(run.state, run.source, t, t) for t in range(3)]
    early = run.state.models.xi[slots].copy()
    teach(run, 5, 12)
    for m, xi in enumerate(all_models(run.state, run.source, probe)):
        counter = (probe << 32) + m
        expected, missed = (early[m], ARMS[5:]) if m < 3 else (np.zeros(3), ARMS)
        distinct = [a for a in dict.fromkeys(ARMS) if a in missed]  # by first play in all
        fresh = 0 if m < 3 else 3
        normals = reference.normal_vector(
            SEED, 0, layout.DIAGNOSTICS, counter, fresh + len(distinct)
        )
        if fresh:
            expected = normals[:fresh]
        for a, normal in zip(distinct, normals[fresh:], strict=True):
            expected = expected + np.sqrt(missed.count(a)) * normal * b[a]
        np.testing.assert_allclose(xi, expected, rtol=1e-12, atol=1e-12)


def test_a_restored_ensemble_counts_the_plays_that_its_models_have_taken_in():
    bandit, agent = BANDITS["more than a tile"], fastes.EnsembleSampling(30)
    run = start(bandit, agent, 200, 4)
    run.advance(0, 200)
    arms, parts = bandit.canonical.arms, saved_arrays(run.state)
    again = agent.restored_state(parts, arms, bandit.rank)
    used = int(run.state.models.used[0])
    for name in ("slot_of_arm", "rows", "plays", "size"):
        before, after = getattr(run.state.log, name), getattr(again.log, name)
        n = min(len(before), len(after))
        assert (after[:n] == before[:n]).all(), name
    for name in ("model", "xi", "read_at", "plays"):
        before, after = getattr(run.state.models, name), getattr(again.models, name)
        assert (after[:used] == before[:used]).all(), name
    by_model = parts["taken_in"].reshape(used, -1)
    assert (by_model.sum(axis=1) == run.state.models.read_at[:used]).all()
