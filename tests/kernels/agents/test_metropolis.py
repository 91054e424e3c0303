"""Thompson sampling by a Markov chain: against its slow twin, and against quadrature."""

import glm_runs
import numpy as np
import pytest
import reference
from engine import prepare
from fastes.kernels.agents.metropolis import draw_models, metropolis
from fastes.kernels.beliefs.families import Bernoulli, Poisson
from fastes.kernels.beliefs.glm.state import glm
from fastes.kernels.beliefs.glm.update import fit
from fastes.kernels.streams import layout
from fastes.kernels.streams.normals import fill_normals
from fastes.kernels.streams.philox import source
from scipy import stats

import fastes

FAMILIES = {"bernoulli": Bernoulli(0.0), "poisson": Poisson(0.0)}


def data_of(belief, family):
    kept = (belief.offsets, belief.plays, belief.pay)
    return reference.Plays(family, belief.columns.T.copy(), *(each.copy() for each in kept))


@pytest.mark.parametrize(("K", "r"), [(1, 1), (5, 1), (8, 2), (12, 5)])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_chain_is_that_of_the_reference(family, K, r):
    rng = np.random.default_rng([K, r])
    rows, z = rng.normal(size=(K, r)) / np.sqrt(r), rng.normal(size=r)

    def make(K, belief, origin, T):
        return metropolis(belief, 1.5, 5)

    run = glm_runs.start(rows, z, make, 40, 3, 2, FAMILIES[family], 0.2)
    chain = reference.normal_vector(3, 2, layout.INITIAL_MODELS, 0, r)
    for t in range(40):
        data, mu = data_of(run.state.belief, family), run.state.belief.mu.copy()
        assert run.advance(t, t + 1) == t + 1
        chain = reference.metropolis(data, chain, 3, 2, layout.PROPOSALS, t, 5)
        np.testing.assert_allclose(run.state.chain[(t + 1) % 2], chain, atol=1e-7)
        model = mu + 1.5 * (chain - mu)
        np.testing.assert_allclose(run.state.z, model, atol=1e-7)
        assert run.record.arms[t] == np.argmax(0.2 + rows @ model)


def fitted(rows, n, y, offset=0.0, proposals=32, family="bernoulli"):
    """Return an agent that has seen these plays."""
    K, r = rows.shape
    agent = metropolis(glm.layout(FAMILIES[family], K, r), 1.0, proposals)
    belief = agent.belief
    belief.columns[:, :K], belief.slot_of_arm[:] = rows.T, np.arange(K)
    belief.offsets[:K], belief.plays[:K], belief.pay[:K] = offset, n, y
    belief.size[:] = K, n.sum()
    fit(belief)
    return agent


SKEWED = {
    "one click in forty": ([[3.0]], [40], [1]),
    "no clicks": ([[2.0]], [30], [0]),
    "two arms in the plane": ([[3.0, 0.0], [2.0, 2.0]], [12, 5], [0, 5]),
    "three arms in the plane": ([[3.0, 0.0], [0.0, 3.0], [2.0, 2.0]], [20, 5, 3], [1, 4, 1]),
}


def cells_of(agent, family="bernoulli"):
    """Return a function to a cell of eight along a direction, and its law, by quadrature."""
    belief = agent.belief
    data, r = data_of(belief, family), len(belief.mu)
    axis = np.linspace(-9, 9, 4001 if r == 1 else 401)
    grid = np.stack(np.meshgrid(*[axis] * r), -1).reshape(-1, r)
    values = data.offsets + grid @ data.rows.T
    psi = np.logaddexp(0, values) if family == "bernoulli" else np.exp(values)
    logs = values @ data.y - psi @ data.n - (grid**2).sum(axis=1) / 2
    law = np.exp(logs - logs.max())
    law /= law.sum()
    along = grid @ np.linspace(1.0, np.sqrt(0.2), r)
    order = np.argsort(along)
    cuts = along[order][np.searchsorted(np.cumsum(law[order]), np.arange(1, 8) / 8)]

    def cell(z):
        return np.searchsorted(cuts, z @ np.linspace(1.0, np.sqrt(0.2), r))

    return cell, np.bincount(cell(grid), law, 8)


@pytest.mark.parametrize("case", SKEWED)
def test_draws_have_the_law_of_the_posterior(case):
    """Eight cells against quadrature, chi square at 1e-4; Laplace's approximation fails it."""
    agent = fitted(*(np.array(part, float) for part in SKEWED[case]))
    agent.chain[:] = 1.5  # wherever the chain comes from
    z = np.empty((20_000, agent.chain.shape[1]))
    draw_models(agent, source(4), 7, z)
    cell, law = cells_of(agent)

    def level(z):
        counts = np.bincount(cell(z), minlength=8)
        return stats.chisquare(counts, len(z) * law).pvalue

    assert level(z) > 1e-4
    normals = np.random.default_rng(1).normal(size=z.shape)
    assert level(agent.belief.mu + normals @ agent.belief.root) < 1e-4


