"""An interrupt without a checkpoint keeps the runs that are done."""

import numpy as np
import pytest

import fastes

BANDIT = fastes.LinearBandit.random(20, 3)
AGENTS = [fastes.EnsembleSampling(5), fastes.ThompsonSampling(), fastes.Greedy()]


def stopping(agent, steps):
    """Return a callback that interrupts, as Ctrl-C does, when an agent has done so many steps."""

    def report(now):
        if now.agent == agent and now.steps >= steps:
            raise KeyboardInterrupt

    return report


def stopped(agents, agent, share, **options):
    """Return what an interrupted comparison brings."""
    runs, T = 4_000, 2_000
    with pytest.raises(KeyboardInterrupt) as caught:
        fastes.compare(
            BANDIT, agents, T, runs, progress=stopping(agent, share * runs * T), **options
        )
    return caught.value


@pytest.mark.parametrize("threads", [1, 2])
def test_the_runs_that_were_done_are_there_to_the_bit(threads):
    stop = stopped([fastes.ThompsonSampling()], "TS", 0.02, threads=threads, keep="actions")
    assert isinstance(stop, fastes.SimulationStopped)
    (result,) = stop.result
    numbers = result.run_numbers
    assert 1 <= len(numbers) == result.configuration.runs < 4_000
    assert result.counts.sum() == len(numbers) * 2_000
    assert (np.bincount(result.actions.ravel(), minlength=20) == result.counts).all()
    whole = fastes.simulate(BANDIT, fastes.ThompsonSampling(), 2_000, int(numbers[-1]) + 1)
    assert (result.regret.per_run == whole.regret.per_run[numbers]).all()
    again = fastes.rerun(result)
    assert (again.regret.per_run == result.regret.per_run).all()
    assert (again.counts == result.counts).all()


def test_agents_before_are_whole_and_those_after_are_left_out():
    stop = stopped(AGENTS, "TS", 0.02)
    first, second = stop.result
    assert (first.label, first.configuration.runs) == ("ES, M=5", 4_000)
    assert second.configuration.runs < 4_000
    (difference,) = stop.result.differences()
    assert len(difference.regret.per_run) == second.configuration.runs
    done = second.configuration.runs
    assert str(stop) == (
        f"stopped after 4,000 of 4,000 runs of ES, M=5, {done:,} of 4,000 runs of TS, "
        "0 of 4,000 runs of Greedy; use checkpoint= to keep unfinished runs"
    )


def test_where_no_run_is_done_there_is_no_result():
    with pytest.raises(fastes.SimulationStopped) as caught:
        fastes.simulate(BANDIT, AGENTS[1], 10**9, progress=stopping("TS", 1))
    assert caught.value.result is None


def test_what_was_stopped_is_saved_and_loaded(tmp_path):
    stop = stopped([fastes.ThompsonSampling()], "TS", 0.02)
    stop.result.save(tmp_path / "r.npz")
    loaded = fastes.load(tmp_path / "r.npz")
    assert (loaded.run_numbers == stop.result[0].run_numbers).all()
    assert loaded.to_dataframe()["run"].nunique() == loaded.configuration.runs
