"""Deferred ensembles whose perturbations have variances of their own: pathwise, and in law."""

import engine
import glm_runs
import numpy as np
import pytest
import reference
from engine import all_models, from_python, learn
from fastes.kernels.agents.interface import restored_state, saved_arrays
from fastes.kernels.beliefs.families import Bernoulli, Gaussian, Poisson
from fastes.kernels.beliefs.glm.state import glm
from fastes.kernels.beliefs.memory import with_discount
from fastes.kernels.ensembles import cached_models, deferred, weight_log
from fastes.kernels.ensembles.deviations import NormalDeviations
from fastes.kernels.streams import layout
from scipy import special, stats

import fastes

read = from_python(deferred.read)
variances_at = from_python(weight_log.variances_at)
SEED, RUN = 77, 5


@pytest.fixture(params=["copies", "sequence"])
def kept(request, monkeypatch):
    """How V of a time before is known: by a copy for each model, or by the sequence of plays."""
    if request.param == "sequence":
        monkeypatch.setattr(cached_models, "_MOST_COUNTERS", 0)
    return request.param


def problem(K, r, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(K, r)) / np.sqrt(r), rng.normal(size=r)


def es(M, deviations=NormalDeviations(1.0, 1), engine="deferred"):  # noqa: B008
    return lambda K, belief, origin, T: glm_runs.ensemble(
        M, K, belief, origin, T, deviations, engine
    )


@pytest.mark.parametrize("family", [Bernoulli(0.0), Bernoulli(0.25), Poisson(0.0)], ids=str)
@pytest.mark.parametrize(("K", "r", "M", "T"), [(1, 1, 1, 9), (7, 2, 3, 90), (70, 3, 10**6, 70)])
def test_every_action_and_model_is_the_reference_s(family, K, r, M, T, kept):
    _follow(family, K, r, M, T, kept, 1.0)


@pytest.mark.parametrize("family", [Bernoulli(0.0), Poisson(0.25)], ids=str)
@pytest.mark.parametrize("discount", [0.5, 0.97])
@pytest.mark.parametrize(("K", "r", "M", "T"), [(1, 1, 1, 9), (7, 2, 3, 300)])
def test_models_forget_as_the_reference_s(family, discount, K, r, M, T, kept):
    _follow(family, K, r, M, T, kept, discount)


def _follow(family, K, r, M, T, kept, discount):
    name = type(family).__name__.lower()
    rows, z = problem(K, r, K)
    offsets = np.linspace(-0.5, 0.5, K)
    memory = with_discount(discount, period=1)
    run = glm_runs.start(rows, z, es(M), T, SEED, RUN, family, offsets, memory=memory)
    arms, models = [], []
    for t in range(T):
        assert run.advance(t, t + 1) == t + 1
        models.append(run.state.z.copy())
    arms = run.record.arms.tolist()

    def reward(t, mean):
        u = reference.open_uniform(SEED, RUN, int(layout.NOISE), t)
        return float(1 - u < mean) if name == "bernoulli" else float(stats.poisson.ppf(u, mean))

    expected, read_models, mode = reference.glm_ensemble(
        name,
        rows,
        offsets,
        M,
        T,
        family.perturbation,
        index=lambda t: reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M),
        first=lambda t, n: reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, t, n),
        later=lambda t, n: reference.normal_vector(SEED, RUN, layout.PERTURBATION, t, n),
        reward=reward,
        theta=z,
        discount=discount,
    )
    assert arms == expected
    np.testing.assert_allclose(models, read_models, atol=1e-7)
    np.testing.assert_allclose(run.state.belief.mu, mode, atol=1e-8)
    assert (len(run.state.log.slot) == 0) == (kept == "copies" and K * M <= 2**20)


