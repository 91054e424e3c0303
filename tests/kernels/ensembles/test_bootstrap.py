"""Deferred ensembles by the bootstrap: pathwise, in law, and from files."""

import glm_runs
import numba
import numpy as np
import pytest
import reference
from engine import all_models, from_python, learn
from fastes.kernels.agents.interface import restored_state, saved_arrays
from fastes.kernels.beliefs.families import Bernoulli
from fastes.kernels.beliefs.glm.state import glm
from fastes.kernels.beliefs.interface import model_from_xi
from fastes.kernels.ensembles import bootstrap
from fastes.kernels.jit.options import entry_options
from fastes.kernels.streams import layout
from scipy import stats

import fastes

# By the flags of kernels: these return arrays that they do not own.
read = numba.njit(**entry_options())(bootstrap.read.py_func)
solve_model = numba.njit(**entry_options())(bootstrap._solve.py_func)
model_of_xi = from_python(model_from_xi)
SEED, RUN = 78, 3


def es(M):
    return lambda K, belief, origin, T: bootstrap.bootstrap_ensemble(belief, M, T)


def problem(K, r, scale=1.0):
    rng = np.random.default_rng(K)
    return scale * rng.normal(size=(K, r)) / np.sqrt(r), rng.normal(size=r)


@pytest.mark.parametrize(("K", "r", "M", "T"), [(1, 1, 1, 300), (7, 2, 3, 90), (40, 3, 10**9, 40)])
def test_every_action_and_model_is_the_reference_s(K, r, M, T):
    rows, z = problem(K, r)
    offsets = np.linspace(-0.5, 0.5, K)
    run = glm_runs.start(rows, z, es(M), T, SEED, RUN, Bernoulli(0.0), offsets)
    models = []
    for t in range(T):
        assert run.advance(t, t + 1) == t + 1
        models.append(run.state.z.copy())

    def signs(t, first, counts):
        stream, lane = (layout.INITIAL_MODELS, r) if first else (layout.PERTURBATION, 0)
        return reference.sign_sums(SEED, RUN, stream, t, lane, counts)

    arms, expected = reference.bootstrap_ensemble(
        rows,
        offsets,
        T,
        lambda t: reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M),
        lambda t: reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, t, r),
        signs,
        lambda t, p: float(1 - reference.open_uniform(SEED, RUN, int(layout.NOISE), t) < p),
        z,
    )
    assert run.record.arms.tolist() == arms
    np.testing.assert_allclose(models, expected, atol=1e-7)


def test_two_reads_of_a_model_count_plays_as_fair_coins_do():
    # A model is read after 20 and after 50 plays of two arms. Counted twice or not at all, a play
    # of each kind adds a sign: sums of 20 and of the 30 after, independent. 4,000 seeds; means and
    # second moments by z tests, level 1e-5 each.
    rows, _ = problem(2, 2)
    rng = np.random.default_rng(4)
    plays = [(int(rng.integers(2)), float(rng.integers(2))) for _ in range(50)]
    kinds = [(arm, pay) for pay in (1.0, 0.0) for arm in dict(plays)]
    both = np.empty((4_000, 8))
    for seed in range(4_000):
        run = glm_runs.start(rows, np.zeros(2), es(5), 60, seed)
        sums = []
        for t, (arm, pay) in enumerate(plays):
            learn(run.state, rows[arm].copy(), 0.0, arm, pay, run.source, t)
            if t + 1 in (20, 50):
                model = run.state.models.xi[read(run.state, run.source, t, 4)]
                slots = len(run.state.belief.plays)
                sums.append(model[2:].reshape(2, slots)[:, :2].ravel().copy())
        both[seed] = np.concatenate([sums[0], sums[1] - sums[0]])
    counts = [part.count(kind) for part in (plays[:20], plays[20:]) for kind in kinds]
    assert min(counts) > 0
    assert ((both + counts) % 2 == 0).all()
    assert (np.abs(both) <= counts).all()
    scaled = both / np.sqrt(counts)
    assert (np.abs(scaled.mean(axis=0)) < 4.4 / np.sqrt(4_000)).all()
    second = scaled.T @ scaled / 4_000
    assert (np.abs(second - np.eye(8)) < 4.4 * np.sqrt((1 + np.eye(8)) / 4_000)).all()


