"""Results as files: npz with a description, and CSV."""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks import arrays as checked_arrays
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.atomic import atomic_write
from fastes.files.guard import made_of, typed
from fastes.files.kinds import require_replaceable
from fastes.problem.bandit import Bandit
from fastes.problem.world import World
from fastes.results.comparison import Comparison
from fastes.results.configuration import TRAJECTORIES, Configuration
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret
from fastes.results.result import Result

Arrays = dict[str, NDArray[Any]]

_NEWER = ("effective_samples", "least_eigenvalue", "largest_eigenvalue")
"""Measurements that older files lack."""


def save_results(
    path: str | os.PathLike[str], results: Sequence[Result], force: bool = False
) -> None:
    """Write results to one npz file that `load` reads and from which `rerun` repeats them.

    A problem or theta shared by several results is written once, under its fingerprint.
    """
    require_replaceable(path, "result", force)
    arrays: Arrays = {}
    for i, result in enumerate(results):
        arrays |= {f"{name}_{i}": array for name, array in _own_arrays(result).items()}
        c, problem = result.configuration, result.problem
        if isinstance(problem, Bandit):
            problem = problem.arrays(drawn_again=True)
        arrays |= {f"problem_{c.problem}_{name}": array for name, array in problem.items()}
        if result.theta is not None:
            arrays[_theta_name(c)] = result.theta
        if result.truth is not None:
            world = result.world.arrays().items()
            arrays |= {f"{_world_prefix(c)}{name}": array for name, array in world}
    meta = {
        "results": [result.configuration._asdict() for result in results],
        "diagnostics": [_described(result.diagnostics) for result in results],
    }
    save_arrays(path, "result", meta, arrays)


def _theta_name(c: Configuration) -> str:
    return f"theta_{c.theta.split()[-1]}"  # its hash


def _world_prefix(c: Configuration) -> str:
    return f"truth_{checked_arrays.fingerprint(c.truth)}_"


def _world(c: Configuration, arrays: Arrays) -> World:
    """Return the world of a result from a file, or raise."""
    world = World.from_arrays(c._asdict(), with_prefix(arrays, _world_prefix(c)))
    if world.facts["truth"] != c.truth:
        raise ValueError("its truth does not match its configuration")
    return world


def _own_arrays(result: Result) -> Arrays:
    """Return the arrays that a result does not share with others."""
    arrays: Arrays = {
        "t": result.t,
        "regret": result.regret.per_run,
        "counts": result.counts,
        "run_numbers": result.run_numbers,
    }
    for name in TRAJECTORIES:
        if getattr(result, name) is not None:
            arrays[name] = getattr(result, name)
    if result.diagnostics is not None:
        arrays["probe_times"] = result.diagnostics.t
        for name, values in result.diagnostics.per_run._asdict().items():
            arrays[f"probe_{name}"] = values
    return arrays


def _described(found: Diagnostics | None) -> dict[str, Any] | None:
    if found is None:
        return None
    known = found.constants
    return {"samples": found.samples, "constants": None if known is None else asdict(known)}


def load_results(path: str | os.PathLike[str]) -> Result | Comparison:
    """Read what `save_results` wrote."""
    meta, arrays = load_arrays(path, "result")
    with made_of(path, "result"):
        described = zip(meta["results"], meta["diagnostics"], strict=True)
        results = tuple(
            _result(Configuration.from_description(configuration), diagnostics, arrays, i)
            for i, (configuration, diagnostics) in enumerate(described)
        )
        return results[0] if len(results) == 1 else Comparison(results)


def _result(c: Configuration, described: Any, arrays: Arrays, i: int) -> Result:
    """Return the i-th result of a file, or raise."""
    if min(c.T, c.runs, c.seconds) <= 0:
        raise ValueError("T, runs and seconds must be positive")
    for name, shape in _shapes(c, arrays, i).items():
        array = arrays.get(f"{name}_{i}")
        if array is not None and (array.shape != shape or array.dtype.kind not in "iuf"):
            raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    result = Result(
        c,
        arrays[f"t_{i}"],
        Regret(arrays[f"regret_{i}"]),
        arrays[f"counts_{i}"],
        with_prefix(arrays, f"problem_{c.problem}_"),
        arrays[f"run_numbers_{i}"],
        _diagnostics(arrays, i, described),
        None if c.theta == "prior" else arrays[_theta_name(c)],
        arrays.get(f"actions_{i}"),
        arrays.get(f"rewards_{i}"),
        _world(c, arrays),
    )
    repr(result)  # raises if the result is inconsistent
    return result


def _shapes(c: Configuration, arrays: Arrays, i: int) -> dict[str, tuple[int, ...]]:
    """Return the expected shapes of a result's arrays."""
    points, every_step = len(arrays[f"t_{i}"]), (c.runs, c.T)
    probes = (c.runs, len(arrays.get(f"probe_times_{i}", ())))
    return {
        "t": (points,),
        "regret": (c.runs, points),
        "run_numbers": (c.runs,),
        "actions": every_step,
        "rewards": every_step,
        **{f"probe_{name}": probes for name in Measurements._fields},
    }


def _diagnostics(
    arrays: Mapping[str, NDArray[Any]], i: int, described: dict[str, Any] | None
) -> Diagnostics | None:
    if described is None:
        return None
    from fastes.problem.constants import Constants

    found = {name: arrays.get(f"probe_{name}_{i}") for name in Measurements._fields}
    for name in _NEWER:
        if found[name] is None:
            found[name] = np.full_like(arrays[f"probe_entropy_{i}"], np.nan)
    if any(values is None for values in found.values()):
        raise KeyError("a measurement")
    measured = Measurements(**found)
    times, samples = arrays[f"probe_times_{i}"], described["samples"]
    known = described["constants"]
    if known and "eta0" not in known:  # written before the sharper bounds
        closed = known["eta_closed_form"]
        known = {
            "eta0": known["eta"],
            "eta0_closed_form": closed,
            "contenders": known["K"],
            **known,
        }
    return Diagnostics(times, samples, measured, known and typed(Constants, known))


def write_csv(path: str | os.PathLike[str], results: Sequence[Result], force: bool = False) -> None:
    """Write the curves of results to one CSV file; quantiles are empty for a single run."""
    rows = [row for result in results for row in _curve_rows(result)]
    write_table(path, rows, force)


def _curve_rows(result: Result) -> Iterator[dict[str, Any]]:
    regret, runs = result.regret, result.configuration.runs
    spread = {"se": regret.se, "median": regret.median}
    spread |= {"q05": regret.quantile(0.05), "q95": regret.quantile(0.95)}
    for i, t in enumerate(result.t.tolist()):
        row = {"agent": result.label, "t": t, "runs": runs, "mean": float(regret.mean[i])}
        yield row | {name: float(its[i]) if runs > 1 else None for name, its in spread.items()}


def write_table(
    path: str | os.PathLike[str], rows: Sequence[Mapping[str, Any]], force: bool = False
) -> None:
    """Write rows, mappings from column names to values, to a CSV file.

    Missing values and None are empty. A file that is not a table is replaced only with `force`.
    """
    require_replaceable(path, "table", force)
    names = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
