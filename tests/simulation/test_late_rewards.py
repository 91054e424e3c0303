"""Late rewards: the same bits in every mode, on any threads, from any checkpoint."""

from types import SimpleNamespace

import numpy as np
import pytest
from checkpoints import assert_same, recorded, resumed, some
from every_agent import AGENTS, in_batches
from fastes.kernels.loop.late import late_rewards

import fastes
from fastes.actions import Ball, Fresh
from fastes.simulation import plan, shared_update
from fastes.simulation.saved_environment import environment_arrays, fill_environment

BANDIT = fastes.LinearBandit.random(70, 5, noise=0.5)
SMALL = fastes.LinearBandit([[1.0]])


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_a_delay_of_nothing_changes_no_bit_and_one_of_all_teaches_nothing(agent):
    options = {"T": 60, "runs": 2, "seed": 4, "keep": "actions"}
    plain = fastes.simulate(BANDIT, agent, **options)
    none = fastes.simulate(BANDIT, agent, **options, delay=0)
    assert (plain.regret.per_run == none.regret.per_run).all()
    never = [fastes.simulate(BANDIT, agent, **options, delay=n) for n in (59, 60, 10**12)]
    # The reward of step 0 is observed after the choice of step 59, too late for any.
    for each in never[1:]:
        assert (each.actions == never[0].actions).all()
    if agent.name in ("greedy", "linucb"):
        late = fastes.simulate(BANDIT, agent, **options, delay=20).actions
        assert (late[:, :21] == never[0].actions[:, :21]).all()
        assert (late[:, 21:] != never[0].actions[:, 21:]).any()


@pytest.mark.parametrize("T", [1, 2])
def test_the_smallest_problem(T):
    for delay in (0, 1, 2, 3):
        result = fastes.simulate(SMALL, fastes.EnsembleSampling(1), T=T, delay=delay)
        assert result.regret.final.tolist() == [0.0]


@pytest.mark.parametrize("delay", [1, 9, 200])
@pytest.mark.parametrize(
    "agent", in_batches([a for a in AGENTS if a.scores == "linear" and a.shared_cost(5) == 0])
)
def test_all_modes_give_the_same_bits(agent, delay, monkeypatch):
    options = {"T": 120, "runs": 20, "seed": 3, "delay": delay}
    alone = fastes.simulate(BANDIT, agent, **options, threads=2)
    for mode in ("lockstep", "sequence"):
        monkeypatch.setattr(plan, "modes", lambda *_, mode=mode: ["alone", mode])
        monkeypatch.setattr(plan, "_MANY_RUNS", 1)
        assert_same(fastes.simulate(BANDIT, agent, **options, threads=1), alone)


@pytest.mark.parametrize("agent", [fastes.EnsembleSampling(9), fastes.LinUCB(0.5)], ids=str)
@pytest.mark.parametrize("d", [2, 4])
def test_the_best_arm_is_found_without_a_full_scan_too(agent, d, monkeypatch):
    bandit, options = fastes.LinearBandit.random(5000, d), {"T": 600, "runs": 2, "delay": 20}
    sparing = fastes.simulate(bandit, agent, **options)
    monkeypatch.setattr(plan, "search_method", lambda *_: "scan")
    monkeypatch.setattr(plan, "modes", lambda *_: ["alone"])
    assert_same(fastes.simulate(bandit, agent, **options), sparing)


def test_a_shared_update_gives_the_same_bits(monkeypatch):
    agent = fastes.EnsembleSampling(3000, engine="eager")
    options = {"T": 90, "runs": 1, "delay": 7}
    alone = fastes.simulate(BANDIT, agent, **options, threads=1)
    calls = []
    monkeypatch.setattr(plan, "_WORTH_SHARING", 0)
    monkeypatch.setattr(
        shared_update.SharedUpdate,
        "_flush",
        lambda *a, flush=shared_update.SharedUpdate._flush: calls.append(1) or flush(*a),
    )
    assert_same(fastes.simulate(BANDIT, agent, **options, threads=2), alone)
    assert calls


@pytest.mark.parametrize("delay", [1, 150, 650])
@pytest.mark.parametrize("agent", AGENTS[:6], ids=str)
def test_any_checkpoint_goes_on_to_the_same_bits(agent, delay, tmp_path):
    """A horizon may be extended beyond a delay that was longer than it."""
    arguments = {"T": 500, "runs": 3, "seed": 5, "delay": delay}
    whole = fastes.simulate(BANDIT, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, **arguments, threads=2)
    assert_same(watched, whole)
    longer = fastes.simulate(BANDIT, agent, **{**arguments, "T": 1000})
    for copy in some(copies, 3):
        assert_same(resumed(copy), whole)
        assert_same(resumed(copy, T=1000, threads=2), longer)


@pytest.mark.parametrize("actions", [Fresh(6, 3), Ball(3)], ids=str)
def test_sets_that_change_go_on_to_the_same_bits(actions, tmp_path):
    bandit, agent = fastes.LinearBandit(actions), fastes.EnsembleSampling(4)
    arguments = {"T": 700, "runs": 2, "delay": 12}
    whole = fastes.simulate(bandit, agent, **arguments)
    _, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments)
    for copy in some(copies, 3):
        assert_same(resumed(copy), whole)


def test_deferred_models_have_the_law_of_eager_ones():
    """Regret of 1,500 runs each, 4.5 standard errors: wrong once in 100,000 seeds."""
    options = {"T": 80, "runs": 1500, "delay": 9}
    deferred = fastes.simulate(BANDIT, fastes.EnsembleSampling(4), seed=1, **options)
    eager = fastes.simulate(BANDIT, fastes.EnsembleSampling(4, engine="eager"), seed=2, **options)
    gap = deferred.regret.mean[-1] - eager.regret.mean[-1]
    assert abs(gap) < 4.5 * np.hypot(deferred.regret.se[-1], eager.regret.se[-1])


@pytest.mark.parametrize("delay", [-1, 1.5, True, 2**60])
def test_a_delay_is_a_number_of_steps(delay):
    with pytest.raises(ValueError, match="delay must be an integer from 0 to"):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, delay=delay)


def test_a_ring_is_restored_from_its_arrays_or_refused():
    def with_ring(n):
        return SimpleNamespace(late=late_rewards(n, 2))

    full, larger = with_ring(5), with_ring(8)
    ring = full.late
    ring.rows[:], ring.keys[:], ring.rewards[:] = 1.5, 7, -2.0
    arrays = environment_arrays(full)
    fill_environment(larger, arrays, 9)
    assert (larger.late.keys == [7] * 5 + [0] * 3).all()
    assert (larger.late.rows[:5] == 1.5).all()
    assert environment_arrays(with_ring(0)) == {}
    for name, part in (("rows", np.zeros((5, 3))), ("rewards", np.zeros(9))):
        with pytest.raises(ValueError, match="could not broadcast"):
            fill_environment(with_ring(8), {**arrays, f"late_{name}": part}, 9)
    with pytest.raises(KeyError):
        fill_environment(with_ring(8), {}, 9)


def test_a_delay_that_takes_too_much_room_is_refused():
    with pytest.raises(MemoryError):
        fastes.simulate(BANDIT, fastes.Greedy(), T=10**13, delay=10**13)
