"""An agent's kernel state as named arrays, and back: for checkpoints and saved live agents.

A state is a named tuple of arrays, parameters and named tuples. Saved are its arrays, under the
names of their fields (posterior_mu), but for `z` and `scratch`, which hold nothing from one step to
the next, and for the logs, which have a smaller form of their own.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.files.kinds import FileFormatError
from fastes.kernels.ensembles.cached_models import CachedModels
from fastes.kernels.ensembles.play_log import PlayLog, arms_by_slot, played_arms
from fastes.kernels.ensembles.row_log import RowLog, first_kept, kept_rows
from fastes.kernels.posterior.state import MOST_UPDATES

Arrays = dict[str, NDArray[Any]]

_UNSAVED = ("z", "scratch")


def state_arrays(state: Any) -> Arrays:
    """Return the arrays from which `fill_state`, or its agent, makes the same state again."""
    arrays = dict(_fields(state))
    for part in state:
        if isinstance(part, PlayLog):
            arrays |= _log_arrays(part)
        elif isinstance(part, RowLog):
            arrays |= {"rows": kept_rows(part), "first_row": np.array([first_kept(part)])}
        elif isinstance(part, CachedModels):
            used = int(part.used[0])
            arrays |= {name: getattr(part, name)[:used] for name in ("model", "xi", "read_at")}
            if "plays" in arrays:
                del arrays["read_at"]
                arrays["taken_in"] = part.plays[:used, : len(arrays["plays"])].ravel()
    return arrays


def _log_arrays(log: PlayLog) -> Arrays:
    """Return the arm of every play, or the arms by first play and how often each was played."""
    if len(log.sequence) > 0:
        return {"played": played_arms(log)}
    arms = arms_by_slot(log)
    return {"played": arms, "plays": log.plays[: len(arms)]}


def fill_state(state: Any, arrays: Arrays) -> None:
    """Fill a state, its logs apart, from its arrays, or raise FileFormatError."""
    for name, target in _fields(state):
        stored = arrays.get(name)
        if stored is None or stored.shape != target.shape or stored.dtype != target.dtype:
            raise FileFormatError(f"a saved agent's {name!r} is missing or does not fit")
        if not np.isfinite(stored).all():
            raise FileFormatError(f"a saved agent's {name!r} must be finite")
        np.copyto(target, stored)
    updates, distinct, allowed = state.posterior.since_refactor
    if not (
        0 <= distinct < len(state.posterior.recent)
        and distinct <= updates < allowed <= MOST_UPDATES
    ):
        raise FileFormatError(
            f"a saved agent's 'since_refactor' is out of range: {updates}, {distinct}, {allowed}"
        )


def _fields(part: Any, prefix: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of a state that are saved as they are, named by the way to them."""
    for name, field in zip(part._fields, part, strict=True):
        if name in _UNSAVED or isinstance(field, (PlayLog, RowLog, CachedModels)):
            continue
        if isinstance(field, tuple):
            yield from _fields(field, f"{prefix}{name}_")
        elif isinstance(field, np.ndarray):
            yield f"{prefix}{name}", field
