"""Results as files: one npz that describes itself, and CSV."""

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.files.archive import FileFormatError, load_arrays, save_arrays
from fastes.files.atomic import atomic_write
from fastes.results.comparison import Comparison
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret
from fastes.results.result import Configuration, Result


def save_results(path: str | os.PathLike[str], results: Sequence[Result]) -> None:
    """Write results to one npz file that `load` reads."""
    arrays: dict[str, NDArray[Any]] = {}
    for i, result in enumerate(results):
        arrays[f"t_{i}"] = result.t
        arrays[f"regret_{i}"] = result.regret.per_run
        arrays[f"counts_{i}"] = result.counts
        if result.diagnostics is not None:
            arrays[f"probe_times_{i}"] = result.diagnostics.t
            for name, values in result.diagnostics.per_run._asdict().items():
                arrays[f"probe_{name}_{i}"] = values
    meta = {
        "results": [result.configuration._asdict() for result in results],
        "diagnostics": [_described(result.diagnostics) for result in results],
    }
    save_arrays(path, "result", meta, arrays)


def _described(found: Diagnostics | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"samples": found.samples, "constants": asdict(found.constants)}


def load_results(path: str | os.PathLike[str]) -> Result | Comparison:
    """Read what `save_results` wrote."""
    meta, arrays = load_arrays(path, "result")
    try:
        results = tuple(
            Result(
                Configuration(**configuration),
                arrays[f"t_{i}"].astype(np.int64),
                Regret(arrays[f"regret_{i}"].astype(np.float64)),
                arrays[f"counts_{i}"].astype(np.int64),
                _diagnostics(arrays, i, described),
            )
            for i, (configuration, described) in enumerate(
                zip(meta["results"], meta["diagnostics"], strict=True)
            )
        )
        whole = results and all(_is_whole(result) for result in results)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{os.fspath(path)} lacks parts of a result") from error
    if not whole:
        raise FileFormatError(f"{os.fspath(path)} holds parts that do not fit each other")
    return results[0] if len(results) == 1 else Comparison(results)


def _diagnostics(
    arrays: dict[str, NDArray[Any]], i: int, described: dict[str, Any] | None
) -> Diagnostics | None:
    if described is None:
        return None
    from fastes.results.constants import Constants, Estimate

    constants: dict[str, Any] = {
        name: Estimate(**value) if isinstance(value, dict) else value
        for name, value in described["constants"].items()
    }
    measurements = Measurements(
        *(arrays[f"probe_{name}_{i}"].astype(np.float64) for name in Measurements._fields)
    )
    times = arrays[f"probe_times_{i}"].astype(np.int64)
    return Diagnostics(times, int(described["samples"]), measurements, Constants(**constants))


def _is_whole(result: Result) -> bool:
    """Return whether a result from a file is of one piece."""
    c = result.configuration
    return (
        result.regret.per_run.shape == (c.runs, len(result.t))
        and result.regret.per_run.size > 0
        and result.counts.shape == (c.K,)
        and isinstance(c.agent, str)
        and isinstance(c.parameters, dict)
        and c.seconds > 0
        and result.t[-1] == c.T
        and _fits(result.diagnostics, c)
    )


def _fits(found: Diagnostics | None, c: Configuration) -> bool:
    """Return whether diagnostics from a file are of one piece, and of this simulation."""
    if found is None:
        return True
    known, t = found.constants, found.t
    sizes = (known.iota, known.eta.value, known.entropy.value, known.trivial.value)
    return (
        t.ndim == 1
        and len(t) > 0
        and 0 <= t[0]
        and t[-1] < c.T
        and bool((np.diff(t) > 0).all())
        and all(part.shape == (c.runs, len(t)) for part in found.per_run)
        and all(math.isfinite(size) for size in sizes)
        and known.K == c.K
        and known.d >= 1
    )


def write_csv(path: str | os.PathLike[str], results: Sequence[Result]) -> None:
    """Write the curves of results to one CSV file."""
    with atomic_write(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "t", "mean", "se", "median", "q05", "q95"])
        for result in results:
            regret = result.regret
            columns = [regret.mean, regret.se, *(regret.quantile(q) for q in (0.5, 0.05, 0.95))]
            for t, *values in zip(result.t.tolist(), *columns, strict=True):
                writer.writerow([result.label, t, *(float(value) for value in values)])
