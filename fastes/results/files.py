"""Results as files: one npz that describes itself, and CSV."""

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks import arrays as checked_arrays
from fastes.checks import numbers
from fastes.files.archive import load_arrays, save_arrays, with_prefix
from fastes.files.atomic import atomic_write
from fastes.files.kinds import FileFormatError, require_replaceable
from fastes.problem.bandit import LinearBandit
from fastes.problem.truth import Truth
from fastes.results.comparison import Comparison
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret
from fastes.results.result import Configuration, Result
from fastes.results.versions import Versions

Arrays = dict[str, NDArray[Any]]

_WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError)


def save_results(
    path: str | os.PathLike[str], results: Sequence[Result], force: bool = False
) -> None:
    """Write results to one npz file that `load` reads and `rerun` can do again.

    A problem, or a theta, that several results share is written once, under its fingerprint.
    """
    require_replaceable(path, "result", force)
    arrays: Arrays = {}
    for i, result in enumerate(results):
        arrays |= {f"{name}_{i}": part for name, part in _parts(result).items()}
        c, problem = result.configuration, result.problem
        if isinstance(problem, LinearBandit):
            problem = problem.parts(drawn_again=True)
        arrays |= {f"problem_{c.problem}_{name}": part for name, part in problem.items()}
        if result.theta is not None:
            arrays[_theta_name(c)] = result.theta
        if result.truth is not None:
            parts = result.truth.parts().items()
            arrays |= {f"{_truth_prefix(c)}{name}": part for name, part in parts}
    meta = {
        "results": [result.configuration._asdict() for result in results],
        "diagnostics": [_described(result.diagnostics) for result in results],
    }
    save_arrays(path, "result", meta, arrays)


def _theta_name(c: Configuration) -> str:
    return f"theta_{c.theta.split()[-1]}"  # its hash


def _truth_prefix(c: Configuration) -> str:
    return f"truth_{checked_arrays.fingerprint(c.truth)}_"


def _truth(c: Configuration, arrays: Arrays) -> Truth | None:
    """Return the truth of a result from a file, or raise one of `_WRONG`."""
    if c.truth == "belief":
        return None
    truth = Truth.from_parts(with_prefix(arrays, _truth_prefix(c)))
    if truth.words != c.truth:
        raise ValueError("its truth is not the one that it describes")
    return truth


def _parts(result: Result) -> Arrays:
    """Return the arrays of a result that are its own."""
    parts: Arrays = {
        "t": result.t,
        "regret": result.regret.per_run,
        "counts": result.counts,
        "run_numbers": result.run_numbers,
    }
    for name in ("actions", "rewards"):
        if getattr(result, name) is not None:
            parts[name] = getattr(result, name)
    if result.diagnostics is not None:
        parts["probe_times"] = result.diagnostics.t
        for name, values in result.diagnostics.per_run._asdict().items():
            parts[f"probe_{name}"] = values
    return parts


def _described(found: Diagnostics | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"samples": found.samples, "constants": asdict(found.constants)}


def load_results(path: str | os.PathLike[str]) -> Result | Comparison:
    """Read what `save_results` wrote."""
    meta, arrays = load_arrays(path, "result")
    try:
        results = tuple(
            _result(Configuration(**configuration), described, arrays, i)
            for i, (configuration, described) in enumerate(
                zip(meta["results"], meta["diagnostics"], strict=True)
            )
        )
        return results[0] if len(results) == 1 else Comparison(results)
    except _WRONG as error:
        raise FileFormatError(f"{os.fspath(path)} holds no whole result: {error}") from error


def _result(c: Configuration, described: Any, arrays: Arrays, i: int) -> Result:
    """Return the i-th result of a file, or raise one of `_WRONG`."""
    _check_configuration(c)
    result = Result(
        c,
        _numbers(arrays[f"t_{i}"], "i").astype(np.int64),
        Regret(_numbers(arrays[f"regret_{i}"], "f")),
        _numbers(arrays[f"counts_{i}"], "i").astype(np.int64),
        with_prefix(arrays, f"problem_{c.problem}_"),
        _numbers(arrays[f"run_numbers_{i}"], "i").astype(np.int64),
        _diagnostics(arrays, i, described),
        None if c.theta == "prior" else _numbers(arrays[_theta_name(c)], "f"),
        _optional(arrays, f"actions_{i}", "u"),
        _optional(arrays, f"rewards_{i}", "f"),
        _truth(c, arrays),
    )
    if not (_is_whole(result) and _fits(result.diagnostics, c)):
        raise ValueError("its parts do not fit each other")
    return result


