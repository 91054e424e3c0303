import threading
import time
import tracemalloc

import numpy as np
import pytest
from bandits import BANDITS
from engine import start
from every_agent import AGENTS, in_batches
from hypothesis import given
from hypothesis import strategies as st

import fastes
from fastes.simulation import plan, shared_update
from fastes.simulation.recording import recording_times

LOCKSTEP = [agent for agent in AGENTS if plan.runs_in_lockstep(agent, 2000, 100, 100)]
SHORT = [agent for agent in AGENTS if plan._is_short(agent, 10, 5, 90)]
BANDIT = BANDITS["more than a tile"]


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_threads_change_no_bit(agent):
    results = [fastes.simulate(BANDIT, agent, T=150, runs=7, seed=3, threads=n) for n in (1, 2, 3)]
    for result in results[1:]:
        assert (result.regret.per_run == results[0].regret.per_run).all()
        assert (result.counts == results[0].counts).all()


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_run_i_of_few_is_run_i_of_many(agent):
    few = fastes.simulate(BANDIT, agent, T=60, runs=3, seed=3)
    many = fastes.simulate(BANDIT, agent, T=60, runs=30, seed=3)
    assert (few.regret.per_run == many.regret.per_run[:3]).all()


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("lengths", [[1] * 150, [150], [7] * 21 + [3], [64, 1, 63, 22]], ids=len)
def test_slices_change_no_bit(agent, lengths):
    whole = fastes.simulate(BANDIT, agent, T=150, seed=8, points=2000)
    run = start(BANDIT, agent, 150, seed=8)
    t = 0
    for length in lengths:
        run.advance(t, t + length)
        t += length
    assert t == 150
    assert (BANDIT.noise * run.record.regret[whole.t - 1] == whole.regret.per_run[0]).all()


@pytest.mark.parametrize("M", [1, 70, 600])
@pytest.mark.parametrize("name", ["smallest", "duplicate arms", "zero arm", "more than a tile"])
def test_a_shared_update_changes_no_bit(M, name, monkeypatch):
    bandit, agent = BANDITS[name], fastes.EnsembleSampling(M, engine="eager")
    alone = fastes.simulate(bandit, agent, T=140, seed=8, threads=1)
    monkeypatch.setattr(plan, "_WORTH_SHARING", 0.0)
    reached = []
    advance = shared_update.SharedUpdate.advance
    monkeypatch.setattr(
        shared_update.SharedUpdate, "advance", lambda *a: reached.append(advance(*a)) or reached[-1]
    )
    together = fastes.simulate(bandit, agent, T=140, seed=8, threads=3)
    assert reached[-1] == 140
    assert (alone.regret.per_run == together.regret.per_run).all()
    assert (alone.counts == together.counts).all()


@pytest.mark.parametrize("agent", in_batches(LOCKSTEP))
@pytest.mark.parametrize("name", BANDITS)
def test_runs_in_lockstep_are_runs_alone(agent, name, monkeypatch):
    bandit = BANDITS[name]
    alone = fastes.simulate(bandit, agent, T=90, runs=11, seed=8, threads=1)
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: True)
    for threads in (1, 2):
        together = fastes.simulate(bandit, agent, T=90, runs=11, seed=8, threads=threads)
        assert (alone.regret.per_run == together.regret.per_run).all()
        assert (alone.counts == together.counts).all()


@pytest.mark.parametrize("agent", in_batches(SHORT))
@pytest.mark.parametrize("name", BANDITS)
def test_short_runs_in_one_call_are_runs_alone(agent, name, monkeypatch):
    bandit = BANDITS[name]
    alone = fastes.simulate(bandit, agent, T=90, runs=11, seed=8, threads=1)
    monkeypatch.setattr(plan, "_MANY_RUNS", 1)
    for threads in (1, 2):
        together = fastes.simulate(bandit, agent, T=90, runs=11, seed=8, threads=threads)
        assert (alone.regret.per_run == together.regret.per_run).all()
        assert (alone.counts == together.counts).all()