def test_regret_has_the_law_of_models_that_weigh_every_play_at_once():
    """Against a loop that updates all models at every step: 500 runs each, z test, level 1e-4."""
    rows, T, M = problem(5, 2, 2.0)[0], 25, 2
    finals = np.empty((2, 500))
    for run in range(500):
        rng = np.random.default_rng([9, run])
        z = rng.normal(size=2)
        one = glm_runs.start(rows, z, es(M), T, 1, run)
        assert one.advance(0, T) == T
        finals[0, run] = one.record.total[0]
        means = 1 / (1 + np.exp(-rows @ z))
        n, y, xi = np.zeros((M, 5)), np.zeros((M, 5)), rng.normal(size=(M, 2))
        regret = 0.0
        for _ in range(T):
            m = rng.integers(M)
            data = reference.Plays("bernoulli", rows, np.zeros(5), n[m], y[m])
            arm = int(np.argmax(rows @ data.mode(xi[m])))
            regret += means.max() - means[arm]
            pay, twice = float(rng.random() < means[arm]), 2.0 * rng.integers(2, size=M)
            n[:, arm] += twice
            y[:, arm] += pay * twice
        finals[1, run] = regret
    error = np.hypot(*finals.std(axis=1)) / np.sqrt(500)
    assert abs(finals[0].mean() - finals[1].mean()) < 3.9 * error
    assert stats.ks_2samp(*finals).pvalue > 1e-4


def test_xi_of_a_model_stands_for_it():
    rows, z = problem(6, 3)
    run = glm_runs.start(rows, z, es(40), 200, 2)
    assert run.advance(0, 200) == 200
    m = int(run.state.models.model[0])
    first = all_models(run.state, run.source, 7)
    assert (first == all_models(run.state, run.source, 7)).all()
    slot = read(run.state, run.source, 200, m)
    state = run.state
    bootstrap_z, again = np.zeros(3), np.zeros(3)
    solve_model(
        state.belief,
        bootstrap.counts_by_arm(state.belief),
        state.models.xi[slot],
        state.scratch,
        bootstrap_z,
    )
    xi = all_models(state, run.source, 8)[m]  # has missed nothing since
    model_of_xi(state.belief, xi, again)
    np.testing.assert_allclose(again, bootstrap_z, atol=1e-7)


def test_a_state_goes_on_from_its_arrays_and_those_that_cannot_be_are_refused():
    rows, z = problem(9, 2)
    run = glm_runs.start(rows, z, es(5), 300, 4)
    assert run.advance(0, 100) == 100
    arrays = {name: array.copy() for name, array in saved_arrays(run.state).items()}
    made = bootstrap.bootstrap_ensemble.layout(glm.layout(Bernoulli(0.0), 9, 2, 300), 5, 300)
    other = glm_runs.start(rows, z, es(5), 300, 4)
    other.state = restored_state(made, arrays, None, 300)
    for one in (run, other):
        assert one.advance(100, 300) == 300
    assert (run.record.arms[100:] == other.record.arms[100:]).all()
    for name, wrong in (("taken_in", 10**6), ("excess", 1e6), ("xi", np.nan)):
        damaged = {**arrays, name: arrays[name].copy()}
        damaged[name].flat[0] = wrong
        with pytest.raises(ValueError, match=r"saved agent's|models of an ensemble do not fit"):
            restored_state(made, damaged, None, 300)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda es: es(inflation=2.0), "inflation must be 1.0 where perturbations are 'bootstrap'"),
        (lambda es: es(symmetric=True), "symmetric must be False where perturbations are 'boot"),
        (lambda es: es(engine="eager"), "engine must be deferred where perturbations are 'boot"),
        (lambda es: es(variance=0.25), "variance must be fisher where perturbations are 'bootst"),
        (lambda es: es().start(fastes.PoissonBandit([[1.0]])), "'bootstrap' need rewards of 0 and"),
        (lambda es: es().start(fastes.LinearBandit([[1.0]])), "'bootstrap' need rewards of 0 and"),
        (
            lambda es: es(belief="online").start(fastes.LogisticBandit([[1.0]])),
            "'bootstrap' need rewards of 0 and 1 on arms that come again, and belief 'exact'",
        ),
        (
            lambda es: es().start(fastes.LogisticBandit(fastes.actions.Offered(2))),
            "'bootstrap' need rewards of 0 and 1 on arms that come again",
        ),
    ],
)
def test_what_it_is_not_for_is_refused(call, message):
    def es(**options):
        return fastes.EnsembleSampling(3, perturbations="bootstrap", **options)

    with pytest.raises(ValueError, match=message):
        call(es)
