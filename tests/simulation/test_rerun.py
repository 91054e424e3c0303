"""A result can be done again from its file alone, to the bit."""

import numpy as np
import pytest
from bandits import BANDITS
from every_agent import AGENTS

import fastes
from fastes.simulation.rerun import rerun, why_different

RNG = np.random.default_rng(7)


def again(result, path, threads=1):
    """Return how a result that is saved, loaded and done again differs, agent by agent."""
    result.save(path)
    loaded = fastes.load(path)
    new = rerun(loaded, threads=threads)
    pairs = zip(loaded, new, strict=True) if len_of(loaded) > 1 else [(loaded, new)]
    return [why_different(old, each) for old, each in pairs]


def len_of(result):
    return len(result) if isinstance(result, fastes.Comparison) else 1


@pytest.mark.parametrize("name", BANDITS)
def test_every_kind_of_problem_is_done_again_to_the_bit(name, tmp_path):
    result = fastes.simulate(BANDITS[name], fastes.ThompsonSampling(), T=40, runs=3, threads=2)
    assert again(result, tmp_path / "r.npz") == [None]


def test_every_agent_is_done_again_to_the_bit(tmp_path):
    bandit = fastes.LinearBandit.random(30, 4, "gaussian", prior_cov=2.0, seed=5)
    comparison = fastes.compare(bandit, AGENTS, T=50, runs=4, seed=9, threads=2)
    assert again(comparison, tmp_path / "r.npz") == [None] * len(AGENTS)


@pytest.mark.parametrize(
    "options",
    [
        {"theta": RNG.normal(size=4)},
        {"theta": RNG.normal(size=(5, 4))},
        {"points": 7},
        {"diagnostics": [0, 3, 29], "samples": 64},
        {"keep": "actions"},
        {"keep": ("actions", "rewards")},
    ],
    ids=lambda options: "-".join(options),
)
def test_every_kind_of_experiment_is_done_again_to_the_bit(options, tmp_path):
    bandit = fastes.LinearBandit(RNG.normal(size=(20, 4)), prior_cov=np.diag([1.0, 2, 3, 4]))
    agents = [fastes.EnsembleSampling(6), fastes.ThompsonSampling()]
    comparison = fastes.compare(bandit, agents, T=30, runs=5, seed=2, threads=2, **options)
    assert again(comparison, tmp_path / "r.npz", threads=3) == [None, None]


def test_a_resumed_result_is_done_again_to_the_bit(tmp_path):
    bandit = fastes.LinearBandit.random(12, 3)
    file = tmp_path / "run.ckpt"
    fastes.simulate(bandit, fastes.EnsembleSampling(4), T=20, runs=3, checkpoint=file)
    assert again(fastes.resume(file, T=45), tmp_path / "r.npz") == [None]


def test_a_study_is_done_again_to_the_bit(tmp_path):
    study = fastes.Study(agent=["es", "ts"], M=[2, 5], K=[4, 9], d=6, T=20, runs=8)
    sweep = fastes.sweep(study, tmp_path / "study.db", task_seconds=1e-4)
    for _, result in sweep.results():
        assert why_different(result, rerun(result, threads=2)) is None


def test_a_part_of_the_runs_is_done_again():
    bandit, agent = fastes.LinearBandit.random(12, 3), fastes.ThompsonSampling()
    whole = fastes.simulate(bandit, agent, T=30, runs=6)
    rows = np.array([1, 4])
    part = fastes.Result(
        whole.configuration._replace(runs=2),
        whole.t,
        fastes.results.regret.Regret(whole.regret.per_run[rows]),
        whole.counts,
        bandit,
        rows,
    )
    new = rerun(part)
    assert new.run_numbers.tolist() == [1, 4]
    assert np.array_equal(new.regret.per_run, whole.regret.per_run[rows])


def test_a_result_that_differs_says_which_version_does():
    bandit, agent = fastes.LinearBandit.random(12, 3), fastes.ThompsonSampling()
    old = fastes.simulate(bandit, agent, T=30, seed=1)
    new = fastes.simulate(bandit, agent, T=30, seed=2)
    assert "the versions are equal" in why_different(old, new)
    made = {**old.configuration.versions, "numba": "0.1"}
    other = fastes.Result(
        old.configuration._replace(versions=made), *[getattr(old, n) for n in _FIELDS]
    )
    assert "numba 0.1, here" in why_different(other, new)
    assert why_different(old, old) is None


_FIELDS = ("t", "regret", "counts", "problem", "run_numbers")


def test_a_result_holds_its_problem_as_few_numbers_where_it_was_drawn(tmp_path):
    bandit = fastes.LinearBandit.random(2_000, 50, seed=3)
    fastes.simulate(bandit, fastes.UniformRandom(), T=5).save(tmp_path / "r.npz")
    assert (tmp_path / "r.npz").stat().st_size < 50_000  # the arms alone take 800,000
    loaded = fastes.load(tmp_path / "r.npz")
    assert loaded.bandit.fingerprint == bandit.fingerprint
    assert loaded.bandit.action_set.drawn == ("sphere", 2_000, 50, 3)


def test_arms_that_are_drawn_otherwise_are_refused(tmp_path):
    fastes.simulate(fastes.LinearBandit.random(9, 2), fastes.Greedy(), T=5).save(tmp_path / "r.npz")
    loaded = fastes.load(tmp_path / "r.npz")
    parts = {**loaded.problem, "arms_seed": np.array(1, np.uint64)}
    other = fastes.Result(
        loaded.configuration, loaded.t, loaded.regret, loaded.counts, parts, loaded.run_numbers
    )
    with pytest.raises(ValueError, match="does not reproduce the random arms"):
        _ = other.bandit


def test_what_is_no_result_is_refused():
    with pytest.raises(TypeError, match="result must be a Result or a Comparison, got 3"):
        rerun(3)