def test_runs_in_lockstep_are_runs_alone_where_single_precision_sees_ties(monkeypatch):
    # Arms of which single precision finds another one the best than double precision does.
    rng = np.random.default_rng(7)
    bandit = fastes.LinearBandit(rng.normal(size=3) + 1e-8 * rng.normal(size=(300, 3)))
    agent = fastes.ThompsonSampling()
    alone = fastes.simulate(bandit, agent, T=12, runs=5, seed=8, threads=1)
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: True)
    together = fastes.simulate(bandit, agent, T=12, runs=5, seed=8, threads=1)
    assert (alone.counts == together.counts).all()


def test_runs_in_lockstep_are_runs_alone_for_many_arms_and_horizons_that_refactor():
    bandit = fastes.LinearBandit.random(1500, 40)
    for agent in (fastes.ThompsonSampling(), fastes.EnsembleSampling(30), fastes.Greedy()):
        assert plan.runs_in_lockstep(agent, bandit.K, bandit.rank, 400)
        together = fastes.simulate(bandit, agent, T=400, runs=6, threads=1)
        one = fastes.simulate(bandit, agent, T=400, runs=1)
        assert (together.regret.per_run[0] == one.regret.per_run[0]).all()
        assert together.counts.sum() == 6 * 400


def test_agents_under_one_seed_face_the_same_theta_and_noise():
    one_arm = BANDITS["one arm"]
    runs = [start(one_arm, agent, 30, seed=4) for agent in AGENTS[:-1]]
    for run in runs:
        run.advance(0, 30)
        assert (run.environment.means == runs[0].environment.means).all()
        assert run.state.belief.mu == pytest.approx(runs[0].state.belief.mu, rel=1e-12)


def test_a_longer_horizon_goes_on_from_the_shorter():
    short = fastes.simulate(BANDIT, fastes.EnsembleSampling(9), T=50, runs=4)
    long = fastes.simulate(BANDIT, fastes.EnsembleSampling(9), T=200, runs=4, points=5000)
    at = np.flatnonzero(long.t == 50)[0]
    assert (long.regret.per_run[:, at] == short.regret.final).all()


def test_seeds_and_runs_differ():
    result = fastes.simulate(BANDIT, fastes.ThompsonSampling(), T=50, runs=40, seed=1)
    other = fastes.simulate(BANDIT, fastes.ThompsonSampling(), T=50, runs=40, seed=2)
    assert len(set(result.regret.final) | set(other.regret.final)) == 80


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_regret_never_falls_and_every_step_is_counted(agent, name):
    result = fastes.simulate(BANDITS[name], agent, T=70, runs=3)
    per_run = result.regret.per_run
    assert np.isfinite(per_run).all()
    assert (per_run >= 0).all()
    assert (np.diff(per_run, axis=1) >= 0).all()
    assert result.counts.sum() == 70 * 3
    assert result.counts.shape == (BANDITS[name].K,)


def test_a_fixed_theta_is_used_in_all_runs():
    actions = np.eye(3)
    bandit = fastes.LinearBandit(actions, noise=0.01)
    result = fastes.simulate(bandit, fastes.UniformRandom(), T=30, runs=50, theta=[0.0, 0.0, 9.0])
    assert set(np.round(result.regret.final / 9.0, 9)) <= {float(n) for n in range(31)}
    assert result.configuration.theta.startswith("fixed, ")


def test_each_run_may_have_its_own_theta():
    bandit = fastes.LinearBandit(np.eye(2))
    theta = np.array([[1.0, 0.0], [0.0, 5.0], [2.0, 2.0]])
    result = fastes.simulate(bandit, fastes.UniformRandom(), T=40, runs=3, theta=theta)
    gaps = [1.0, 5.0, 0.0]
    for final, gap in zip(result.regret.final, gaps, strict=True):
        assert final == pytest.approx(gap * round(final / gap) if gap else 0.0, abs=1e-9)


