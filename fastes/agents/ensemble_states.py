"""Ensembles restored from their arrays, whose logs and models are checked before they are used."""

from typing import Any

import numpy as np

from fastes.agents.states import Arrays, fill_state
from fastes.files.kinds import FileFormatError
from fastes.kernels.actions.arms import Arms
from fastes.kernels.ensembles import deferred, eager
from fastes.kernels.ensembles.play_log import arm_type


def restored_eager(M: int, arrays: Arrays, r: int) -> eager.EagerEnsemble:
    """Return an eager ensemble of M models from its arrays, or raise FileFormatError."""
    state = eager.eager_ensemble(r, M)
    fill_state(state, arrays)
    start, pending = state.models.span
    if start < 0 or not 0 <= pending <= len(state.models.pending):
        raise FileFormatError(f"a saved agent's 'span' is out of range: {start}, {pending}")
    return state


def restored_deferred(
    M: int, arrays: Arrays, arms: Arms, r: int, steps: int
) -> deferred.DeferredEnsemble:
    """Return a deferred ensemble of M models from its arrays, or raise FileFormatError.

    It has room for what `steps` in all may read and play.
    """
    parts = [arrays.get(name) for name in ("played", "model", "xi", "read_at")]
    if not _fit(parts, M, arms.K, r):
        raise FileFormatError("a saved agent's models are missing or do not fit")
    state = deferred.restored(arms, r, M, steps, *parts)
    fill_state(state, arrays)
    return state


def _fit(parts: list[Any], M: int, K: int, r: int) -> bool:
    """Return whether the parts of a deferred ensemble are whole and within their ranges."""
    kinds = [(arm_type(K), 1), (np.uint32, 1), (np.float64, 2), (np.int64, 1)]
    if any(
        part is None or part.dtype != kind or part.ndim != dimensions
        for part, (kind, dimensions) in zip(parts, kinds, strict=True)
    ):
        return False
    played, model, xi, read_at = parts
    return bool(
        xi.shape == (len(model), r)
        and np.isfinite(xi).all()
        and len(read_at) == len(model) == len(np.unique(model))
        and (played < K).all()
        and (model < M).all()
        and ((read_at >= 0) & (read_at <= len(played))).all()
    )
