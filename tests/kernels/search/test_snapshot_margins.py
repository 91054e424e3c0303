"""The margins of a snapshot: each term of them is needed, and enough.

What a term stands for is rounding, which real posteriors show too little of to tell whether it is
there. Here the error is put in on purpose, in the one place that the term answers for, and the
bounds must still hold.
"""

from fractions import Fraction

import numpy as np
import pytest
from engine import from_python
from fastes.kernels.actions.arms import empty_arms, store_rows
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.agents.linucb import linucb
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.search import certificate, snapshot_schedule
from fastes.kernels.search import snapshot as snapshots
from fastes.kernels.search.certificate import certified
from fastes.kernels.search.orientation import orient
from fastes.kernels.search.snapshot import DRIFT, MISFIT, SLACK, snapshot, take

import fastes

measure = from_python(snapshots.measure)
margin = from_python(snapshots.margin)
search = from_python(certificate._search)
width_margin = from_python(certificate._width_margin)
add_step_cost = from_python(snapshot_schedule.add_step_cost)

ALPHA = 2.0


def arms_of(b):
    arms = empty_arms(*b.shape)
    store_rows(arms, 0, np.ascontiguousarray(b), np.zeros(len(b)))
    return arms


def random_arms(seed, K=30, r=2):
    rng = np.random.default_rng(seed)
    return arms_of(rng.normal(size=(K, r)))


def rows(arms):
    return arms.tiles.transpose(0, 2, 1).reshape(-1, arms.tiles.shape[1])[: arms.K]


def bounds(known, K):
    """Return m + optimism |c| + c'zeta of every arm: in two dimensions, all of c is leading."""
    leading, coordinates = known.leading.astype(float), known.leading_coordinates[0, :, :K]
    assert len(leading) == 3
    values = known.base[0, :K] + leading @ coordinates.astype(float)
    out = np.empty(K)
    out[known.arm[:K]] = values
    return out


@pytest.mark.parametrize("distance", [0.1, 1.0, 30.0])
def test_a_margin_covers_what_W_and_R_do_not_undo(distance):
    arms, z = random_arms(1), distance * np.array([0.6, -0.8])
    agent, known = greedy(gaussian.layout(2)), snapshot(arms)
    assert take(known, agent.belief, arms, z, -np.inf, 0.0, 1.0, 2 * arms.K)
    known.R[:] *= 1.0 - 1e-3
    known.scalars[SLACK] += np.linalg.norm(np.eye(2) - known.W.T @ known.R)
    exact = rows(arms) @ z
    rho = measure(known, z)
    found = bounds(known, arms.K)
    assert (exact > found + 1e-4 * np.abs(exact)).any()  # the error shows
    assert (exact <= found + margin(known, arms, z, rho, 0.0)).all()


@pytest.mark.parametrize("size", [1e10, 1e12, 1e13])
def test_a_snapshot_knows_how_far_W_and_R_are_from_inverse_to_each_other(size):
    # One direction known so well that R loses the other to rounding: no error put in.
    arms, agent = random_arms(2), greedy(gaussian.layout(2))
    agent.belief.factor[:] = [[size, 0.7 * size], [0.0, 1.0]]
    known, z = snapshot(arms), np.array([-0.7, 1.0])
    assert take(known, agent.belief, arms, z, -np.inf, 0.0, 1.0, 2 * arms.K)
    assert np.linalg.norm(np.eye(2) - known.W.T @ known.R) <= known.scalars[SLACK]
    rho = measure(known, z)
    assert (rows(arms) @ z <= bounds(known, arms.K) + margin(known, arms, z, rho, 0.0)).all()


def test_roots_that_are_rounded_badly_make_bounds_wide_and_not_wrong(monkeypatch):
    def sloppy(belief, W, R, X, rows):
        orient(belief, W, R, X, rows)
        W *= 1.0 - 1e-3

    arms, agent, z = random_arms(7), greedy(gaussian.layout(2)), np.array([0.6, -0.8])
    known = snapshot(arms)
    monkeypatch.setattr(snapshots, "orient", sloppy)
    assert take(known, agent.belief, arms, z, -np.inf, 0.0, 1.0, 2 * arms.K)
    exact, rho = rows(arms) @ z, measure(known, z)
    assert (exact > bounds(known, arms.K) + 1e-4).any()
    assert (exact <= bounds(known, arms.K) + margin(known, arms, z, rho, 0.0)).all()


def upper_confidence(agent, arms):
    """Return the exact scores of LinUCB."""
    b = rows(arms)
    variance = np.einsum("ij,jk,ik->i", b, agent.belief.S, b)
    return b @ agent.belief.mu + ALPHA * np.sqrt(variance)


def snapped(seed, raised):
    """Return arms, an agent whose S is above what its factor says, and a search that saw it."""
    arms, agent = random_arms(seed), linucb(gaussian.layout(2), ALPHA)
    agent.belief.S[:] += raised * np.eye(2)
    work = certified(arms)
    assert take(work.snapshot, agent.belief, arms, agent.z, -np.inf, ALPHA, 1.0, 2 * arms.K)
    return arms, agent, work


def total_margin(agent, arms, work):
    rho = measure(work.snapshot, agent.z)
    return margin(work.snapshot, arms, agent.z, rho, ALPHA) + width_margin(agent, arms, work)