def test_a_fixed_theta_outside_the_prior_s_support_is_played_as_it_is():
    bandit = fastes.LinearBandit(np.eye(2), prior_cov=[1.0, 0.0])
    result = fastes.simulate(bandit, fastes.Greedy(), T=20, theta=[0.0, 7.0])
    assert result.regret.final[0] > 0


@given(st.integers(1, 10**15), st.integers(1, 3000))
def test_recording_times_increase_to_T(T, points):
    times = recording_times(T, points)
    assert times[-1] == T
    assert times[0] >= 1
    assert (np.diff(times) > 0).all()
    assert len(times) <= min(T, points + 1)
    if points >= 200 and T >= 10**6:
        assert len(times) >= 0.4 * points
        assert times[0] == 1


@given(st.integers(1, 10**15), st.integers(0, 10**15), st.integers(1, 3000))
def test_recording_times_are_nested(T, more, points):
    short, long = recording_times(T, points), recording_times(T + more, points)
    assert set(long[long <= T]) <= set(short)


@pytest.mark.parametrize("T", [10**6, 4 * 10**6, 2**50])
def test_the_memory_of_recording_times_is_asked_for_first(T, monkeypatch):
    monkeypatch.setattr("fastes.checks.memory.available_bytes", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"a record at 1,000,00\d times needs 0.02 GiB, but only"):
        recording_times(T, 10**6)
    monkeypatch.undo()
    tracemalloc.start()
    times = recording_times(T, 10**6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(times) > 0.25 * 10**6
    assert peak <= 24 * (10**6 + 1) + 500_000


def test_recording_times_are_as_dense_as_was_asked_for():
    assert recording_times(1024, 8).tolist() == [1, 16, 256, 512, 768, 1024]
    assert recording_times(1000, 8).tolist() == [1, 16, 256, 512, 768, 1000]


def test_progress_is_reported_and_ends_at_the_total():
    # A run may be done before the first report is due, if this thread has to wait for its turn.
    for T in (200_000, 2_000_000, 20_000_000):
        seen = []
        fastes.simulate(
            BANDIT, fastes.ThompsonSampling(), T=T, runs=2, threads=1, progress=seen.append
        )
        if len(seen) >= 2:
            break
    assert len(seen) >= 2
    assert seen[-1].steps == seen[-1].total == 2 * T
    assert [p.steps for p in seen] == sorted(p.steps for p in seen)
    assert seen[-1].regret_per_step > 0


def test_an_interrupt_stops_a_long_run_within_a_second():
    class InterruptError(Exception):
        pass

    stopped = []

    def interrupt(progress):
        if progress.steps > 0 and not stopped:
            stopped.append(time.process_time())
            raise InterruptError

    before = set(threading.enumerate())
    with pytest.raises(InterruptError):
        fastes.simulate(BANDIT, fastes.ThompsonSampling(), T=10**9, runs=4, progress=interrupt)
    # In CPU time, of which other processes take nothing. A thread that goes on uses it up.
    while not set(threading.enumerate()) <= before:
        assert time.process_time() - stopped[0] < 2.0
        time.sleep(0.01)


def test_a_failure_in_a_run_reaches_the_caller(monkeypatch):
    def fail(*arguments):
        raise RuntimeError("no luck")

    monkeypatch.setattr("fastes.simulation.run._means", fail)
    with pytest.raises(RuntimeError, match="no luck"):
        fastes.simulate(BANDIT, fastes.Greedy(), T=5, runs=3)


def test_a_posterior_that_is_lost_is_an_error_not_a_result(monkeypatch):
    def nothing(experiment, numbers, *rest):
        return np.full((len(numbers), BANDIT.K), np.nan)

    monkeypatch.setattr("fastes.simulation.run._means", nothing)
    with pytest.raises(FloatingPointError, match="run 0 failed numerically at step"):
        fastes.simulate(BANDIT, fastes.ThompsonSampling(), T=1000)
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: True)
    with pytest.raises(FloatingPointError, match="run 0 failed numerically at step"):
        fastes.simulate(BANDIT, fastes.ThompsonSampling(), T=1000, runs=9, threads=1)


