"""The memory that simulations announce is the memory that they take."""

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
from fastes.checks import memory
from fastes.simulation import plan
from fastes.simulation.experiment import make_experiment

BANDIT = BANDITS["more than a tile"]


def test_memory_does_not_grow_with_T():
    import tracemalloc

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
    import tracemalloc

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
    import tracemalloc

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


def test_only_as_many_runs_go_at_once_as_fit(monkeypatch):
    agent = fastes.EnsembleSampling(10_000, engine="eager")
    each = agent.state_bytes(BANDIT.K, BANDIT.rank, 10)
    monkeypatch.setattr(memory, "available_bytes", lambda: int(2.5 * each))
    experiment = make_experiment(BANDIT, [agent], 10, 100, 0)
    planned = plan.make_plan(experiment, agent, 100, threads=64)
    assert (planned.workers, planned.batch) == (2, 1)
    many = fastes.LinearBandit.random(1000, 60)
    agent = fastes.ThompsonSampling()
    each = agent.state_bytes(many.K, many.rank, 10) + 25 * many.K + 80
    experiment = make_experiment(many, [agent], 10, 100, 0)
    for room, expected in [(100, (2, 32)), (26, (2, 12)), (8, (2, 1)), (6, (1, 5)), (2, (1, 1))]:
        threads = 2 if room >= 8 else 1
        monkeypatch.setattr(memory, "available_bytes", lambda n=room: n * each + 8 * 100 * 10)
        planned = plan.make_plan(experiment, agent, 100, threads)
        assert (planned.workers, planned.batch) == expected