@pytest.mark.parametrize("raised", [1e-5, 1e-2])
def test_a_margin_covers_a_covariance_that_is_not_that_of_the_snapshot(raised):
    arms, agent, work = snapped(3, raised)
    assert work.snapshot.scalars[MISFIT] >= 0.99 * raised
    exact = upper_confidence(agent, arms)
    slack = total_margin(agent, arms, work)
    found = bounds(work.snapshot, arms.K)
    assert (exact > found + 0.1 * raised * np.abs(exact)).any()
    assert (exact <= found + slack).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_snapshot_knows_how_far_W_is_from_a_root_of_S_to_the_last_bit(seed):
    live = fastes.LinUCB(ALPHA).start(fastes.LinearBandit.random(30, 2, seed=seed))
    live.observe(np.arange(20), np.zeros(20))
    arms, posterior = live.bandit.canonical.arms, live._state.belief
    known = snapshot(arms)
    assert take(known, posterior, arms, posterior.mu, -np.inf, ALPHA, 1.0, 2 * arms.K)
    W, square = [[Fraction(x) for x in row] for row in known.W], Fraction(0)
    for i, j in np.ndindex(2, 2):
        square += (Fraction(posterior.S[i, j]) - sum(row[i] * row[j] for row in W)) ** 2
    assert square <= Fraction(known.scalars[MISFIT]) ** 2


@pytest.mark.parametrize("raised", [1e-5, 1e-2])
def test_a_margin_covers_a_covariance_that_has_risen_since(raised):
    arms, agent, work = snapped(4, 0.0)
    agent.variance_drift[0] = work.snapshot.scalars[DRIFT] = 0.25  # as it was at the snapshot
    before = total_margin(agent, arms, work)
    agent.belief.S[:] += raised * np.eye(2)
    agent.variance_drift[0] += raised
    exact, slack = upper_confidence(agent, arms), total_margin(agent, arms, work)
    found = bounds(work.snapshot, arms.K)
    assert (exact > found + before).any()
    assert (exact <= found + slack).all()


def test_a_search_certifies_no_arm_that_the_drift_leaves_in_doubt():
    # At the snapshot the first arms are the longest, and the best; then the variance of the first
    # coordinate rises, which favours arms that are looked at last.
    angle = np.linspace(0.0, np.pi / 2, 576)
    b = np.vstack([np.tile([0.0, 1.01], (64, 1)), np.column_stack([np.cos(angle), np.sin(angle)])])
    b[0] *= 1.001
    arms, agent = arms_of(b), linucb(gaussian.layout(2), ALPHA)
    work = certified(arms)
    assert take(work.snapshot, agent.belief, arms, agent.z, -np.inf, ALPHA, 1.0, 2 * arms.K)
    best, ties, _ = search(agent, arms, work, np.inf)
    assert ties == 1
    assert best == pytest.approx(upper_confidence(agent, arms).max())
    agent.belief.S[0, 0] += 0.5
    agent.variance_drift[0] += 0.5
    best, ties, _ = search(agent, arms, work, np.inf)
    assert ties == 0 or best == pytest.approx(upper_confidence(agent, arms).max())


def test_a_snapshot_notes_the_drift_of_its_moment():
    arms, agent, work = snapped(5, 0.0)
    agent.variance_drift[0] = 0.125
    add_step_cost(work.schedule, 0, 2, 1.0, 1.0)
    certificate.retake_snapshot(work, agent, arms)
    assert work.snapshot.scalars[DRIFT] == 0.125


def rise(before, after, b):
    """Return by how much b'S b / b'b rose, exactly."""
    r = range(len(b))
    total = sum(
        (Fraction(after[i, j]) - Fraction(before[i, j])) * b[i] * b[j] for i in r for j in r
    )
    return total / sum(x * x for x in b)


def test_the_drift_of_linucb_covers_what_rounding_adds_to_a_variance():
    # Rewards that tell too little to be seen on the diagonal of S, and not too little beside it:
    # the variance of (1, -1) rises by 2^-54 a step.
    live = fastes.LinUCB(ALPHA).start(fastes.LinearBandit(np.full((2, 2), 2.0**-27)))
    state = live._state
    before = state.belief.S.copy()
    live.observe([0] * 50, [0.0] * 50)
    risen = rise(before, state.belief.S, [1, -1])
    assert 0 < risen <= Fraction(state.variance_drift[0])


@pytest.mark.parametrize("lost", [1e-9, 1e-3, 0.3])
def test_the_drift_of_linucb_covers_what_computing_afresh_adds_to_a_variance(lost):
    live = fastes.LinUCB(ALPHA).start(fastes.LinearBandit([[0.3, -1.0], [1.0, 0.2]]))
    posterior, drift = live._state.belief, live._state.variance_drift
    for _ in range(posterior.since_refactor[2] - 1):
        live.observe(0, 0.0)
    posterior.S[:] *= 1.0 - lost  # as if rounding had taken so much off
    before, drifted = posterior.S.copy(), drift[0]
    live.observe(0, 0.0)
    assert posterior.since_refactor[0] == 0
    largest = np.linalg.eigvalsh(posterior.S - before)[-1]
    assert 0.5 * lost < largest <= drift[0] - drifted
