"""Diagnostics where rewards are not Gaussian: against quadrature, by laws, on the smallest."""

import functools
import itertools
import json
import math

import numpy as np
import pytest
import reference
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, observe
from fastes.kernels.streams.philox import source

import fastes
from fastes.agents import action_law
from fastes.files.archive import load_arrays, save_arrays
from fastes.files.kinds import FileFormatError
from fastes.problem.rewards import BernoulliRewards, PoissonRewards
from fastes.results.comparison import Comparison
from fastes.theory import measures
from fastes.theory import weighted_draws as module
from fastes.theory.inequalities import inequalities
from fastes.theory.tables import inequalities_tables
from fastes.theory.weighted_draws import Information, best_by_weights, mutual_information

LOGISTIC = fastes.LogisticBandit.random(K=6, d=3, prior_cov=4.0, seed=2)
POISSON = fastes.PoissonBandit.random(K=6, d=3, prior_cov=0.6, seed=2)
BANDITS = {"bernoulli": LOGISTIC, "poisson": POISSON}
METROPOLIS = fastes.ThompsonSampling(sampler="metropolis")
AGENTS = [
    fastes.EnsembleSampling(7),
    fastes.EnsembleSampling(7, engine="eager"),
    fastes.ThompsonSampling(),
    METROPOLIS,
    fastes.LinUCB(),
    fastes.UniformRandom(),
]
_COUNTS = [AGENTS[0], METROPOLIS]
RUNS = 200
each_law = pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)


def each_agent(agents):
    """Parametrize a test by a bandit and an agent; for counts most agents are slow.

    Code for each pair is compiled, and what draws rewards is the same for all agents.
    """
    return pytest.mark.parametrize(
        ("bandit", "agent"),
        [
            pytest.param(
                *(bandit, agent),
                marks=[] if name == "bernoulli" or agent in _COUNTS else pytest.mark.slow,
                id=f"{name}-{agent}",
            )
            for name, bandit in BANDITS.items()
            for agent in agents
        ],
    )


@pytest.fixture(autouse=True)
def few_models(monkeypatch):
    """512 models are drawn for a law of action: each is a chain of its own, or a solution."""
    monkeypatch.setattr(action_law, "DRAWS", 512)


def belief_of(bandit, plays):
    """Return a belief that has seen rewards of arms, and the data for the reference."""
    state = fastes.Greedy().initial_state(bandit.K, bandit.rank, source(0), 0, bandit.rewards)
    arms = np.array([arm for arm, _ in plays], np.int64)
    rewards = np.array([float(reward) for _, reward in plays])
    row, count = np.empty(bandit.rank), np.zeros(1, np.int64)
    actions = FixedActions(bandit.canonical.arms)
    observe(boxed(Live(state, actions, None, source(0), count, row)), arms, rewards)
    rows, offsets = bandit.canonical.rows_and_offsets()
    n = np.bincount(arms, minlength=bandit.K).astype(float)
    y = np.bincount(arms, rewards, bandit.K)
    return state.belief, reference.Plays(bandit.rewards.name, rows, offsets, n, y)


LINE = [[1.0], [-0.6], [2.0]]
PLANE = [[1.0, 0.0], [0.2, 1.1], [-0.8, 0.5], [0.5, 0.5]]
CASES = {
    "line": (fastes.LogisticBandit(LINE, 0.3, 2.0), [(0, 1), (0, 0), (1, 0), (1, 0), (2, 0)]),
    "plane": (
        fastes.LogisticBandit(PLANE, 0.2, 3.0),
        [(0, 0)] * 8 + [(1, 1), (1, 0), (2, 1), (3, 0), (3, 0)],
    ),
    "rare": (fastes.LogisticBandit(PLANE, [-2.0, -1.0], 4.0), [(0, 0)] * 30 + [(1, 1)]),
    "counts on a line": (fastes.PoissonBandit(LINE, 0.3, 0.5), [(0, 2), (1, 0), (2, 3)]),
    "counts": (fastes.PoissonBandit(PLANE, 0.2, 0.5), [(0, 3), (0, 1), (1, 0), (2, 2), (2, 1)]),
}


