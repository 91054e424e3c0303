"""A normal belief that linearises rewards, against the reference and against SciPy."""

import numpy as np
import pytest
import reference
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents import greedy, linucb, thompson
from fastes.kernels.beliefs.families import Bernoulli, Gaussian, Poisson
from fastes.kernels.beliefs.gaussian.rewards import linearise, linearised
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.beliefs.interface import covariance_of, perturbation_root, perturbed_alike
from fastes.kernels.beliefs.memory import windowed, with_discount
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, observe
from fastes.kernels.streams.philox import source
from glm_runs import arms_of
from scipy import optimize

FAMILIES = {"bernoulli": Bernoulli(0.0), "poisson": Poisson(0.0), "gaussian": Gaussian(0.0)}
RULES = {
    "covariance": lambda belief: greedy.greedy(belief),
    "root": lambda belief: thompson.thompson(belief, 1.0),
    "drift": lambda belief: linucb.linucb(belief, 1.0),
}


def drawn(family, rng, value):
    mean, _ = reference.mean_and_variance(family, np.clip(value, -20, 8))
    if family == "gaussian":
        return float(value + rng.normal())
    return float(rng.random() < mean) if family == "bernoulli" else float(rng.poisson(float(mean)))


def learn(state, rows, offsets, rewards):
    """Let an agent learn rewards of these arms, in their order."""
    actions = FixedActions(arms_of(rows, offsets))
    numbers, count = np.arange(len(rows)), np.zeros(1, np.int64)
    live = Live(state, actions, None, source(0), count, np.zeros(rows.shape[1]))
    observe(boxed(live), numbers, rewards)


@pytest.mark.parametrize(
    ("family", "rule"),
    [
        # Code for each pair is compiled; what a rule keeps beside S does not depend on the family.
        pytest.param(family, rule, marks=[] if quick else pytest.mark.slow)
        for family in FAMILIES
        for rule in RULES
        for quick in (family == "bernoulli" or rule == "covariance",)
    ],
)
def test_each_reward_is_equation_1_for_its_linearised_row(family, rule):
    """Of 1, 3 and 9 dimensions, beyond the reward at which the belief is computed afresh."""
    for r, n, scale in ((1, 30, 1.0), (3, 300, 0.5), (9, 60, 1.5)):
        rng = np.random.default_rng(r)
        rows, z = scale * rng.normal(size=(n, r)), rng.normal(size=r)
        offsets = rng.normal(size=n) - 1.0
        rewards = np.array(
            [drawn(family, rng, o + b @ z) for o, b in zip(offsets, rows, strict=True)]
        )
        belief = gaussian.layout(r, rule == "root", linearised.layout(FAMILIES[family], r))
        state = RULES[rule](belief)
        learn(state, rows, offsets, rewards)
        mu, P = np.zeros(r), np.eye(r)
        for row, offset, reward in zip(rows, offsets, rewards, strict=True):
            S = np.linalg.inv(P)
            b, y = reference.linearised(family, mu, S, row, offset, reward)
            P = P + np.outer(b, b)
            mu = mu + np.linalg.solve(P, b) * (y - b @ mu)
        np.testing.assert_allclose(state.belief.mu, mu, atol=1e-9)
        np.testing.assert_allclose(covariance_of(state.belief), np.linalg.inv(P), atol=1e-9)
        root = np.linalg.norm(b) / np.linalg.norm(row)
        assert perturbation_root(state.belief) == pytest.approx(root)


