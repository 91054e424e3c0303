"""Simulations kept in a file, to go on from after whatever stopped them.

A checkpoint holds the problem, what is simulated, the regret recorded so far, and the state of
every run that was begun. All random numbers are functions of (seed, run, stream, counter), so
that nothing else is needed to go on to the same bit.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import fastes
from fastes.agents import agent_from_description
from fastes.checks import numbers
from fastes.files.archive import FileFormatError, load_arrays, save_arrays, with_prefix
from fastes.files.locks import LockedFile
from fastes.kernels.jit.cache import fingerprint
from fastes.problem.bandit import LinearBandit
from fastes.problem.whitening import pack_canonical
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.simulation.checkpoint_file import _described, _packed, _unpacked
from fastes.simulation.execute import one_result, result_of
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import PartialResult, empty_partial_result
from fastes.simulation.plan import thread_count
from fastes.simulation.progress import Progress
from fastes.simulation.signals import orderly_termination

_SHARE = 0.01
"""Of the time that writing may take: a state so large that it takes long is written less often."""


class Checkpoint:
    """Experiments on one bandit, done one after the other, and the file they are kept in."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        experiments: Sequence[Experiment],
        runs: int,
        ledgers: list[PartialResult],
        every: float,
    ) -> None:
        self.path = path
        self.experiments = experiments
        self.runs = runs
        self.ledgers = ledgers  # of the experiments that were begun
        self.every = numbers.positive("every", every)
        self._written, self._took = time.monotonic(), 0.0
        self._held: LockedFile | None = None

    def due(self) -> bool:
        """Tell whether it is time to write, by a clock that nobody sets back."""
        return time.monotonic() - self._written >= max(self.every, self._took / _SHARE)

    def write(self, new: bool = False) -> None:
        """Write everything to a new file, and put it in the place of the last, if there is one."""
        began = time.monotonic()
        first = self.experiments[0]
        arrays = dict(first.bandit.parts())
        for name, part in pack_canonical(first.bandit.canonical).items():
            arrays[f"canonical_{name}"] = part
        for name in ("theta", "looks"):
            if getattr(first, name) is not None:
                arrays[name] = getattr(first, name)
        for i, ledger in enumerate(self.ledgers):
            arrays |= {f"ledger{i}_{name}": part for name, part in _packed(ledger).items()}
        meta = {
            "version": fastes.__version__,
            "kernels": fingerprint(),
            "runs": self.runs,
            **{name: getattr(first, name) for name in _NUMBERS},
            "agents": [each.agent.description() for each in self.experiments],
            "ledgers": [_described(ledger) for ledger in self.ledgers],
        }
        save_arrays(self.path, "checkpoint", meta, arrays, compressed=False, new=new)
        if self._held is not None:
            self._held.renew()
        self._written = time.monotonic()
        self._took = self._written - began

    def go_on(
        self, threads: int, progress: Callable[[Progress], None] | None = None
    ) -> tuple[Result, ...]:
        """Do what is left to do, if no other process does. Return all results."""
        results = []
        with orderly_termination(), LockedFile(self.path) as self._held:
            for i, experiment in enumerate(self.experiments):
                if i == len(self.ledgers):
                    self.ledgers.append(empty_partial_result(experiment, range(self.runs)))
                ledger = self.ledgers[i]
                if ledger.done.all():
                    results.append(result_of(experiment, ledger, threads))
                else:
                    results.append(one_result(experiment, ledger, threads, progress, self))
                    try:
                        self.write()
                    except (KeyboardInterrupt, SystemExit):
                        self.write()
                        raise
        return tuple(results)


_NUMBERS = ("T", "seed", "points", "samples")


def begin(
    path: str | os.PathLike[str], experiments: Sequence[Experiment], runs: int, every: float
) -> Checkpoint:
    """Return a checkpoint of experiments before their first step, written to a new file."""
    checkpoint = Checkpoint(path, experiments, runs, [], every)
    try:
        checkpoint.write(new=True)
    except FileExistsError:
        raise FileExistsError(
            f"checkpoint {os.fspath(path)} is there already: go on from it with resume, "
            "or delete it"
        ) from None
    return checkpoint