@pytest.mark.parametrize("M", [1, 2, 8, 32])
def test_regret_has_the_law_of_the_eager_engine_s(M):
    # Final regret of 2,000 runs each on clicks, seeds that differ: two-sample KS test and z test of
    # the mean, level 1e-4 each.
    rows, _ = problem(12, 3, 1, 2.0)
    finals = {}
    for seed, kind in enumerate(("deferred", "eager")):
        finals[kind] = np.empty(2_000)
        for run in range(2_000):
            z = np.random.default_rng([seed, run]).normal(size=3)
            one = glm_runs.start(rows, z, es(M, engine=kind), 60, seed, run)
            assert one.advance(0, 60) == 60
            finals[kind][run] = one.record.total[0]
    first, second = finals["deferred"], finals["eager"]
    assert stats.ks_2samp(first, second).pvalue > 1e-4
    error = np.hypot(first.std(), second.std()) / np.sqrt(2_000)
    assert abs(first.mean() - second.mean()) < 3.9 * error


def test_two_reads_of_a_model_have_their_joint_law(kept):
    # The same rewards always; a model is read after 20 and after 50 plays. Then xi_20 ~ N(0, P_20),
    # P = I + sum V b b', and xi_50 - xi_20 ~ N(0, P_50 - P_20) are independent. 3,000 seeds; each
    # entry of the whitened second moment by a z test, level 1e-5 each.
    rows, _ = problem(5, 2, 3)
    n, both = 3_000, np.empty((3_000, 4))
    rng = np.random.default_rng(4)
    plays = [(int(rng.integers(5)), float(rng.integers(2))) for _ in range(50)]
    P = {}
    for seed in range(n):
        run = glm_runs.start(rows, np.zeros(2), es(7), 60, seed)
        xi = {}
        for t, (arm, reward) in enumerate(plays):
            learn(run.state, rows[arm].copy(), 0.0, arm, reward, run.source, t)
            if t + 1 in (20, 50):
                xi[t + 1] = run.state.models.xi[read(run.state, run.source, t, 4)].copy()
                if seed == 0:
                    b = run.state.belief
                    P[t + 1] = np.eye(2) + (b.columns * b.variances) @ b.columns.T
        both[seed] = np.concatenate([xi[20], xi[50] - xi[20]])
    for part, covariance in ((slice(0, 2), P[20]), (slice(2, 4), P[50] - P[20])):
        both[:, part] = np.linalg.solve(np.linalg.cholesky(covariance), both[:, part].T).T
    second = both.T @ both / n
    assert (np.abs(second - np.eye(4)) < 4.4 * np.sqrt((1 + np.eye(4)) / n)).all()


def test_the_whole_ensemble_has_the_law_of_its_walk(kept):
    # 20,000 models, some read before: whitened xi are iid N(0, I). Level 1e-4 each.
    M = 20_000
    rows, z = problem(5, 3, 5)
    run = glm_runs.start(rows, z, es(M), 400, 1)
    assert run.advance(0, 300) == 300
    xi = all_models(run.state, run.source, 1)
    b = run.state.belief
    P = np.eye(3) + (b.columns * b.variances) @ b.columns.T
    whitened = np.linalg.solve(np.linalg.cholesky(P), xi.T).T
    assert stats.kstest((whitened**2).sum(axis=1), "chi2", args=(3,)).pvalue > 1e-4
    assert (np.abs(whitened.T @ whitened / M - np.eye(3)) < 3.9 * np.sqrt(2 / M)).all()


