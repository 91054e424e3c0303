"""A checkpoint as a file: what it holds, how it is read and checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.agents.states import Arrays
from fastes.files.archive import with_prefix
from fastes.results.diagnostics import Measurements
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import BatchState, PartialResult


def _described(ledger: PartialResult) -> dict[str, Any]:
    return {
        "seconds": ledger.seconds,
        "finished": [(each.runs.start, each.runs.stop, each.t) for each in ledger.finished],
        "in_progress": [(each.runs.start, each.runs.stop, each.t) for each in ledger.in_progress],
    }


def _packed(ledger: PartialResult) -> Arrays:
    """Return a ledger's arrays; those of all states end to end, which is fewer and faster."""
    arrays: dict[str, NDArray[Any]] = {
        "regret": ledger.regret,
        "counts": ledger.counts,
        "done": ledger.done,
    }
    if ledger.measurements is not None:
        arrays |= {f"look_{name}": part for name, part in ledger.measurements._asdict().items()}
    standings = [*ledger.finished, *ledger.in_progress]
    if standings:
        arrays["totals"] = np.concatenate([each.totals for each in standings])
    states = [state for each in standings for state in each.states]
    for name in states[0] if states else ():
        parts = [state[name] for state in states]
        arrays[f"state_{name}"] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        arrays[f"length_{name}"] = np.array([len(part) for part in parts])
    return arrays


def _unpacked(
    e: Experiment, runs: range, described: dict[str, Any], arrays: Arrays
) -> PartialResult:
    """Return the ledger that was packed, or raise ValueError or KeyError."""
    lengths = with_prefix(arrays, "length_")
    columns = {
        name: np.split(part, np.cumsum(lengths[name])[:-1])
        for name, part in with_prefix(arrays, "state_").items()
    }
    states = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    standings: dict[str, list[BatchState]] = {"finished": [], "in_progress": []}
    at = 0
    for name, found in standings.items():
        for start, stop, t in described[name]:
            its = slice(at, at + stop - start)
            found.append(BatchState(range(start, stop), t, arrays["totals"][its], states[its]))
            at = its.stop
    figures = None
    if e.probe_times is not None:
        figures = Measurements(*(arrays[f"look_{name}"] for name in Measurements._fields))
    ledger = PartialResult(
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


def _check(e: Experiment, ledger: PartialResult, standing: int, states: int) -> None:
    """Raise ValueError unless the parts of a ledger fit each other."""
    n, probes = len(ledger.runs), 0 if e.probe_times is None else len(e.probe_times)
    begun = [run for each in ledger.in_progress for run in each.runs]
    fits = (
        ledger.regret.shape == (n, len(e.times))
        and ledger.counts.shape == (e.bandit.K,)
        and ledger.done.shape == (n,)
        and standing == states
        and len(set(begun)) == len(begun)
        and all(0 <= run < n and not ledger.done[run] for run in begun)
        and all(0 <= each.t <= e.T for each in ledger.in_progress)
        and all(part.shape == (n, probes) for part in ledger.measurements or ())
    )
    if not fits:
        raise ValueError("its parts do not fit each other")
