"""Ensembles restored from their arrays, whose logs and models are checked before they are used."""

from typing import Any

import numpy as np

from fastes.agents.states import Arrays, fill_state
from fastes.files.kinds import FileFormatError
from fastes.kernels.actions.arms import Arms
from fastes.kernels.ensembles import deferred, eager, row_deferred
from fastes.kernels.ensembles.deviations import Deviations
from fastes.kernels.ensembles.play_log import arm_type
from fastes.kernels.ensembles.row_log import STEPS_A_MODEL, capacity_for


def restored_eager(M: int, deviations: Deviations, arrays: Arrays, r: int) -> eager.EagerEnsemble:
    """Return an eager ensemble of M models from its arrays, or raise FileFormatError."""
    state = eager.eager_ensemble(r, M, deviations)
    fill_state(state, arrays)
    start, pending = state.models.span
    if start < 0 or not 0 <= pending <= len(state.models.pending):
        raise FileFormatError(f"a saved agent's 'span' is out of range: {start}, {pending}")
    return state


def restored_deferred(
    M: int, deviations: Deviations, arrays: Arrays, arms: Arms, r: int, steps: int
) -> deferred.DeferredEnsemble:
    """Return a deferred ensemble of M models from its arrays, or raise FileFormatError.

    It has room for what `steps` in all may read and play.
    """
    parts = [arrays.get(name) for name in ("played", "model", "xi", "read_at")]
    if not _fit(parts, M, arms.K, r):
        raise FileFormatError("a saved agent's models are missing or do not fit")
    state = deferred.restored(arms, r, M, deviations, steps, *parts)
    fill_state(state, arrays)
    return state


def restored_row_deferred(
    M: int, deviations: Deviations, arrays: Arrays, r: int, steps: int
) -> row_deferred.RowEnsemble:
    """Return a deferred ensemble of arms that do not come again, or raise FileFormatError."""
    if not _rows_fit(arrays, M, r):
        raise FileFormatError("a saved agent's models are missing or do not fit")
    parts = [arrays[name] for name in ("rows", "model", "xi", "read_at")]
    first = int(arrays["first_row"][0])
    state = row_deferred.restored(r, M, deviations, steps, first, *parts)
    fill_state(state, arrays)
    return state


def _rows_fit(arrays: Arrays, M: int, r: int) -> bool:
    """Return whether the parts of such an ensemble are whole and within their ranges."""
    rows, first = arrays.get("rows"), arrays.get("first_row")
    if rows is None or first is None or first.shape != (1,) or first.dtype != np.int64:
        return False
    half = capacity_for(r, STEPS_A_MODEL * M) // 2  # rows are forgotten by halves
    if first[0] < 0 or first[0] % half != 0 or len(rows) > 2 * half:
        return False
    if rows.dtype != np.float64 or rows.shape[1:] != (r,) or not np.isfinite(rows).all():
        return False
    models = [arrays.get(name) for name in ("model", "xi", "read_at")]
    return _models_fit(models, M, r, int(first[0]), int(first[0]) + len(rows))


def _fit(parts: list[Any], M: int, K: int, r: int) -> bool:
    """Return whether the parts of a deferred ensemble are whole and within their ranges."""
    played = parts[0]
    if played is None or played.dtype != arm_type(K) or played.ndim != 1 or (played >= K).any():
        return False
    return _models_fit(parts[1:], M, r, 0, len(played))


def _models_fit(parts: list[Any], M: int, r: int, first: int, last: int) -> bool:
    """Return whether models that were read between two times are whole."""
    kinds = [(np.uint32, 1), (np.float64, 2), (np.int64, 1)]
    if any(
        part is None or part.dtype != kind or part.ndim != dimensions
        for part, (kind, dimensions) in zip(parts, kinds, strict=True)
    ):
        return False
    model, xi, read_at = parts
    return bool(
        xi.shape == (len(model), r)
        and np.isfinite(xi).all()
        and len(read_at) == len(model) == len(np.unique(model))
        and (model < M).all()
        and ((read_at >= first) & (read_at <= last)).all()
    )
