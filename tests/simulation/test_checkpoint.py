"""A simulation that was stopped, however it was, goes on to the bits of one that was not."""

import itertools
import os
import threading
import time

import numpy as np
import pytest
from bandits import BANDITS
from checkpoints import BANDIT, assert_same, partials, recorded, resumed, some

import fastes
from fastes.simulation import batch, checkpoint, plan, workers
from fastes.simulation.checkpoint_file import read_checkpoint, write_checkpoint
from fastes.simulation.experiment import Experiment

AGENTS = [
    fastes.EnsembleSampling(3),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(70, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(0.7),
    fastes.UniformRandom(),
]


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("name", ["more than a tile", "duplicate arms"])
def test_any_checkpoint_goes_on_to_the_same_bits(agent, name, tmp_path):
    bandit, arguments = BANDITS[name], {"T": 700, "runs": 4, "seed": 5}
    whole = fastes.simulate(bandit, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments, threads=2)
    assert_same(watched, whole)
    longer = fastes.simulate(bandit, agent, **{**arguments, "T": 1000})
    for i, copy in enumerate(some(copies)):
        assert_same(resumed(copy, threads=1 + i % 3), whole)
        assert_same(resumed(copy, T=1000, threads=1 + i % 2), longer)


def test_the_smallest_of_all_is_kept(tmp_path):
    one = fastes.LinearBandit([[1.0]])
    whole = fastes.simulate(one, fastes.EnsembleSampling(1), T=1)
    kept = fastes.simulate(one, fastes.EnsembleSampling(1), T=1, checkpoint=tmp_path / "run.ckpt")
    assert_same(kept, whole)
    assert_same(fastes.resume(tmp_path / "run.ckpt"), whole)
    longer = fastes.simulate(one, fastes.EnsembleSampling(1), T=2)
    assert_same(fastes.resume(tmp_path / "run.ckpt", T=2), longer)


@pytest.mark.parametrize("lockstep", [True, False])
@pytest.mark.parametrize(
    ("agent", "delay"), [(AGENTS[0], 0), (AGENTS[3], 0), (AGENTS[3], 30)], ids=str
)
def test_runs_of_a_batch_go_on_together_or_alone(agent, delay, lockstep, tmp_path, monkeypatch):
    arguments = {"T": 400, "runs": 11, "threads": 1, "delay": delay}
    whole = fastes.simulate(BANDIT, agent, **arguments)
    longer = fastes.simulate(BANDIT, agent, **{**arguments, "T": 600})
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: lockstep)
    monkeypatch.setattr(plan, "_MANY_RUNS", 1)
    watched, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, **arguments)
    assert_same(watched, whole)
    found = [partial for copy in copies for partial in partials(copy)]
    assert any(len(each.runs) == 11 for partial in found for each in partial.in_progress)
    for copy in some(copies):
        assert_same(resumed(copy), whole)
        assert_same(resumed(copy, T=600), longer)
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: False)
    monkeypatch.setattr(plan, "_MANY_RUNS", 10**9)
    for copy in some(copies):
        assert_same(resumed(copy), whole)


def test_diagnostics_and_fixed_thetas_are_kept(tmp_path):
    theta = np.random.default_rng(0).normal(size=(3, BANDIT.d))
    probes = {"diagnostics": [0, 100, 299], "samples": 64}
    arguments = {"T": 300, "runs": 3, "theta": theta, **probes}
    agent = fastes.EnsembleSampling(9)
    whole = fastes.simulate(BANDIT, agent, **arguments)
    _, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, **arguments)
    for copy in some(copies):
        assert_same(resumed(copy, threads=2), whole)
    longer = fastes.simulate(BANDIT, agent, **{**arguments, "T": 400})
    assert_same(resumed(copies[-1], T=400), longer)


def test_several_agents_are_kept_in_one_file(tmp_path):
    agents = [fastes.EnsembleSampling(4), fastes.ThompsonSampling(), fastes.EnsembleSampling(8)]
    whole = fastes.compare(BANDIT, agents, T=400, runs=3)
    _, copies = recorded(tmp_path, fastes.compare, BANDIT, agents, T=400, runs=3)
    longer = fastes.compare(BANDIT, agents, T=500, runs=3)
    for copy in some(copies, 6):
        for ours, theirs in zip(resumed(copy).results, whole.results, strict=True):
            assert_same(ours, theirs)
        for ours, theirs in zip(resumed(copy, T=500).results, longer.results, strict=True):
            assert_same(ours, theirs)


def test_a_file_can_be_extended_again_and_again(tmp_path):
    agent = fastes.EnsembleSampling(9)
    fastes.simulate(BANDIT, agent, T=40, runs=3, checkpoint=tmp_path / "run.ckpt")
    for T in (41, 300, 777):
        assert_same(
            fastes.resume(tmp_path / "run.ckpt", T=T), fastes.simulate(BANDIT, agent, T=T, runs=3)
        )
    assert_same(fastes.resume(tmp_path / "run.ckpt"), fastes.simulate(BANDIT, agent, T=777, runs=3))