@pytest.mark.parametrize("slots", [3, 40])
def test_variances_of_any_time_before_are_what_they_were_to_the_bit(slots, monkeypatch):
    monkeypatch.setattr(cached_models, "_MOST_COUNTERS", 0)
    T, rows = 2_000, problem(slots, 2, 6)[0]
    state = es(10)(slots, glm.layout(Bernoulli(0.0), slots, 2), None, T)
    rng, before = np.random.default_rng(7), []
    for t in range(T):
        before.append(state.belief.variances.copy())
        arm = int(rng.integers(1 + min(slots - 1, t // 20)))
        learn(state, rows[arm].copy(), 0.0, arm, float(rng.integers(2)), None, t)
    assert state.log.size[0] >= 5
    out = np.zeros(len(state.belief.variances))
    for t in [*rng.integers(T, size=60), 0, T - 1, *state.log.milestone_time[:5]]:
        variances_at(state.log, int(t), out)
        assert (out == before[t]).all()


@pytest.mark.parametrize("M", [1, 5, 1000])
def test_with_normal_rewards_it_is_the_linear_ensemble(M):
    # Up to where the linear engine computes its belief afresh both draw the same numbers.
    bandit = fastes.LinearBandit(problem(30, 4, 8)[0])
    theirs = engine.start(bandit, fastes.EnsembleSampling(M), 250, 3)
    theta = reference.normal_vector(3, 0, layout.THETA, 0, 4)
    ours = glm_runs.start(engine.rows(bandit), theta, es(M), 250, 3, 0, Gaussian(0.0))
    for t in range(250):
        theirs.advance(t, t + 1)
        assert ours.advance(t, t + 1) == t + 1
        np.testing.assert_allclose(ours.state.z, theirs.state.z, atol=1e-8)
    assert (ours.record.counts == theirs.record.counts).all()


def test_a_symmetric_and_inflated_ensemble_reads_its_models_so():
    rows, z = problem(6, 2, 9)
    run = glm_runs.start(rows, z, es(4, NormalDeviations(1.7, 2)), 80, SEED, RUN)
    for t in range(80):
        b = run.state.belief
        data = reference.Plays("bernoulli", b.columns.T, b.offsets, b.plays.copy(), b.pay.copy())
        assert run.advance(t, t + 1) == t + 1
        m = reference.integer(SEED, RUN, layout.MODEL_INDEX, t, 8)
        slot = list(run.state.models.model[: run.state.models.used[0]]).index(m % 4)
        xi = (1.7 if m < 4 else -1.7) * run.state.models.xi[slot]
        assert data.distance(run.state.z, xi) <= 2e-9


@pytest.mark.parametrize("room", [600, 0])
def test_a_restored_ensemble_goes_on_as_if_nothing_had_been(kept, room):
    rows, z = problem(40, 3, 10)
    whole, part = (glm_runs.start(rows, z, es(50), 600, 2, room=room) for _ in range(2))
    assert whole.advance(0, 600) == 600
    assert part.advance(0, 250) == 250
    arms = part.actions.arms
    arrays = {name: array.copy() for name, array in saved_arrays(part.state).items()}
    shape = weight_log.ensemble_by_weights.layout(
        glm.layout(Bernoulli(0.0), 40, 3, room),
        50,
        NormalDeviations(1.0, 1),
        room,
    )
    part.state = restored_state(shape, arrays, arms, 600)
    assert part.advance(250, 600) == 600
    assert (part.record.arms == whole.record.arms).all()
    assert (part.state.belief.mu == whole.state.belief.mu).all()


def test_a_state_that_is_lost_stops_the_loop():
    rows, z = problem(4, 2, 11)
    run = glm_runs.start(rows, z, es(3), 50)
    assert run.advance(0, 20) == 20
    run.state.belief.mu[0] = np.nan
    assert run.advance(20, 50) == 20


def test_runs_one_after_the_other_are_those_of_their_own():
    # A stack of states: the log's arrays are the belief's in each.
    rows, _ = problem(12, 3, 14)
    zs = np.random.default_rng(15).normal(size=(3, 3))
    single = [glm_runs.start(rows, z, es(4), 100, 6, run) for run, z in enumerate(zs)]
    for run in single:
        assert run.advance(0, 100) == 100
    regrets = glm_runs.advance_together(rows, zs, es(4), 100, 6)
    np.testing.assert_array_equal(regrets, [run.record.regret for run in single])


def test_memory_is_bounded_by_the_horizon_not_by_M():
    rows, z = problem(30, 2, 12)
    run = glm_runs.start(rows, z, es(2**32 - 1), 2_000, room=0)
    assert run.advance(0, 2_000) == 2_000
    assert run.state.models.used[0] <= 2_000 <= len(run.state.models.model) <= 4_096
    assert len(run.state.log.slot) <= 4_096


def test_clicks_are_learned():
    # Greedy play of what a run has learned beats chance by far: the loop is wired right.
    rows, z = problem(20, 3, 13, 3.0)
    values = special.expit(rows @ z)
    for make in (es(1), es(30), es(10**9)):
        run = glm_runs.start(rows, z, make, 2_000)
        assert run.advance(0, 2_000) == 2_000
        assert run.record.total[0] < 0.25 * 2_000 * (values.max() - values.mean())
