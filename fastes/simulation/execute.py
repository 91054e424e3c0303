"""The runs of one agent, executed: from a partial result to a whole one."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import numpy as np

import fastes
from fastes.checks import arrays
from fastes.kernels.jit.events import compilation_timer
from fastes.results.diagnostics import Diagnostics
from fastes.results.regret import Regret
from fastes.results.result import Configuration, Result
from fastes.simulation.batch import RunContext
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import PartialResult
from fastes.simulation.plan import _prepare
from fastes.simulation.progress import Progress
from fastes.simulation.shared_update import WORTH_SHARING, SharedUpdate
from fastes.simulation.workers import Batch, CheckpointWriter, run_all


def one_result(
    experiment: Experiment,
    ledger: PartialResult,
    threads: int,
    progress: Callable[[Progress], None] | None = None,
    keeper: CheckpointWriter | None = None,
) -> Result:
    """Do all runs of a ledger that are not done yet, and return what was measured."""
    e = experiment
    workers, group = _prepare(e, len(ledger.runs), threads, keeper is not None)
    began, before = time.perf_counter(), ledger.seconds
    shared = workers == 1 < threads and e.agent.shared_cost(e.bandit.rank) >= WORTH_SHARING
    with (
        compilation_timer() as compiling,
        SharedUpdate(threads) if shared else nullcontext() as team,
    ):

        def seconds() -> float:
            return before + time.perf_counter() - began - compiling()

        job = RunContext(e, ledger, team, seconds)
        run_all(job, list(_assignments(ledger, group)), workers, progress, keeper)
    return result_of(e, ledger, threads)


def _assignments(ledger: PartialResult, group: int) -> Iterator[Batch]:
    """Yield what is left to do, in groups: first what was begun."""
    begun = np.zeros_like(ledger.done)
    for standing in ledger.in_progress:
        begun[ledger.rows(standing.runs)] = True
        if len(standing.runs) <= group:
            yield Batch(standing.runs, standing)
        else:
            yield from (Batch(each.runs, each) for each in standing.one_by_one())
    left = np.flatnonzero(~ledger.done & ~begun) + ledger.runs.start
    for stretch in np.split(left, np.flatnonzero(np.diff(left) > 1) + 1):
        for i in range(0, len(stretch), group):
            together = stretch[i : i + group]
            yield Batch(range(int(together[0]), int(together[-1]) + 1), None)


def result_of(e: Experiment, ledger: PartialResult, threads: int) -> Result:
    """Return what was measured in runs that are done."""
    seen = None
    if e.probe_times is not None:
        from fastes.theory.constants import constants

        seen = Diagnostics(
            e.probe_times, e.samples, ledger.measurements, constants(e.bandit, seed=e.seed)
        )
    regret = Regret(ledger.regret * e.bandit.noise)
    return Result(_configuration(e, ledger, threads), e.times, regret, ledger.counts, seen)


def _configuration(e: Experiment, ledger: PartialResult, threads: int) -> Configuration:
    """Return what was simulated."""
    bandit, agent, theta = e.bandit, e.agent, e.theta
    return Configuration(
        agent=agent.name,
        engine=agent.engine,
        parameters=agent.parameters(),
        K=bandit.K,
        d=bandit.d,
        rank=bandit.rank,
        T=e.T,
        runs=len(ledger.runs),
        seed=e.seed,
        noise=bandit.noise,
        theta="prior" if theta is None else f"fixed, {arrays.fingerprint(theta)}",
        problem=bandit.fingerprint,
        version=fastes.__version__,
        threads=threads,
        seconds=ledger.seconds,
    )