def test_more_steps_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match="T must be an integer from 1 to 4294967295"):
        fastes.simulate(BANDIT, fastes.EnsembleSampling(3), T=2**32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"T": 0}, "T must be an integer from 1 to .*, got 0"),
        ({"T": -3}, "T must be an integer .* got -3"),
        ({"T": 1.5}, "T must be an integer .* got 1.5"),
        ({"T": "9"}, "T must be an integer .* got '9'"),
        ({"runs": 0}, "runs must be an integer from 1 to .*, got 0"),
        ({"seed": -1}, "seed must be an integer from 0 to .*, got -1"),
        ({"points": 0}, "points must be an integer from 1"),
        ({"threads": 0}, "threads must be an integer from 1"),
        ({"theta": [1.0]}, r"theta must have shape \(9,\) or \(2, 9\), got shape \(1,\)"),
        ({"theta": np.full(9, np.nan)}, r"theta must be finite, got nan at \[0\]"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        fastes.simulate(BANDIT, fastes.Greedy(), **{"T": 5, "runs": 2, **arguments})


@pytest.mark.parametrize("M", [0, -1, 2**32, 1.5, None, True])
def test_bad_ensembles_are_refused(M):
    with pytest.raises(ValueError, match="M must be an integer from 1 to 4294967295"):
        fastes.EnsembleSampling(M)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((fastes.Greedy(), BANDIT), "bandit must be a problem such as a LinearBandit, got Greedy"),
        (
            (np.eye(2), fastes.Greedy()),
            "bandit must be a problem such as a LinearBandit, got array",
        ),
        ((BANDIT, "es"), "agent must be an agent such as ThompsonSampling.*, got 'es'"),
        ((BANDIT, fastes.Greedy), "agent must be an agent such as ThompsonSampling.*, got <class"),
    ],
)
def test_what_is_no_bandit_or_agent_is_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        fastes.simulate(*arguments, T=5)


def test_a_comparison_needs_agents():
    with pytest.raises(ValueError, match="agents must have at least one agent, got none"):
        fastes.compare(BANDIT, [], T=5)


def test_more_points_than_steps_are_as_many_as_steps():
    result = fastes.simulate(BANDIT, fastes.Greedy(), T=5, points=2**32 - 1)
    assert result.t.tolist() == [1, 2, 3, 4, 5]


def test_a_theta_beyond_all_scales_is_refused():
    with pytest.raises(ValueError, match=r"mean rewards must be within 1e\+09 noise"):
        fastes.simulate(BANDIT, fastes.Greedy(), T=5, theta=np.full(9, 1e250))


def test_run_i_of_few_is_run_i_of_many_for_fixed_thetas_too():
    theta = np.random.default_rng(0).normal(size=(9, 9))
    many = fastes.simulate(BANDIT, fastes.Greedy(), T=20, runs=9, theta=theta)
    one = fastes.simulate(BANDIT, fastes.Greedy(), T=20, theta=theta[:1])
    assert (many.regret.per_run[0] == one.regret.per_run[0]).all()


def test_progress_is_reported_however_short_the_run():
    for _ in range(20):
        seen = []
        fastes.simulate(BANDIT, fastes.Greedy(), T=1, progress=seen.append)
        assert seen[-1].steps == 1


def test_a_thread_that_does_not_start_stops_the_others(monkeypatch):
    begun = []
    begin = threading.Thread.start

    def start(thread):
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start"):
        fastes.simulate(BANDIT, fastes.Greedy(), T=10**12, runs=5, threads=5)
    for thread in begun:
        thread.join(2)
        assert not thread.is_alive()


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine must be one of auto, deferred, eager, got 'lazy'"):
        fastes.EnsembleSampling(3, engine="lazy")


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "x"])
def test_bad_optimism_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be a finite number of at least 0"):
        fastes.LinUCB(alpha)