def test_one_proposal_keeps_the_law_of_the_posterior():
    """From a draw of it, by a rejected or an accepted proposal: 100,000 chains, at 1e-4."""
    agent = fitted(*(np.array(part, float) for part in SKEWED["two arms in the plane"]))
    cell, law = cells_of(agent)
    start, z = np.empty((20_000, 2)), np.empty((1, 2))
    draw_models(agent, source(8), 1, start)
    one = agent._replace(proposals=1)
    moved = np.empty_like(start)
    for i, point in enumerate(start):
        one.chain[1] = point
        draw_models(one, source(9, i), 1, z)
        moved[i] = z[0]
    stayed = (moved == start).all(axis=1).mean()
    assert 0.05 < stayed < 0.6
    counts = np.bincount(cell(moved), minlength=8)
    assert stats.chisquare(counts, len(start) * law).pvalue > 1e-4


@pytest.mark.parametrize(
    "kind", [fastes.LogisticBandit, pytest.param(fastes.PoissonBandit, marks=pytest.mark.slow)]
)
def test_arms_are_played_as_often_as_each_is_the_best(kind):
    """At the last of 25 steps, in 4,000 runs: for each arm a paired difference at 4.5 errors."""
    bandit = kind.random(K=6, d=2, prior_cov=2.0)
    agent = fastes.ThompsonSampling(sampler="metropolis")
    played = fastes.simulate(bandit, agent, T=25, runs=4_000, keep=["actions"]).actions[:, -1]
    rows = bandit.canonical.rows_and_offsets()[0]
    z, best = np.empty(bandit.rank), np.empty(4_000, int)
    for run in range(4_000):
        fill_normals(source(0, run), layout.THETA, 0, z)
        best[run] = np.argmax(rows @ z)
    for arm in range(6):
        gap = (played == arm).astype(float) - (best == arm)
        assert abs(gap.mean()) < 4.5 * max(gap.std(), 0.02) / np.sqrt(4_000)


def test_a_step_that_is_done_twice_is_the_same():
    agent = fitted(np.eye(2), np.array([3, 2]), np.array([1, 2]))
    found = []
    for t in (0, 0, 1, 1, 1, 2):
        prepare(agent, source(1), t)
        found.append(agent.z.copy())
    assert (found[0] == found[1]).all()
    assert (found[2] == found[3]).all()
    assert (found[3] == found[4]).all()
    assert len({tuple(z) for z in found}) == 3


def test_a_probe_changes_nothing_and_starts_where_the_step_does():
    agent = fitted(np.eye(2), np.array([3, 2]), np.array([1, 2]), proposals=0)
    z = np.empty((3, 2))
    for t in (0, 1, 2):
        before = agent.chain.copy()
        draw_models(agent, source(1), t, z)
        assert (agent.chain == before).all()
        prepare(agent, source(1), t)
        assert (z == agent.z).all()


def test_a_belief_that_was_lost_ends_the_run():
    agent = fitted(np.eye(2), np.array([3, 2]), np.array([1, 2]))
    agent.belief.mu[:] = np.nan
    prepare(agent, source(1), 5)
    assert np.isnan(agent.z).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("shape", [(1, 1), (6, 1), (12, 3)])
@pytest.mark.parametrize("share", [0.0, 1.0, "separable"])
@pytest.mark.parametrize("plays", [1, 1000, 10**8])
def test_hostile_clicks(scale, shape, share, plays):
    """The chain moves, and every draw is where the posterior has mass.

    But for twelve long arms that a plane separates: few proposals meet the cone that is left.
    """
    rows = scale * np.random.default_rng(5).normal(size=shape)
    n = np.full(shape[0], plays)
    y = n * (rows[:, 0] > 0) if share == "separable" else n * share
    agent = fitted(rows, n, y)
    z = np.empty((300, shape[1]))
    draw_models(agent, source(2), 0, z)
    assert np.isfinite(z).all()
    assert len(np.unique(z[:, 0])) > 10
    data = data_of(agent.belief, "bernoulli")
    least = data.log_density(agent.belief.mu) - 40.0
    narrow = share == "separable" and scale == 1e3 and shape == (12, 3)
    assert narrow or all(data.log_density(each) > least for each in z)
