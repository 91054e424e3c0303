"""Agents with a discount, beside the slow truth: their beliefs, and models pathwise."""

import numpy as np
import pytest
import reference
from engine import all_models, from_python, observe, prepare
from fastes.kernels.beliefs.interface import covariance_of, memory_of
from fastes.kernels.ensembles import cached_models, eager, row_log, weight_log
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source
from scipy import stats

import fastes

SEED, RUN = 11, 4
DISCOUNTS = [1e-9, 1e-3, 0.6, 0.9, 0.99, 1 - 1e-12]


def problem(K, d, seed=0, decades=0.0):
    rng = np.random.default_rng(seed)
    lengths = 10.0 ** rng.uniform(-decades / 2, decades / 2, (K, 1))
    return fastes.LinearBandit(rng.normal(size=(K, d)) * lengths)


def played(bandit, T, seed=1):
    """Return arms and rewards of a fixed history; some arms are played for a while only."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(0, bandit.K, T)
    arms[T // 3 :] = arms[T // 3 :] // 2
    return arms, rng.normal(size=T)


def follow(bandit, agent, arms, rewards, each=lambda t, state: None):
    """Show an agent a history, with a choice before each reward."""
    origin, tiles = source(SEED, RUN), bandit.canonical.arms
    state = agent.initial_state(bandit.K, bandit.rank, origin, len(arms))
    for t, (arm, y) in enumerate(zip(arms, rewards, strict=True)):
        prepare(state, origin, t)
        each(t, state)
        assert observe(state, tiles, origin, t, arm, y)
    return state, origin


AGENTS = {
    "ts": fastes.ThompsonSampling,
    "linucb": fastes.LinUCB,
    "phe": fastes.PerturbedHistory,
}


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(("K", "d", "T"), [(1, 1, 1), (9, 4, 60), (9, 4, 700)])
def test_the_belief_is_that_of_its_definition(discount, name, K, d, T):
    bandit, n = problem(K, d, decades=2.0), reference.period(discount)
    arms, rewards = played(bandit, T)
    state, _ = follow(bandit, AGENTS[name](discount=discount), arms, rewards)
    assert memory_of(state.belief).period == n
    rows = bandit.actions[arms]
    P, mu = reference.forgetful_posterior(rows, rewards, discount, n)
    S, weight = covariance_of(state.belief), discount ** (T % n)
    np.testing.assert_allclose(S, np.linalg.inv(P), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(state.belief.mu, mu, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(S).max() <= (1 + 1e-12) / weight
    if name == "linucb":  # bounds on scores need to know how far variances may have risen
        systems = reference.forgetful_systems(rows, rewards, discount, n)
        covariances = np.linalg.inv([P for P, _ in systems])
        risen = np.linalg.eigvalsh(np.diff(covariances, axis=0)).max(axis=1)
        state.variance_drift[0] -= np.maximum(0.0, risen).sum()
        assert state.variance_drift[0] >= -1e-9


@pytest.mark.parametrize("discount", [*DISCOUNTS, 1.0])
@pytest.mark.parametrize(("K", "d", "T"), [(1, 1, 1), (9, 4, 300)])
def test_discounted_linucb_has_both_matrices_of_its_definition(discount, K, d, T):
    bandit, n = problem(K, d), reference.period(discount)
    arms, rewards = played(bandit, T)
    state, _ = follow(bandit, fastes.DiscountedLinUCB(discount=discount), arms, rewards)
    rows = bandit.actions[arms]
    P, mu = reference.forgetful_posterior(rows, rewards, discount, n)
    V = np.eye(d)
    for k, b in enumerate(rows):
        V = discount**2 * V + np.outer(b, b)
        V += (1 - discount ** (2 * n)) * np.eye(d) if (k + 1) % n == 0 else 0.0
    S = np.linalg.inv(P)
    np.testing.assert_allclose(state.spread, S @ V @ S, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(state.z, mu, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize(("M", "d", "T"), [(1, 1, 1), (70, 3, 150)])
def test_models_that_are_all_kept_are_those_of_their_definition(discount, M, d, T):
    bandit, n, half = problem(7, d), reference.period(discount), (d + 1) // 2
    arms, rewards = played(bandit, T)
    rows = bandit.actions[arms]
    agents = {
        "eager": fastes.EnsembleSampling(M, engine="eager", discount=discount),
        "es++": fastes.EnsemblePlusPlus(M, perturbations="normal", discount=discount),
    }
    for name, agent in agents.items():
        origin, tiles = source(SEED, RUN), bandit.canonical.arms
        state = agent.initial_state(bandit.K, d, origin, T)
        for t, (arm, y) in enumerate(zip(arms, rewards, strict=True)):
            assert observe(state, tiles, origin, t, arm, y)
        found = all_models(state, origin, 0) if name == "eager" else state.xi
        both = SEED, RUN, int(layout.PERTURBATION)
        mixed = [reference.normal_vector(*both, t, M) for t in range(T)] if name == "es++" else []
        for m in {0, 1, 63, 64, M - 1} & set(range(M)):  # of both tiles
            W = [each[m] for each in mixed] or [reference.normal(*both, m, t) for t in range(T)]
            refills = [
                [
                    reference.normal_pair(SEED, RUN, int(layout.REFILL), m * half + j // 2, k)[
                        j % 2
                    ]
                    for j in range(d)
                ]
                for k in range(T // n)
            ]
            xi = reference.normal_vector(SEED, RUN, int(layout.INITIAL_MODELS), m, d)
            xi = reference.forgetful_model(xi, rows, discount, n, np.array(W), np.array(refills))
            np.testing.assert_allclose(found[m], xi, rtol=1e-9, atol=1e-11)


read_model = from_python(eager.read_model)


def test_a_read_and_a_probe_change_no_bit_of_models_that_forget():
    bandit, agent = problem(5, 3), fastes.EnsembleSampling(70, engine="eager", discount=0.9)
    arms, rewards = played(bandit, 40)
    apart, xi = [], np.empty(3)
    for probes in ((), (3, 11, 12, 29)):
        origin, tiles = source(SEED, RUN), bandit.canonical.arms
        state = agent.initial_state(bandit.K, 3, origin, 40)
        for t, (arm, y) in enumerate(zip(arms, rewards, strict=True)):
            if t in probes:
                all_models(state, origin, t)
            assert observe(state, tiles, origin, t, arm, y)
        read_model(state.models, origin, 66, xi)
        apart.append(all_models(state, origin, 0))
        assert (apart[-1][66] == xi).all()
    assert (apart[0] == apart[1]).all()


@pytest.fixture(params=["copies", "sequence", "rows"])
def log(request, monkeypatch):
    """How a deferred ensemble keeps what models miss."""
    if request.param == "sequence":
        monkeypatch.setattr(cached_models, "_MOST_COUNTERS", 0)
    if request.param == "rows":
        monkeypatch.setattr(fastes.EnsembleSampling, "_keeps_rows", lambda *_: True)
    return request.param


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize(("K", "d", "M", "T"), [(1, 1, 1, 9), (9, 3, 3, 400), (30, 5, 10**9, 60)])
def test_a_model_that_is_read_is_the_reference_s(discount, K, d, M, T, log):
    bandit, n = problem(K, d), reference.period(discount)
    arms, rewards = played(bandit, T)
    rows, xi, since, fresh = bandit.actions[arms], {}, {}, 0
    systems = list(reference.forgetful_systems(rows, rewards, discount, n))

    def normals(new, t):
        stream = layout.INITIAL_MODELS if new else layout.PERTURBATION
        return lambda k: reference.normal_vector(SEED, RUN, int(stream), t, k)

    def check(t, state):
        nonlocal fresh
        m = reference.integer(SEED, RUN, int(layout.MODEL_INDEX), t, M)
        age = t - since.get(m, 0)
        if m not in xi or discount ** (age / 2) < 2.0**-53:
            fresh += m in xi
            given = rows[:t], arms[:t].tolist(), discount, n
            xi[m] = reference.drawn_from_forgetful(*given, normals(m not in xi, t))
        elif log == "rows":
            refill, w = reference.refilled(discount, n, since[m], t), normals(False, t)(300)
            block, used = row_log.block_length(d), pieces(since[m], t, row_log.block_length(d), d)
            taken = reference.missed(rows, since[m], t, w, block, discount)
            xi[m] = discount ** (age / 2) * xi[m] + taken + refill * w[used : used + d]
        else:
            given = rows[:t], arms[:t].tolist(), since[m], discount, n
            xi[m] = reference.forgetful_catch_up(xi[m], *given, normals(False, t))
        since[m] = t
        P, eta = systems[t]
        np.testing.assert_allclose(state.z, np.linalg.solve(P, eta + xi[m]), rtol=1e-8, atol=1e-8)

    agent = fastes.EnsembleSampling(M, discount=discount)
    state, _ = follow(bandit, agent, arms, rewards, check)
    kind = row_log.RowLog if log == "rows" else weight_log.WeightLog
    assert isinstance(state.log, kind)
    if log != "rows":
        assert (len(state.log.slot) == 0) == (log == "copies" and K * M <= 2**20)
    assert M > 3 or T < 100 or (fresh > 0) == (discount < 0.1)


def pieces(since, now, block, d):
    """Return how many normals the rows of a stretch take."""
    used, s = 0, since
    while s < now:
        length = 1
        if s % block == 0 and s + block <= now:
            length = block
            while s % (2 * length) == 0 and s + 2 * length <= now:
                length *= 2
        used += 1 if length == 1 else d
        s += length
    return used


@pytest.mark.parametrize("n", [1, 3, 40, 600])
@pytest.mark.parametrize(("K", "d", "T"), [(1, 1, 5), (9, 4, 700)])
@pytest.mark.parametrize("decades", [0.0, 4.0])
def test_a_window_is_the_posterior_given_the_last_rewards(n, K, d, T, decades):
    bandit = problem(K, d, decades=decades)
    arms, rewards = played(bandit, T)

    def check(t, state):
        if t % 97 < 2 or t == n + 1:
            rows, y = bandit.actions[arms[max(0, t - n) : t]], rewards[max(0, t - n) : t]
            P, mu = reference.forgetful_posterior(rows, y, 1.0, 1)
            S = np.linalg.inv(P)
            np.testing.assert_allclose(covariance_of(state.belief), S, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(state.belief.mu, mu, rtol=1e-7, atol=1e-7)

    follow(bandit, fastes.ThompsonSampling(window=n), arms, rewards, check)


def test_a_window_that_holds_all_rewards_is_exact_thompson_sampling():
    bandit = fastes.LinearBandit.random(K=5, d=2)
    both = [fastes.ThompsonSampling(), fastes.ThompsonSampling(window=50)]
    one, other = (fastes.simulate(bandit, agent, T=50, runs=3) for agent in both)
    np.testing.assert_array_equal(one.regret.per_run, other.regret.per_run)


def test_a_direction_that_is_never_played_does_not_wind_up():
    _never_played(20_000, fastes.ThompsonSampling(discount=0.9))


@pytest.mark.slow
def test_a_direction_that_is_not_played_for_ten_million_steps_does_not_wind_up():
    for kind in (fastes.ThompsonSampling, fastes.Greedy):
        _never_played(10_000_000, kind(discount=0.9))


def _never_played(T, agent):
    # Arms over four decades, none with a part along the last coordinate. What is known of it stays
    # the prior, and the belief stays that of the rewards which still count.
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(16, 4)) * 10.0 ** rng.uniform(-2, 2, (16, 1))
    rows[:, 3] = 0.0
    bandit, discount = fastes.LinearBandit(np.vstack([rows, np.eye(4)])), agent.discount
    n = reference.period(discount)
    T -= T % n + 1
    arms, rewards = rng.integers(0, 16, T), rng.normal(size=T)
    live = agent.start(bandit, seed=1)
    for first in range(0, T, 100_000):
        live.observe(arms[first : first + 100_000], rewards[first : first + 100_000])
    belief = live._state.belief
    S, recent = covariance_of(belief), slice(T - T % n - 100 * n, T)
    P, mu = reference.forgetful_posterior(rows[arms[recent]], rewards[recent], discount, n)
    np.testing.assert_allclose(S, np.linalg.inv(P), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(belief.mu, mu, rtol=1e-6, atol=1e-8)
    assert S[3, 3] == pytest.approx(discount ** -(T % n), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["fixed", "fresh"])
def test_deferred_ensembles_have_the_law_of_the_eager_engine_s(where):
    # Final regret, 3,000 runs each on different seeds: two-sample KS test, level 1e-4 each.
    fixed = fastes.LinearBandit.random(K=20, d=3, prior_cov=4.0)
    fresh = fastes.LinearBandit(fastes.actions.Fresh(20, 3), prior_cov=4.0)
    finals = [
        fastes.simulate(
            {"fixed": fixed, "fresh": fresh}[where],
            fastes.EnsembleSampling(3, engine, discount=0.8),
            T=60,
            runs=3_000,
            seed=seed,
        ).regret.final
        for seed, engine in enumerate(("deferred", "eager"))
    ]
    assert stats.ks_2samp(*finals).pvalue > 1e-4


def test_what_has_no_meaning_with_a_discount_is_refused():
    with pytest.raises(ValueError, match="discount must be a number from 1e-09 to 1, got 0"):
        fastes.Greedy(discount=0)
    with pytest.raises(ValueError, match=r"discount must be 1\.0 where perturbations are"):
        fastes.EnsembleSampling(3, perturbations="bootstrap", discount=0.9)
    with pytest.raises(ValueError, match="window and discount are two ways to forget"):
        fastes.ThompsonSampling(discount=0.9, window=5)
    bandit = fastes.LinearBandit.random(K=5, d=2)
    with pytest.raises(ValueError, match="which an agent with a discount or a window forgets"):
        fastes.simulate(bandit, fastes.Greedy(discount=0.9), T=5, diagnostics=[0])
    clicks = fastes.LogisticBandit.random(K=5, d=2)
    with pytest.raises(ValueError, match="window needs belief 'online'"):
        fastes.simulate(clicks, fastes.ThompsonSampling(window=5), T=5)
    with pytest.raises(ValueError, match="D-LinUCB plays on gaussian rewards only"):
        fastes.simulate(clicks, fastes.DiscountedLinUCB(), T=5)


def test_signs_with_a_discount_are_kept_by_all_models():
    bandit = fastes.LinearBandit.random(K=5, d=2)
    agent = fastes.EnsembleSampling(3, perturbations="signs", discount=0.9)
    state = agent.initial_state(bandit.K, bandit.rank, source(1), 10)
    assert isinstance(state, eager.EagerEnsemble)