MEMORIES = {
    **{f"discount-{gamma}": gamma for gamma in (1e-9, 1e-3, 0.9, 0.99, 1 - 1e-12)},
    **{f"window-{n}": n for n in (1, 7, 1000)},
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize(
    ("r", "T", "scale"),
    [(1, 1, 1.0), (3, 90, 0.7), (2, 60, 30.0), pytest.param(3, 300, 0.7, marks=pytest.mark.slow)],
)
def test_a_belief_that_forgets_linearises_at_what_is_left(memory, family, r, T, scale):
    """A discount fades the rows and prior before the next reward; a window drops the oldest row.

    With the scale of 30, a reward that leaves the window was most of what is known of its arm.
    """
    if family == "poisson" and scale > 1:
        scale = 4.0  # counts of a mean of up to e^8
    rng, kept = np.random.default_rng([r, T]), MEMORIES[memory]
    rows, z, offsets = scale * rng.normal(size=(T, r)), rng.normal(size=r), rng.normal(size=T) - 1
    rewards = [drawn(family, rng, o + b @ z) for o, b in zip(offsets, rows, strict=True)]
    is_window = memory.startswith("window")
    layout = windowed.layout(kept, r) if is_window else with_discount(kept)
    rule, n = ("root", 0) if is_window else ("covariance", reference.period(kept))
    belief = gaussian.layout(r, is_window, linearised.layout(FAMILIES[family], r), layout)
    state, past = RULES[rule](belief), []
    P, eta = np.eye(r), np.zeros(r)
    for t in range(T):
        if is_window:
            past = past[max(0, len(past) - kept + 1) :]
            P = np.eye(r) + sum((np.outer(b, b) for b, _ in past), np.zeros((r, r)))
            eta = sum((y * b for b, y in past), np.zeros(r))
            mu = np.linalg.solve(P, eta)
        else:
            mu, P, eta = np.linalg.solve(P, eta), kept * P, kept * eta
        b, y = reference.linearised(family, mu, np.linalg.inv(P), rows[t], offsets[t], rewards[t])
        past.append((b, y))
        P, eta = P + np.outer(b, b), eta + y * b
        if not is_window and (t + 1) % n == 0:
            P = P + (1 - kept**n) * np.eye(r)
        learn(state, rows[t : t + 1], offsets[t : t + 1], np.array(rewards[t : t + 1]))
        np.testing.assert_allclose(state.belief.mu, np.linalg.solve(P, eta), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(covariance_of(state.belief), np.linalg.inv(P), atol=1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_new_mean_is_the_mode_of_the_old_belief_times_the_density(family):
    rng = np.random.default_rng(5)
    r = 4
    rows, rewards = rng.normal(size=(6, r)), np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    state = RULES["covariance"](gaussian.layout(r, False, linearised.layout(FAMILIES[family], r)))
    learn(state, rows[:5], np.zeros(5), rewards[:5])
    mu, P = state.belief.mu.copy(), np.linalg.inv(state.belief.S)
    psi = {
        "bernoulli": lambda v: np.logaddexp(0, v),
        "poisson": np.exp,
        "gaussian": lambda v: v**2 / 2,
    }[family]

    def minus_log_density(z):
        value = rows[5] @ z
        return (z - mu) @ P @ (z - mu) / 2 + psi(value) - rewards[5] * value

    best = optimize.minimize(minus_log_density, mu, method="BFGS", options={"gtol": 1e-9}).x
    learn(state, rows[5:], np.zeros(1), rewards[5:])
    np.testing.assert_allclose(state.belief.mu, best, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "offset", "length", "reward"),
    [
        ("bernoulli", 0.0, 1e-6, 1.0),
        ("bernoulli", 0.0, 1e3, 1.0),
        ("bernoulli", 50.0, 1e3, 0.0),
        ("bernoulli", 700.0, 1.0, 1.0),
        ("bernoulli", -900.0, 1e-3, 0.0),
        ("poisson", -8.0, 2.5, 1e6),
        ("poisson", 0.0, 10.0, 1e8),
        ("poisson", 40.0, 1.0, 0.0),
        ("poisson", 199.0, 1e2, 0.0),
        ("poisson", -300.0, 1e3, 3.0),
        ("gaussian", 5.0, 0.0, 1.0),
    ],
)
def test_hostile_rewards_are_linearised_where_they_are_the_most_plausible(
    family, offset, length, reward
):
    belief = gaussian(1, False, linearised.layout(FAMILIES[family], 1))
    row = np.array([length])
    pay = linearise(belief, row, offset, reward)
    v = belief.rewards.last[0] ** 2
    # What the update makes of it: eta* from which the slope leads back to where it began.
    shift = length * v**0.5 * length * pay / (1 + v * length**2)
    mean, variance = reference.mean_and_variance(family, offset + shift)
    gap = shift - length**2 * (reward - float(mean))
    assert abs(gap) / (1 + length**2 * float(variance)) <= 1e-9 * max(1.0, abs(offset + shift))
    assert v == pytest.approx(max(float(variance), 1e-280), rel=1e-6)


def test_what_is_linearised_has_a_variance_of_its_own():
    assert perturbed_alike(gaussian(2))
    assert not perturbed_alike(gaussian(2, False, linearised.layout(Bernoulli(0.0), 2)))
    assert perturbation_root(gaussian(2)) == 1.0
