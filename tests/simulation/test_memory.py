"""The memory that simulations announce is the memory that they take."""

import tracemalloc

import numpy as np
import pytest
from bandits import BANDITS
from every_agent import AGENTS
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents.interface import needs_capacity, prepare
from fastes.kernels.loop.step import observe_reward
from fastes.kernels.streams.philox import source
from numba import njit

import fastes
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.agents.run_bytes import run_bytes
from fastes.checks import memory
from fastes.problem.random_problem import RandomProblem
from fastes.problem.world import World
from fastes.simulation import execute, plan
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.stages import offers_of_run

BANDIT = BANDITS["more than a tile"]


def test_memory_does_not_grow_with_T():
    fastes.simulate(BANDITS["one arm"], fastes.UniformRandom(), T=3, runs=2)  # compile
    tracemalloc.start()
    fastes.simulate(BANDITS["one arm"], fastes.UniformRandom(), T=3_000_000, runs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_sizes_that_do_not_fit_say_how_much_they_need(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"M=1,000,000,000 needs 67.06 GiB, .* 1.00 GiB"):
        fastes.simulate(BANDIT, fastes.EnsembleSampling(10**9, engine="eager"), T=10)
    with pytest.raises(MemoryError, match=r"T=1,000,000,000, M=1,000,000,000 needs .* GiB, "):
        fastes.simulate(BANDIT, fastes.EnsembleSampling(10**9), T=10**9)


def test_the_memory_of_many_runs_is_asked_for(monkeypatch):
    n = 20_000
    experiment = Experiment(BANDITS["one arm"], [fastes.UniformRandom()], 10**5, n, 0, points=1)
    partial = empty_partial_result(experiment, range(n))
    tracemalloc.start()
    batches = list(execute._batches(partial, 1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(batches) == n
    assert peak <= execute._BATCH_BYTES * n
    monkeypatch.setattr(memory, "available_bytes", lambda: peak // 2)
    with pytest.raises(MemoryError, match="the list of 20,000 runs needs"):
        fastes.simulate(BANDITS["one arm"], fastes.UniformRandom(), 10**5, n, points=1, threads=1)


def test_the_memory_of_a_belief_is_asked_for_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**20)
    with pytest.raises(MemoryError, match="a belief about 100,000 dimensions needs"):
        fastes.LinearBandit(fastes.actions.Ball(100_000))


@njit
def steps_taken(state, actions, origin, row, steps):
    """Play the arms in turn until the state needs capacity. Return the step reached."""
    for t in range(steps):
        if needs_capacity(state):
            return t
        prepare(state, origin, t)
        observe_reward(state, actions, t % actions.arms.K, 0.0, origin, t, row)
    return steps


@pytest.mark.parametrize(("K", "d", "T"), [(100, 20, 16_390), (10, 2, 8_200), (66_000, 2, 66_000)])
def test_the_memory_announced_is_not_exceeded(K, d, T):
    arms = fastes.LinearBandit.random(K, d).canonical.arms
    agent = fastes.EnsembleSampling(10**9)

    def play(steps):
        state, actions = agent.initial_state(K, d, source(0), steps), FixedActions(arms)
        assert steps_taken(state, actions, source(0), np.empty(d), steps) == steps

    play(10)  # compile everything
    tracemalloc.start()
    play(T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= agent.state_bytes(K, d, T) + 200_000  # and what Python needs for the calls


@pytest.mark.parametrize("agent", [fastes.ThompsonSampling(), fastes.EnsembleSampling(50)], ids=str)
def test_runs_in_lockstep_take_no_more_memory_than_announced(agent):
    K, d, T, n = 600, 150, 40, 32
    bandit = fastes.LinearBandit.random(K, d)
    assert plan.runs_in_lockstep(agent, K, d, T)
    fastes.simulate(bandit, agent, T=3, runs=8, threads=1)  # compile
    tracemalloc.start()
    fastes.simulate(bandit, agent, T=T, runs=n, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    state = agent.state_bytes(K, d, T)
    assert peak <= (n + 1) * state + n * (17 * K + 16 * T) + 300_000


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_the_memory_of_a_state_is_what_its_arrays_take(agent):
    K, d, T = 500, 30, 2000

    def size(part, seen):
        if isinstance(part, tuple):
            return sum(size(field, seen) for field in part)
        new = isinstance(part, np.ndarray) and id(part) not in seen
        seen.add(id(part))
        return part.nbytes if new else 0

    state = agent.initial_state(K, d, source(0), T)
    taken = size(state, set())
    assert taken <= agent.state_bytes(K, d, T) <= taken + 1000


@pytest.mark.parametrize(
    "agent",
    [fastes.ThompsonSampling(), fastes.LinUCB(), fastes.InformationDirectedSampling(70)],
    ids=str,
)
@pytest.mark.parametrize("prior_cov", ["number", "matrix"])
@pytest.mark.parametrize(
    "actions",
    [
        Ball(200),
        Redrawn(500, 60),
        Fresh(500, 60),
        Subset(np.eye(900, 60), 500),
        Given(np.ones((2, 500, 60))),
    ],
    ids=str,
)
def test_the_memory_of_arms_that_change_is_what_they_take(agent, actions, prior_cov):
    if isinstance(actions, Ball) and agent.scores == "information":
        pytest.skip("it does not play on a ball")
    covariance = 1.0 if prior_cov == "number" else np.eye(actions.d)
    bandit = fastes.LinearBandit(actions, prior_cov=covariance)
    experiment = Experiment(bandit, [agent], 50, 1, 0, world=World(delay=3))
    search = plan.make_plan(experiment, agent, 1, 1).search
    offers_of_run(experiment, agent, 0, search)  # compile everything
    tracemalloc.start()
    offers_of_run(experiment, agent, 0, search)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    announced = sum(run_bytes(agent, bandit.sizes, 50, 0)[1:])
    assert peak <= announced + 40_000  # and what Python needs for the calls
    assert announced <= 1.05 * peak


@pytest.mark.parametrize(
    ("K", "d", "more"),
    [
        (40_000, 20, {}),
        (2000, 60, {}),
        (60, 2000, {}),
        (300, 300, {"arms": "basis"}),
        (2000, 60, {"available": 9}),
        (1, 3000, {"arms": "ball"}),
    ],
)
def test_the_memory_of_a_problem_is_what_it_takes_while_it_is_made(K, d, more):
    plain = {"prior_mean": 0.0, "prior_cov": 1.0, "noise": 1.0, "K": K, "d": d}
    usual = {"arms": "sphere", "redraw": "never", "available": 0}
    problem = RandomProblem(**{**plain, **usual, **more})
    problem.bandit(seed=0)  # compile everything
    tracemalloc.start()
    bandit = problem.bandit(seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.sizes[1:] == bandit.sizes[1:]
    assert str(problem.sizes.actions) == str(bandit.action_set)
    assert peak <= problem.bytes + 100_000
    assert problem.bytes <= 1.3 * peak


def test_only_as_many_runs_go_at_once_as_fit(monkeypatch):
    many = fastes.LinearBandit.random(1000, 60)
    agent = fastes.EnsembleSampling(10_000, engine="eager")
    each = agent.state_bytes(BANDIT.K, BANDIT.rank, 10)
    monkeypatch.setattr(memory, "available_bytes", lambda: int(2.5 * each))
    experiment = Experiment(BANDIT, [agent], 10, 100, 0)
    planned = plan.make_plan(experiment, agent, 100, threads=64)
    assert (planned.workers, planned.batch) == (2, 1)
    agent = fastes.ThompsonSampling()
    each = agent.state_bytes(many.K, many.rank, 10) + 25 * many.K + 80
    experiment = Experiment(many, [agent], 10, 100, 0)
    for room, expected in [(100, (2, 32)), (26, (2, 12)), (8, (2, 1)), (6, (1, 5)), (2, (1, 1))]:
        threads = 2 if room >= 8 else 1
        monkeypatch.setattr(memory, "available_bytes", lambda n=room: n * each + 8 * 100 * 10)
        planned = plan.make_plan(experiment, agent, 100, threads)
        assert (planned.workers, planned.batch) == expected