@pytest.mark.parametrize("case", CASES)
def test_they_say_what_quadrature_does(case):
    """Of 24 probes, at 4.5 standard errors of their mean, and 1e-4 for what the grid leaves."""
    bandit, plays = CASES[case]
    belief, data = belief_of(bandit, plays)
    axis = np.linspace(-7, 7, 3001 if bandit.rank == 1 else 281)
    points = np.stack(np.meshgrid(*[axis] * bandit.rank), -1).reshape(-1, bandit.rank)
    rewards = 2 if bandit.rewards.name == "bernoulli" else 60
    p, values, expected, information = reference.best_arm(
        data, data.rows, data.offsets, points, rewards
    )
    q = np.full(bandit.K, 1.0 / bandit.K)
    found = [best_by_weights(bandit, belief, source(3), t, 2048, q) for t in range(24)]
    for name, exact in (
        ("p", p),
        ("values", values),
        ("expected", expected),
        ("information", q @ information),
    ):
        drawn = np.array([getattr(each, name) for each in found])
        error = drawn.std(axis=0, ddof=1) / math.sqrt(24)
        # Cells of the grid are some hundredths wide: arms meet inside of them.
        slack = 2e-3 * max(1.0, np.abs(exact).max()) if bandit.rank == 2 else 1e-4
        assert (np.abs(drawn.mean(axis=0) - exact) < 4.5 * error + slack).all()
    assert all(1000 < each.draws <= 2048 for each in found)
    # The errors that are claimed are those there are.
    claimed = np.mean([each.law.variance * each.p**2 for each in found], axis=0)
    spread = np.var([each.p for each in found], axis=0, ddof=1)
    seen = p > 0.01
    assert (np.abs(np.log(spread[seen] / claimed[seen])) < 1.5).all()


def test_few_draws_give_the_information_of_many():
    """Of 6,000 probes of 32 draws and 160 of 4,096, at 4.5 standard errors of the difference.

    What is taken off on average is twice that.
    """
    bandit, plays = CASES["counts"]
    belief, _ = belief_of(bandit, plays)
    q = np.full(bandit.K, 1.0 / bandit.K)
    few, many = (
        np.array(
            [best_by_weights(bandit, belief, source(3), t, n, q).information for t in range(probes)]
        )
        for n, probes in ((32, 6000), (4096, 160))
    )
    error = math.hypot(few.std() / math.sqrt(6000), many.std() / math.sqrt(160))
    assert error < 2e-4
    assert abs(few.mean() - many.mean()) < 4.5 * error


def test_information_is_that_of_all_outcomes_enumerated():
    """Of three points, each drawn twice: both halves are alike, and nothing is to be corrected."""
    value = np.repeat([[0.5, -1.0], [2.0, 0.1], [-0.3, 0.4]], 2, axis=0)
    w = np.repeat([0.2, 0.5, 0.3], 2) / 2
    best = np.argmax(value, axis=1)
    for rewards, outcomes in ((BernoulliRewards(), 2), (PoissonRewards(), 80)):
        told = Information(rewards, best, w)
        for arm, share in ((0, 0.25), (1, 0.75)):
            told.add(share, value[:, arm])
        joint = np.zeros((2, outcomes, 2))
        for arm, y, i in itertools.product(range(2), range(outcomes), range(6)):
            mean = math.exp(value[i, arm])
            if outcomes == 2:
                chance = (mean if y else 1.0) / (1.0 + mean)
            else:
                chance = math.exp(-mean) * mean**y / math.factorial(y)
            joint[arm, y, best[i]] += w[i] * chance
        joint /= joint.sum(axis=(1, 2), keepdims=True)
        exact = [0.25, 0.75] @ measures.mutual_information(joint)
        assert told.total == pytest.approx(exact, rel=1e-9)


def test_mutual_information_of_numbers_in_proportion():
    joint = np.array([[0.1, 0.0, 0.2], [0.3, 0.4, 0.0]])
    exact = measures.mutual_information(joint)
    assert mutual_information(7.0 * joint) == pytest.approx(exact, rel=1e-12)
    assert mutual_information(np.outer([1, 2], [3, 4, 5])) == pytest.approx(0, abs=1e-12)


@functools.cache
def watched(bandit, agent):
    """Return a result with measurements of every step of many runs."""
    return fastes.simulate(bandit, agent, T=6, runs=RUNS, seed=5, diagnostics=range(6), samples=512)


@each_agent(AGENTS)
def test_steps_lose_what_they_are_expected_to(bandit, agent):
    """G_t + D_t and the regret given theta have one mean: 4.5 standard errors, step by step."""
    seen = watched(bandit, agent).diagnostics
    gap = seen.values("step_regret") - seen.values("regret")
    assert (np.abs(gap.mean(axis=0)) < 4.5 * gap.std(axis=0) / math.sqrt(RUNS)).all()


