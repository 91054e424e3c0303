"""Ensembles restored from their arrays, whose logs and models are checked before they are used."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.agents.states import Arrays, fill_state
from fastes.checks.numbers import MAX_SIZE
from fastes.files.kinds import FileFormatError
from fastes.kernels.actions.arms import Arms
from fastes.kernels.ensembles import deferred, eager, row_deferred
from fastes.kernels.ensembles.deviations import Deviations
from fastes.kernels.ensembles.play_log import arm_type
from fastes.kernels.ensembles.row_log import STEPS_A_MODEL, capacity_for

Numbers = NDArray[Any]


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
    by_sequence = deferred.keeps_sequence(arms.K, M)
    names, fit, restored = _BY_SEQUENCE if by_sequence else _BY_COUNTS
    parts = [arrays[name] for name in names if name in arrays]
    if len(parts) < len(names) or not fit(M, arms.K, r, *parts):
        raise FileFormatError("a saved agent's models are missing or do not fit")
    state = restored(arms, r, M, deviations, steps, *parts)
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


def _sequence_fits(
    M: int, K: int, r: int, played: Numbers, model: Numbers, xi: Numbers, read_at: Numbers
) -> bool:
    """Return whether the arm of every play and the models are whole and within their ranges."""
    return _are_arms(played, K) and _models_fit([model, xi, read_at], M, r, 0, len(played))


def _counts_fit(
    M: int,
    K: int,
    r: int,
    played: Numbers,
    plays: Numbers,
    model: Numbers,
    xi: Numbers,
    taken_in: Numbers,
) -> bool:
    """Return whether arms, how often each was played, and the models are whole."""
    if not _are_arms(played, K) or len(np.unique(played)) != len(played):
        return False
    if plays.dtype != np.int64 or plays.shape != played.shape or not _are_counts(plays):
        return False
    if taken_in.dtype != np.uint32 or taken_in.shape != (len(model) * len(played),):
        return False
    by_model = taken_in.reshape(len(model), len(played))
    read_at = by_model.sum(axis=1, dtype=np.int64)
    fits = _models_fit([model, xi, read_at], M, r, 0, int(plays.sum()))
    return fits and bool((by_model <= plays).all())


def _are_arms(played: Numbers, K: int) -> bool:
    return played.dtype == arm_type(K) and played.ndim == 1 and bool((played < K).all())


def _are_counts(plays: Numbers) -> bool:
    """Return whether these are numbers of plays, as many in all as may be."""
    return bool((plays >= 1).all() and (plays <= MAX_SIZE).all() and plays.sum() <= MAX_SIZE)


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


_BY_SEQUENCE = (
    ("played", "model", "xi", "read_at"),
    _sequence_fits,
    deferred.restored_by_sequence,
)
_BY_COUNTS = (
    ("played", "plays", "model", "xi", "taken_in"),
    _counts_fit,
    deferred.restored_by_counts,
)