def test_what_was_not_kept_is_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "_KEPT_BYTES", 0)
    agent = fastes.ThompsonSampling()
    fastes.simulate(BANDIT, agent, T=40, runs=5, checkpoint=tmp_path / "run.ckpt", threads=1)
    (partial,) = partials(tmp_path / "run.ckpt")
    assert partial.finished == []  # some would be of no use
    longer = fastes.resume(tmp_path / "run.ckpt", T=90)
    assert_same(longer, fastes.simulate(BANDIT, agent, T=90, runs=5))
    # A single one takes no room that another run needs.
    fastes.simulate(BANDIT, agent, T=40, checkpoint=tmp_path / "one.ckpt")
    (partial,) = partials(tmp_path / "one.ckpt")
    assert len(partial.finished) == 1


def test_a_run_that_stands_at_the_end_is_kept_for_a_longer_horizon(tmp_path):
    agent, path = fastes.EnsembleSampling(4), tmp_path / "run.ckpt"
    fastes.simulate(BANDIT, agent, T=50, runs=2, checkpoint=path)
    experiment, (partial,) = read_checkpoint(path)
    partial.in_progress, partial.finished = partial.finished, []  # as if stopped a moment before
    partial.done[:] = False
    write_checkpoint(path, experiment, [partial], "writer")
    assert_same(fastes.resume(path), fastes.simulate(BANDIT, agent, T=50, runs=2))
    (partial,) = partials(path)
    assert len(partial.finished) == 2
    assert_same(fastes.resume(path, T=90), fastes.simulate(BANDIT, agent, T=90, runs=2))


def test_a_run_that_fails_spoils_no_checkpoint(tmp_path, monkeypatch):
    agent, path, calls = fastes.ThompsonSampling(), tmp_path / "run.ckpt", itertools.count()

    def wait(self, wait=workers.PausePoint.wait):
        time.sleep(0.002)
        wait(self)

    def failing(*arguments, advance=batch.advance):
        call = next(calls)  # by either thread
        reached = advance(*arguments)
        if call == 25:
            raise MemoryError("for want of a nail")
        return reached

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(checkpoint, "_SHARE", np.inf)
        patch.setattr(workers, "_REPORT_SECONDS", 1e-4)
        patch.setattr(workers.PausePoint, "wait", wait)
        patch.setattr(batch, "_SLICE_SECONDS", 1e-4)
        patch.setattr(batch, "advance", failing)
        with pytest.raises(MemoryError, match="for want of a nail"):
            fastes.simulate(BANDIT, agent, T=20_000, runs=3, threads=2, checkpoint=path, every=1e-9)
    assert_same(fastes.resume(path), fastes.simulate(BANDIT, agent, T=20_000, runs=3))


def test_a_run_that_fails_before_an_interrupt_spoils_no_checkpoint(tmp_path, monkeypatch):
    agent, path = fastes.ThompsonSampling(), tmp_path / "run.ckpt"
    calls, failing, before = itertools.count(), threading.Event(), []

    def advance(*arguments, advance=batch.advance):
        reached = advance(*arguments)
        if next(calls) == 3:  # the state is ahead of what is recorded
            failing.set()
            raise MemoryError("for want of a nail")
        return reached

    def interrupt(_):
        if failing.is_set():
            before.append(path.read_bytes())
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(batch, "advance", advance)
        with pytest.raises(KeyboardInterrupt):
            fastes.simulate(BANDIT, agent, T=500, checkpoint=path, progress=interrupt)
    assert before == [path.read_bytes()]
    assert_same(fastes.resume(path), fastes.simulate(BANDIT, agent, T=500))


def interrupt_after(n, exception):
    seen = []

    def progress(_):
        seen.append(1)
        if len(seen) == n:
            raise exception

    return progress


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_writes_a_last_checkpoint(exception, tmp_path, monkeypatch):
    agent, T, path = fastes.EnsembleSampling(9), 1_000_000, tmp_path / "run.ckpt"
    monkeypatch.setattr(workers, "_REPORT_SECONDS", 0.01)
    stop = interrupt_after(10, exception)
    with pytest.raises(exception):
        fastes.simulate(BANDIT, agent, T, 2, checkpoint=path, progress=stop)
    (partial,) = partials(path)
    assert partial.in_progress
    assert_same(fastes.resume(path), fastes.simulate(BANDIT, agent, T, 2))


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path, monkeypatch):
    now = [1e9]

    def clock():
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", clock)
    agent = fastes.ThompsonSampling()
    whole = fastes.simulate(BANDIT, agent, T=500, runs=2)
    watched, copies = recorded(tmp_path, fastes.simulate, BANDIT, agent, T=500, runs=2)
    assert_same(watched, whole)
    assert_same(resumed(copies[3]), whole)


def test_large_states_are_written_less_often(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])

    def slow(*arguments, **options):
        clock[0] += 3.0

    monkeypatch.setattr(checkpoint, "write_checkpoint", slow)
    experiment = Experiment(BANDIT, [fastes.Greedy()], 5, 1, 0)
    kept = checkpoint.create(tmp_path / "run.ckpt", experiment, every=60)
    for moment, due in [(100.0, False), (302.0, False), (304.0, True)]:
        clock[0] = moment
        assert kept.due() == due
