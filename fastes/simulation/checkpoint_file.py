"""Checkpoint files: an experiment and the partial results of its runs."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import fastes
from fastes.agents.own import OwnAgentError
from fastes.agents.own_compiled import code_of
from fastes.checks import numbers
from fastes.checks.arrays import Arrays
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.guard import made_of
from fastes.files.kinds import FileFormatError, description_of
from fastes.kernels.jit.cache import fingerprint
from fastes.results.diagnostics import Measurements
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import BatchState, PartialResult, empty_partial_result


def write_checkpoint(
    path: str | os.PathLike[str],
    experiment: Experiment,
    partials: Sequence[PartialResult],
    writer: str,
    new: bool = False,
) -> None:
    """Write an experiment and the partial results of its first agents, atomically.

    The file records its `writer` (`writer_of`).
    """
    meta, arrays = experiment.saved()
    for i, partial in enumerate(partials):
        arrays |= {f"partial{i}_{name}": array for name, array in _packed(partial).items()}
    meta |= {
        "writer": writer,
        "kernels": fingerprint(),
        "code": [code_of(agent) for agent in experiment.agents],
        "partials": [_described(partial) for partial in partials],
    }
    save_arrays(path, "checkpoint", meta, arrays, compressed=False, new=new)


def writer_of(path: str | os.PathLike[str]) -> Any:
    """Return the writer of a checkpoint; None if there is no such file or it is of another kind."""
    return description_of(path).get("writer")


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[Experiment, list[PartialResult]]:
    """Read what `write_checkpoint` wrote, or raise FileFormatError with one sentence."""
    meta, arrays = load_arrays(path, "checkpoint")
    if meta.get("kernels") != fingerprint():
        raise FileFormatError(
            f"{os.fspath(path)} was written by fastes {meta.get('version')} with other kernels "
            f"than this fastes {fastes.__version__}: resume needs the version that wrote it"
        )
    with made_of(path, "checkpoint"):
        experiment = Experiment.from_saved(meta, arrays)
        for agent, code in zip(experiment.agents, meta["code"], strict=True):
            if code_of(agent) != code:
                raise OwnAgentError(
                    f"the code of {agent.name} has changed since {os.fspath(path)} was written: "
                    "resume needs the same code"
                )
        partials = [
            _unpacked(experiment, described, with_prefix(arrays, f"partial{i}_"))
            for i, described in enumerate(meta["partials"])
        ]
        if len(partials) > len(experiment.agents):
            raise ValueError("it has more results than agents")
        return experiment, partials


def extended(old: Experiment, new: Experiment, partial: PartialResult) -> PartialResult:
    """Return a partial result for a longer horizon; empty unless all states were kept."""
    if new.T == old.T:
        return partial
    longer = empty_partial_result(new, partial.runs)
    if sum(len(each.runs) for each in partial.finished) < partial.done.sum():
        return longer  # some states were not kept: start again
    # Recording times are nested: those of the longer horizon up to old.T were recorded.
    known = np.flatnonzero(np.isin(new.times, old.times))
    longer.regret[:, known] = partial.regret[:, np.searchsorted(old.times, new.times[known])]
    for room, kept in ((longer.actions, partial.actions), (longer.rewards, partial.rewards)):
        room[:, : kept.shape[1]] = kept
    longer.measurements, longer.counts = partial.measurements, partial.counts
    longer.seconds = partial.seconds
    longer.in_progress = [*partial.in_progress, *partial.finished]
    return longer


def _described(partial: PartialResult) -> dict[str, Any]:
    return {
        "seconds": partial.seconds,
        "finished": [(each.runs.start, each.runs.stop, each.t) for each in partial.finished],
        "in_progress": [(each.runs.start, each.runs.stop, each.t) for each in partial.in_progress],
    }


def _packed(partial: PartialResult) -> Arrays:
    """Return the arrays of a partial result; those of all states are concatenated, for speed."""
    arrays: Arrays = {
        "regret": partial.regret,
        "counts": partial.counts,
        "done": partial.done,
        "actions": partial.actions,
        "rewards": partial.rewards,
    }
    if partial.measurements is not None:
        arrays |= {f"probe_{name}": array for name, array in partial.measurements._asdict().items()}
    batches = [*partial.finished, *partial.in_progress]
    if batches:
        arrays["totals"] = np.concatenate([each.totals for each in batches])
    states = [state for each in batches for state in each.states]
    for name in states[0] if states else ():
        each = [state[name] for state in states]
        arrays[f"state_{name}"] = each[0] if len(each) == 1 else np.concatenate(each)
        arrays[f"length_{name}"] = np.array([len(array) for array in each])
    return arrays


def _unpacked(e: Experiment, described: dict[str, Any], arrays: Arrays) -> PartialResult:
    """Return the partial result that was packed, or raise."""
    _check_arrays(e, arrays)
    lengths = with_prefix(arrays, "length_")
    columns = {
        name: np.split(part, np.cumsum(lengths[name])[:-1])
        for name, part in with_prefix(arrays, "state_").items()
    }
    states = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    batches: dict[str, list[BatchState]] = {"finished": [], "in_progress": []}
    at = 0
    for name, found in batches.items():
        for start, stop, t in described[name]:
            numbers.integer("the first run of a batch", start, 0, e.runs)
            numbers.integer("the last run of a batch", stop, start, e.runs)
            numbers.integer("the step of a batch", t, 0, e.T)
            its = slice(at, at + stop - start)
            found.append(BatchState(range(start, stop), t, arrays["totals"][its], states[its]))
            at = its.stop
    if at != len(states):
        raise ValueError(f"it has {len(states)} states for {at} runs")
    measurements = None
    if e.probe_times is not None:
        measurements = Measurements(*(arrays[f"probe_{name}"] for name in Measurements._fields))
    return PartialResult(
        range(e.runs),
        np.ascontiguousarray(arrays["regret"]),
        measurements,
        arrays["counts"],
        arrays["done"],
        arrays["actions"],
        arrays["rewards"],
        seconds=float(described["seconds"]),
        **batches,
    )


def _check_arrays(e: Experiment, arrays: Arrays) -> None:
    """Raise ValueError unless the arrays are safe for compiled code."""
    n, columns = e.runs, arrays["regret"].shape[-1]
    # At least this many times are recorded; listing times without this check could exhaust memory.
    if columns < min(e.T, e.points) // 4:
        raise ValueError(f"regret has {columns} recorded times, too few for {e.points} of {e.T}")
    times = () if e.probe_times is None else e.probe_times
    expected: dict[str, tuple[tuple[int, ...], Any]] = {
        "regret": ((n, len(e.times)), np.float64),
        "counts": ((e.bandit.action_set.counted_arms,), np.int64),
        "done": ((n,), np.bool_),
        "actions": ((n, e.T if "actions" in e.keep else 0), np.uint32),
        "rewards": ((n, e.T if "rewards" in e.keep else 0), np.float64),
    }
    if len(times):
        probes = [f"probe_{name}" for name in Measurements._fields]
        expected |= dict.fromkeys(probes, ((n, len(times)), np.float64))
    for name, (shape, kind) in expected.items():
        if arrays[name].shape != shape or arrays[name].dtype != kind:
            raise ValueError(f"{name!r} of shape {arrays[name].shape} does not fit {n} runs")
    keys = arrays.get("state_late_keys", np.zeros(0))
    if e.bandit.action_set.arms_repeat and not ((keys >= 0) & (keys < e.bandit.K)).all():
        raise ValueError("a delayed reward has an unknown arm")