@each_agent(AGENTS)
def test_the_information_gained_is_the_entropy_lost(bandit, agent):
    """As of normal rewards: 4.5 standard errors, and a hundredth for what corrections leave."""
    seen = watched(bandit, agent).diagnostics
    entropy, information = seen.values("entropy"), seen.values("information")[:, :-1]
    gap = entropy[:, 0] - entropy[:, -1] - information.sum(axis=1)
    assert abs(gap.mean()) < 4.5 * gap.std() / math.sqrt(RUNS) + 0.01 * entropy[:, 0].mean()


@pytest.mark.parametrize(
    "bandit", [LOGISTIC, pytest.param(POISSON, marks=pytest.mark.slow)], ids=BANDITS
)
def test_distances_are_what_they_should_be(bandit):
    """None for the Markov chain, little for Laplace, and all for play that misses the best arms."""
    distance = {
        agent.label: watched(bandit, agent).diagnostics.mean("hellinger_squared")
        for agent in AGENTS
    }
    exact, laplace = distance["TS, sampler=metropolis"], distance["TS"]
    assert (np.abs(exact.value) < 4.5 * exact.se + 1e-3).all()
    assert (np.abs(laplace.value) < 0.03).all()
    assert (distance["LinUCB, alpha=1"].value[1:] > 0.3).all()
    seen = watched(bandit, fastes.UniformRandom()).diagnostics
    assert (seen.values("hellinger_squared") <= seen.values("kl_phat_p") + 0.01)[
        np.isfinite(seen.values("kl_phat_p"))
    ].all()


OTHERS = [fastes.PerturbedHistory(), fastes.EnsemblePlusPlus(5), fastes.EpsilonGreedy(0.2)]


@each_agent([*AGENTS, *OTHERS])
def test_diagnostics_change_no_action(bandit, agent):
    plain = fastes.simulate(bandit, agent, T=30, runs=3, seed=2)
    seen = fastes.simulate(bandit, agent, T=30, runs=3, seed=2, diagnostics=[0, 5, 29], samples=64)
    assert (plain.regret.per_run == seen.regret.per_run).all()
    assert (plain.counts == seen.counts).all()


def test_exceedance_compares_mean_rewards():
    """At t = 0, models from the prior: the share whose best click rate is at least the true one."""
    agent = fastes.ThompsonSampling()
    result = fastes.simulate(LOGISTIC, agent, T=1, runs=400, diagnostics=[0], samples=64)
    found = result.diagnostics.mean("exceedance")
    assert abs(found.value[0] - 0.5) < 4.5 * found.se[0]