def _check_configuration(c: Configuration) -> None:
    """Raise ValueError or TypeError unless a configuration from a file is a possible one."""
    limits = {
        "K": (1, numbers.MAX_SIZE),
        "d": (1, numbers.MAX_SIZE),
        "rank": (1, numbers.MAX_SIZE),
        "T": (1, numbers.MAX_STEPS),
        "runs": (1, numbers.MAX_SIZE),
        "seed": (0, numbers.MAX_SEED),
        "points": (1, numbers.MAX_SIZE),
        "threads": (1, numbers.MAX_SIZE),
        "delay": (0, numbers.MAX_STEPS),
    }
    for name, (least, most) in limits.items():
        if name != "K" or c.K is not None:
            numbers.integer(name, getattr(c, name), least, most)
    numbers.positive("noise", c.noise)
    numbers.positive("seconds", c.seconds)
    words = (c.agent, c.engine, c.actions, c.theta, c.truth, c.problem, c.date)
    texts = (*words, *Versions(**c.versions))
    if not all(isinstance(text, str) for text in texts) or not isinstance(c.parameters, dict):
        raise TypeError("its description is not one")


def _numbers(values: NDArray[Any], kind: str) -> NDArray[Any]:
    if values.dtype.kind != kind or not np.isfinite(values).all():
        raise ValueError("numbers are not finite, or of another kind")
    return values


def _optional(arrays: Mapping[str, NDArray[Any]], name: str, kind: str) -> NDArray[Any] | None:
    return _numbers(arrays[name], kind) if name in arrays else None


def _diagnostics(
    arrays: Mapping[str, NDArray[Any]], i: int, described: dict[str, Any] | None
) -> Diagnostics | None:
    if described is None:
        return None
    from fastes.results.constants import Constants, Estimate

    constants: dict[str, Any] = {
        name: Estimate(**value) if isinstance(value, dict) else value
        for name, value in described["constants"].items()
    }
    parts = (arrays[f"probe_{name}_{i}"] for name in Measurements._fields)
    measurements = Measurements(*(part.astype(np.float64, casting="safe") for part in parts))
    times = _numbers(arrays[f"probe_times_{i}"], "i").astype(np.int64)
    samples = numbers.integer("samples", described["samples"], 1, numbers.MAX_SIZE)
    return Diagnostics(times, samples, measurements, Constants(**constants))


def _is_whole(result: Result) -> bool:
    """Return whether a result from a file is of one piece."""
    c, t, runs = result.configuration, result.t, result.run_numbers
    every_step = (c.runs, c.T)
    return bool(
        t.ndim == 1
        and len(t) > 0
        and t[0] >= 1
        and (np.diff(t) > 0).all()
        and t[-1] == c.T
        and result.regret.per_run.shape == (c.runs, len(t))
        and (result.regret.per_run >= 0).all()
        and _counts_fit(result)
        and runs.shape == (c.runs,)
        and runs[0] >= 0
        and (np.diff(runs) > 0).all()
        and (result.theta is None or result.theta.shape[1:] == (c.d,))
        and (result.actions is None or result.actions.shape == every_step)
        and (result.rewards is None or result.rewards.shape == every_step)
        and result.problem
    )


def _counts_fit(result: Result) -> bool:
    """Return whether the plays that were counted, and the arms that were kept, are possible."""
    c, counts, kept = result.configuration, result.counts, result.actions
    if counts.ndim != 1 or (c.actions == "fixed" and len(counts) != c.K):
        return False
    plays = c.runs * c.T if len(counts) else 0
    arms = len(counts) or c.K or 1
    within = kept is None or (kept < arms).all()
    return bool((counts >= 0).all() and counts.sum() == plays and within)


def _fits(found: Diagnostics | None, c: Configuration) -> bool:
    """Return whether diagnostics from a file are of one piece, and of this simulation."""
    if found is None:
        return True
    known, t = found.constants, found.t
    estimates = (known.eta, known.delta, known.entropy, known.trivial)
    sizes = (known.iota, known.width, known.noise, *(each.value for each in estimates))
    return bool(
        t.ndim == 1
        and len(t) > 0
        and 0 <= t[0]
        and t[-1] < c.T
        and (np.diff(t) > 0).all()
        and all(part.shape == (c.runs, len(t)) for part in found.per_run)
        and all(math.isfinite(size) for size in sizes)
        and known.K == c.K
        and known.d >= 1
    )


def write_csv(path: str | os.PathLike[str], results: Sequence[Result], force: bool = False) -> None:
    """Write the curves of results to one CSV file; of one run there are no quantiles."""
    require_replaceable(path, "table", force)
    with atomic_write(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["agent", "t", "runs", "mean", "se", "median", "q05", "q95"])
        for result in results:
            regret, runs = result.regret, result.configuration.runs
            columns = [regret.mean, regret.se, *(regret.quantile(q) for q in (0.5, 0.05, 0.95))]
            for t, mean, *rest in zip(result.t.tolist(), *columns, strict=True):
                errors = [float(value) for value in rest] if runs > 1 else [""] * len(rest)
                writer.writerow([result.label, t, runs, float(mean), *errors])
