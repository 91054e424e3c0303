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
from numpy.typing import NDArray

import fastes
from fastes import validation
from fastes.agents import agent_of
from fastes.agents.agent import Arrays
from fastes.canonical import pack_canonical
from fastes.crew import Progress, orderly_termination
from fastes.diagnostics import Figures
from fastes.experiment import Experiment, Ledger, Standing, empty_ledger
from fastes.files import FileFormatError, Held, load_arrays, named, save_arrays
from fastes.kernels.jit import fingerprint
from fastes.problem import LinearBandit
from fastes.result import Comparison, Result
from fastes.simulation import one_result, result_of, thread_count

_SHARE = 0.01
"""Of the time that writing may take: a state so large that it takes long is written less often."""


class Checkpoint:
    """Experiments on one bandit, done one after the other, and the file they are kept in."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        experiments: Sequence[Experiment],
        runs: int,
        ledgers: list[Ledger],
        every: float,
    ) -> None:
        self.path = path
        self.experiments = experiments
        self.runs = runs
        self.ledgers = ledgers  # of the experiments that were begun
        self.every = validation.positive("every", every)
        self._written, self._took = time.monotonic(), 0.0
        self._held: Held | None = None

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
        with orderly_termination(), Held(self.path) as self._held:
            for i, experiment in enumerate(self.experiments):
                if i == len(self.ledgers):
                    self.ledgers.append(empty_ledger(experiment, range(self.runs)))
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
        bandit = LinearBandit.from_parts(arrays, named(arrays, "canonical_"))
        shared: dict[str, Any] = {name: arrays.get(name) for name in ("theta", "looks")}
        shared |= {name: int(meta[name]) for name in _NUMBERS}
        experiments = [Experiment(bandit, agent_of(each), **shared) for each in meta["agents"]]
        runs = validation.integer("runs", meta["runs"], 1, validation.MAX_SIZE)
        ledgers = [
            _unpacked(experiment, range(runs), described, named(arrays, f"ledger{i}_"))
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
    T = validation.integer("T", T, before, most)
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


def _extended(old: Experiment, new: Experiment, ledger: Ledger) -> Ledger:
    longer = empty_ledger(new, ledger.runs)
    if sum(len(each.runs) for each in ledger.finished) < ledger.done.sum():
        return longer  # some states were not kept: from the beginning
    # Recording times are nested: what the longer horizon asks for is there.
    known = np.flatnonzero(np.isin(new.times, old.times))
    longer.regret[:, known] = ledger.regret[:, np.searchsorted(old.times, new.times[known])]
    longer.figures, longer.counts, longer.seconds = ledger.figures, ledger.counts, ledger.seconds
    longer.in_progress = [*ledger.in_progress, *ledger.finished]
    return longer


def _described(ledger: Ledger) -> dict[str, Any]:
    return {
        "seconds": ledger.seconds,
        "finished": [(each.runs.start, each.runs.stop, each.t) for each in ledger.finished],
        "in_progress": [(each.runs.start, each.runs.stop, each.t) for each in ledger.in_progress],
    }


def _packed(ledger: Ledger) -> Arrays:
    """Return a ledger's arrays; those of all states end to end, which is fewer and faster."""
    arrays: dict[str, NDArray[Any]] = {
        "regret": ledger.regret,
        "counts": ledger.counts,
        "done": ledger.done,
    }
    if ledger.figures is not None:
        arrays |= {f"look_{name}": part for name, part in ledger.figures._asdict().items()}
    standings = [*ledger.finished, *ledger.in_progress]
    if standings:
        arrays["totals"] = np.concatenate([each.totals for each in standings])
    states = [state for each in standings for state in each.states]
    for name in states[0] if states else ():
        parts = [state[name] for state in states]
        arrays[f"state_{name}"] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        arrays[f"length_{name}"] = np.array([len(part) for part in parts])
    return arrays


def _unpacked(e: Experiment, runs: range, described: dict[str, Any], arrays: Arrays) -> Ledger:
    """Return the ledger that was packed, or raise ValueError or KeyError."""
    lengths = named(arrays, "length_")
    columns = {
        name: np.split(part, np.cumsum(lengths[name])[:-1])
        for name, part in named(arrays, "state_").items()
    }
    states = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    standings: dict[str, list[Standing]] = {"finished": [], "in_progress": []}
    at = 0
    for name, found in standings.items():
        for start, stop, t in described[name]:
            its = slice(at, at + stop - start)
            found.append(Standing(range(start, stop), t, arrays["totals"][its], states[its]))
            at = its.stop
    figures = None
    if e.looks is not None:
        figures = Figures(*(arrays[f"look_{name}"] for name in Figures._fields))
    ledger = Ledger(
        runs,
        np.ascontiguousarray(arrays["regret"], np.float64),
        figures,
        arrays["counts"],
        arrays["done"],
        seconds=float(described["seconds"]),
        **standings,
    )
    _check(e, ledger, at, len(states))
    return ledger


def _check(e: Experiment, ledger: Ledger, standing: int, states: int) -> None:
    """Raise ValueError unless the parts of a ledger fit each other."""
    n, looks = len(ledger.runs), 0 if e.looks is None else len(e.looks)
    begun = [run for each in ledger.in_progress for run in each.runs]
    fits = (
        ledger.regret.shape == (n, len(e.times))
        and ledger.counts.shape == (e.bandit.K,)
        and ledger.done.shape == (n,)
        and standing == states
        and len(set(begun)) == len(begun)
        and all(0 <= run < n and not ledger.done[run] for run in begun)
        and all(0 <= each.t <= e.T for each in ledger.in_progress)
        and all(part.shape == (n, looks) for part in ledger.figures or ())
    )
    if not fits:
        raise ValueError("its parts do not fit each other")