def resume(
    path: str | os.PathLike[str],
    T: int | None = None,
    *,
    threads: int | None = None,
    every: float = 60.0,
    progress: Callable[[Progress], None] | None = None,
) -> Result | Comparison:
    """Go on from a checkpoint, to the result of a simulation that was never stopped.

    No bit depends on when or how often it was stopped, nor on threads. The file is kept up to
    date on the way.

    Parameters
    ----------
    path : path
        What `simulate` or `compare` was given as `checkpoint`.
    T : int, optional
        A longer horizon. It, too, gives what would have come of it from the start.
    threads, every, progress
        As for `simulate`.

    Returns
    -------
    Result
        Or a `Comparison`, where there are several agents.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/run.ckpt"
    ...     short = fastes.simulate(bandit, fastes.Greedy(), T=100, checkpoint=file)
    ...     long = fastes.resume(file, T=200)
    >>> bool(long.regret.final == fastes.simulate(bandit, fastes.Greedy(), T=200).regret.final)
    True
    """
    threads = thread_count(threads)
    checkpoint = read(path, every)
    if T is not None:
        extend(checkpoint, T)
    results = checkpoint.go_on(threads, progress)
    return results[0] if len(results) == 1 else Comparison(results)


def read(path: str | os.PathLike[str], every: float = 60.0) -> Checkpoint:
    """Read a checkpoint, or raise FileFormatError with one sentence."""
    meta, arrays = load_arrays(path, "checkpoint")
    if meta.get("kernels") != fingerprint():
        raise FileFormatError(
            f"{os.fspath(path)} was written by fastes {meta.get('version')} with other kernels "
            f"than this fastes {fastes.__version__}: only the version that began a simulation "
            "can go on to the same bit"
        )
    try:
        bandit = LinearBandit.from_parts(arrays, with_prefix(arrays, "canonical_"))
        shared: dict[str, Any] = {name: arrays.get(name) for name in ("theta", "looks")}
        shared |= {name: int(meta[name]) for name in _NUMBERS}
        experiments = [
            Experiment(bandit, agent_from_description(each), **shared) for each in meta["agents"]
        ]
        runs = numbers.integer("runs", meta["runs"], 1, numbers.MAX_SIZE)
        ledgers = [
            _unpacked(experiment, range(runs), described, with_prefix(arrays, f"ledger{i}_"))
            for i, (experiment, described) in enumerate(
                zip(experiments, meta["ledgers"], strict=False)
            )
        ]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FileFormatError(f"{os.fspath(path)} holds no whole checkpoint: {error}") from error
    return Checkpoint(path, experiments, runs, ledgers, every)


def extend(checkpoint: Checkpoint, T: int) -> None:
    """Set a longer horizon. What is in the file stays as it is until the next write."""
    before = checkpoint.experiments[0].T
    most = min(each.agent.max_steps for each in checkpoint.experiments)
    T = numbers.integer("T", T, before, most)
    if T == before:
        return
    shorter = checkpoint.experiments
    checkpoint.experiments = [replace(each, T=T) for each in shorter]
    checkpoint.ledgers = [
        _extended(old, new, ledger)
        for old, new, ledger in zip(
            shorter, checkpoint.experiments, checkpoint.ledgers, strict=False
        )
    ]


def _extended(old: Experiment, new: Experiment, ledger: PartialResult) -> PartialResult:
    longer = empty_partial_result(new, ledger.runs)
    if sum(len(each.runs) for each in ledger.finished) < ledger.done.sum():
        return longer  # some states were not kept: from the beginning
    # Recording times are nested: what the longer horizon asks for is there.
    known = np.flatnonzero(np.isin(new.times, old.times))
    longer.regret[:, known] = ledger.regret[:, np.searchsorted(old.times, new.times[known])]
    longer.measurements, longer.counts, longer.seconds = (
        ledger.measurements,
        ledger.counts,
        ledger.seconds,
    )
    longer.in_progress = [*ledger.in_progress, *ledger.finished]
    return longer
