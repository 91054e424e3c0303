"""Simulations with a checkpoint file, from which they can be resumed.

All random numbers are functions of (seed, run, stream, counter), so the experiment and its partial
results suffice to continue to the same bit.
"""

import contextlib
import itertools
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from fastes.checks import numbers
from fastes.files.guard import made_of
from fastes.files.kinds import FileFormatError, kind_of, require_replaceable
from fastes.files.locks import LockedFile
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.simulation.bars import progress_report
from fastes.simulation.checkpoint_file import (
    extended,
    read_checkpoint,
    write_checkpoint,
    writer_of,
)
from fastes.simulation.execute import execute, result_of
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import PartialResult, empty_partial_result
from fastes.simulation.plan import RunPlan, make_plan, thread_count
from fastes.simulation.progress import Report, of_several
from fastes.simulation.signals import orderly_termination

_SHARE = 0.01
"""Largest share of the time spent on writing: large states are written less often."""


class Checkpoint:
    """An experiment, whose agents run one after the other, and its checkpoint file."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        experiment: Experiment,
        partials: list[PartialResult],
        every: float,
        locked: LockedFile | None = None,
    ) -> None:
        self.path = path
        self.experiment = experiment
        self.partials = partials  # of the agents that have started
        self.every = numbers.positive("every", every)
        self._written, self._took = time.monotonic(), 0.0
        self._locked = locked
        self._writer = uuid.uuid4().hex
        # Writers whose file may be replaced: a write may be interrupted after its rename.
        self._ours = [self._writer] if locked is None else [self._writer, writer_of(path)]

    def due(self) -> bool:
        """Return whether it is time to write."""
        return time.monotonic() - self._written >= max(self.every, self._took / _SHARE)

    def write(self, new: bool = False) -> None:
        """Write everything to a new file that replaces the last.

        A file written by another process since then is not replaced.
        """
        began = time.monotonic()
        if not new and Path(self.path).exists() and writer_of(self.path) not in self._ours:
            raise self._displaced()
        write_checkpoint(self.path, self.experiment, self.partials, self._writer, new)
        if self._locked is not None:
            self._locked.renew()
        self._written = time.monotonic()
        self._took = self._written - began

    def _displaced(self) -> FileExistsError:
        """Write everything to another file, beside one of another process. Return the error."""
        path = Path(self.path)
        names = (path.with_name(f"{path.stem}-{n}{path.suffix}") for n in itertools.count(2))
        kept = next(name for name in names if not name.exists())
        write_checkpoint(kept, self.experiment, self.partials, self._writer, new=True)
        return FileExistsError(
            f"{path} was written by another process and is kept: resume {kept} instead"
        )

    def run(
        self,
        plans: Sequence[RunPlan],
        threads: int,
        progress: Report | None = None,
    ) -> tuple[Result, ...]:
        """Do the remaining work under a lock. Return a result for each agent."""
        with orderly_termination(), contextlib.ExitStack() as stack:
            if self._locked is None:
                self._locked = stack.enter_context(LockedFile(self.path))
            return self._run(plans, threads, progress)

    def _run(
        self, plans: Sequence[RunPlan], threads: int, progress: Report | None
    ) -> tuple[Result, ...]:
        e, results = self.experiment, []
        for i, (agent, plan) in enumerate(zip(e.agents, plans, strict=True)):
            if i == len(self.partials):
                self.partials.append(empty_partial_result(e, range(e.runs)))
            partial = self.partials[i]
            if not partial.done.all():
                report = of_several(progress, i, len(e.agents))
                execute(e, agent, partial, plan, progress=report, writer=self)
                try:
                    self.write()
                except (KeyboardInterrupt, SystemExit):
                    self.write()
                    raise
            results.append(result_of(e, agent, partial, threads))
        return tuple(results)


def create(path: str | os.PathLike[str], experiment: Experiment, every: float) -> Checkpoint:
    """Write the checkpoint of an experiment before its first step to a new file."""
    checkpoint = Checkpoint(path, experiment, [], every)
    require_new(path)
    try:
        checkpoint.write(new=True)
    except FileExistsError:
        require_new(path)
        raise
    return checkpoint


def require_new(path: str | os.PathLike[str]) -> None:
    """Raise unless a path is free for a new checkpoint."""
    if Path(path).exists():
        is_checkpoint = kind_of(path) == "checkpoint"
        advice = "resume it or delete it" if is_checkpoint else "name a new file"
        raise FileExistsError(f"checkpoint {os.fspath(path)} already exists: {advice}")
    require_replaceable(path, "checkpoint")


def resume(
    path: str | os.PathLike[str],
    T: int | None = None,
    *,
    threads: int | None = None,
    every: float = 60.0,
    progress: bool | Report | None = None,
) -> Result | Comparison:
    """Continue from a checkpoint, to the result of an uninterrupted simulation.

    No bit depends on when or how often it was stopped, nor on threads. The file is updated along
    the way.

    Parameters
    ----------
    path : path
        The `checkpoint` of `simulate` or `compare`.
    T : int, optional
        A longer horizon. The result is as if that horizon had been used from the start.
    threads, every, progress
        As for `simulate`.

    Returns
    -------
    Result
        Or a `Comparison` of several agents.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/run.ckpt"
    ...     short = fastes.simulate(bandit, fastes.Greedy(), T=100, checkpoint=file)
    ...     long = fastes.resume(file, T=200)
    >>> short, long
    (Result(Greedy: regret 31.93 at T=100, 1 run), Result(Greedy: regret 53.77 at T=200, 1 run))
    >>> fastes.simulate(bandit, fastes.Greedy(), T=200)  # the same
    Result(Greedy: regret 53.77 at T=200, 1 run)
    """
    threads = thread_count(threads)
    # Locked before reading: what another process writes meanwhile would be lost.
    with LockedFile(path) as locked, progress_report(progress) as report:
        experiment, partials = read_checkpoint(path)
        if T is not None:
            longer = experiment.extended(T)
            partials = [extended(experiment, longer, partial) for partial in partials]
            experiment = longer
        with made_of(path, "checkpoint"):  # agents that cannot play these rewards, say
            plans = [
                make_plan(experiment, agent, experiment.runs, threads, saved=True)
                for agent in experiment.agents
            ]
        checkpoint = Checkpoint(path, experiment, partials, every, locked)
        try:
            results = checkpoint.run(plans, threads, report)
        except FileFormatError as error:  # of a state, which is restored when its turn comes
            raise FileFormatError(f"{os.fspath(path)}: {error}") from error
    return results[0] if len(results) == 1 else Comparison(results)