HOSTILE = {
    "one arm": fastes.LogisticBandit([[1.0]]),
    "zero arm": fastes.LogisticBandit([[0.0, 0.0]]),
    "zero arms": fastes.PoissonBandit(np.zeros((3, 2)), 0.1),
    "duplicate arms": fastes.LogisticBandit([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    "nothing to learn": fastes.LogisticBandit([[1.0], [2.0]], 0.5, 0.0),
    "one count": fastes.PoissonBandit([[1.0]]),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("agent", [AGENTS[0], METROPOLIS, AGENTS[-1]], ids=str)
def test_the_smallest_problems(name, agent):
    bandit = HOSTILE[name]
    result = fastes.simulate(bandit, agent, T=4, runs=3, diagnostics=[0, 3], samples=64)
    found = result.diagnostics
    for quantity in ("hellinger_squared", "entropy", "main_regret", "approximation_error"):
        assert np.isfinite(found.values(quantity)).all()
    assert (found.values("regret") >= -1e-12).all()
    assert (np.abs(found.values("information")) < 0.5).all()
    if bandit.K == 1:
        assert np.abs(found.values("entropy")).max() < 1e-12
        assert np.abs(found.values("information")).max() < 1e-12
    inequalities_tables(Comparison((result,)), [inequalities(result)])


def test_equal_arms_share_a_probability():
    bandit = HOSTILE["duplicate arms"]
    belief, _ = belief_of(bandit, [(0, 1), (1, 0), (2, 1)])
    found = best_by_weights(bandit, belief, source(1), 0, 4096, np.full(4, 0.25))
    assert found.p[0] == found.p[1]
    assert found.p.sum() == pytest.approx(1.0)
    assert found.expected[0] == found.expected[1]
    assert found.values[0] == found.values[1]


def test_nothing_is_claimed_where_the_draws_are_worth_too_little():
    """Long arms that clicks separate: all weight is on a few draws."""
    rng = np.random.default_rng(5)
    rows = 1e3 * rng.normal(size=(12, 3))
    bandit = fastes.LogisticBandit(rows)
    belief, _ = belief_of(bandit, [(arm, rows[arm, 0] > 0) for arm in range(12)] * 40)
    found = best_by_weights(bandit, belief, source(1), 0, 1024, np.full(12, 1 / 12))
    assert found.draws < 64
    assert np.isnan(found.p).all()
    assert np.isnan(found.information)
    agent = fastes.UniformRandom()
    result = fastes.simulate(
        bandit, agent, T=300, runs=3, diagnostics=[299], samples=1024, theta=[1.0, 0.0, 0.0]
    )
    seen = result.diagnostics
    assert (seen.values("effective_samples") < 64).all()
    for name in ("hellinger_squared", "kl_phat_p", "kl_p_phat", "entropy", "information"):
        assert seen.mean(name).unknown.tolist() == [3]
    assert np.isfinite(seen.values("regret")).all()


def test_counts_too_large_to_enumerate_have_no_information():
    bandit = fastes.PoissonBandit([[1.0], [0.9]], 18.0, 1.0)
    seen = fastes.simulate(bandit, fastes.UniformRandom(), T=1, diagnostics=[0]).diagnostics
    assert np.isnan(seen.values("information")).all()
    assert np.isfinite(seen.values("entropy")).all()


def test_information_that_takes_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(module, "_AFFORDABLE", 4000)
    seen = fastes.simulate(LOGISTIC, AGENTS[0], T=1, diagnostics=[0], samples=512).diagnostics
    assert np.isnan(seen.values("information")).all()
    assert np.isfinite(seen.values("step_regret")).all()


@each_law
def test_results_with_diagnostics_come_back(bandit, tmp_path):
    result = watched(bandit, AGENTS[0])
    result.save(tmp_path / "r.npz")
    read = fastes.load(tmp_path / "r.npz")
    assert read.diagnostics.constants is None
    ours, theirs = (json.dumps(inequalities(each)) for each in (result, read))
    assert ours == theirs
    table = inequalities(read)
    assert table["bounds"] is None
    assert table["information_of_phat"] is None
    assert min(table["effective_samples"]["mean"]) > 300
    assert "theorem2_of_phat" not in table["totals"]
    lines = [str(part) for part in inequalities_tables(Comparison((read,)), [table])]
    assert "No bounds: they hold for Gaussian rewards only." in lines
    fastes.report(read, tmp_path / "r.html")
    assert "Diagnostics" in (tmp_path / "r.html").read_text()


def test_files_from_before_there_were_weighted_draws(tmp_path):
    bandit = fastes.LinearBandit.random(4, 2)
    result = fastes.simulate(bandit, fastes.Greedy(), T=3, runs=2, diagnostics=[0, 2])
    result.save(tmp_path / "r.npz")
    meta, arrays = load_arrays(tmp_path / "r.npz", "result")
    for name in ("effective_samples", "entropy"):
        del arrays[f"probe_{name}_0"]
        if name == "effective_samples":
            save_arrays(tmp_path / "old.npz", "result", meta, arrays)
            read = fastes.load(tmp_path / "old.npz").diagnostics
            assert np.isnan(read.values("effective_samples")).all()
            assert (read.values("entropy") == result.diagnostics.values("entropy")).all()
    save_arrays(tmp_path / "damaged.npz", "result", meta, arrays)
    with pytest.raises(FileFormatError):
        fastes.load(tmp_path / "damaged.npz")


def test_a_checkpoint_goes_on_with_the_same_measurements(tmp_path):
    options = {"T": 12, "runs": 3, "diagnostics": [0, 5, 11], "samples": 64}
    plain = fastes.simulate(LOGISTIC, METROPOLIS, **options)
    kept = fastes.simulate(LOGISTIC, METROPOLIS, **options, checkpoint=tmp_path / "c.ckpt")
    for ours, theirs in zip(plain.diagnostics.per_run, kept.diagnostics.per_run, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_not_to_be_had_is_refused():
    for agent in (fastes.ThompsonSampling(belief="online"), fastes.Greedy(belief="online")):
        with pytest.raises(ValueError, match="which belief 'online' does not keep, got"):
            fastes.simulate(LOGISTIC, agent, T=5, diagnostics=[0])
    changing = fastes.LogisticBandit(fastes.actions.Fresh(4, 2))
    with pytest.raises(ValueError, match="diagnostics need a fixed set of arms, got"):
        fastes.simulate(changing, fastes.Greedy(belief="exact"), T=5, diagnostics=[0])
    with pytest.raises(ValueError, match="the paper's bounds are for gaussian rewards, got Log"):
        fastes.theory.constants.constants(LOGISTIC)
