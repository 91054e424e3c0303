"""Action sets: which arms a problem offers, and when."""

from collections.abc import Mapping
from typing import Any

from fastes.actions.action_set import ActionSet
from fastes.actions.ball import Ball
from fastes.actions.drawn import Fresh, Redrawn
from fastes.actions.fixed import Fixed
from fastes.actions.given import Given
from fastes.actions.offered import Offered
from fastes.actions.subset import Subset

__all__ = ["ActionSet", "Ball", "Fixed", "Fresh", "Given", "Offered", "Redrawn", "Subset"]

ACTION_SETS: dict[str, type[ActionSet]] = {
    each.kind: each for each in (Fixed, Redrawn, Fresh, Subset, Given, Ball, Offered)
}
"""The sets, by their names in files."""


def action_set_from_arrays(saved: Mapping[str, Any]) -> ActionSet:
    """Return the action set of these arrays (`ActionSet.saved`), or raise."""
    kind = str(saved.get("set_kind", Fixed.kind))
    if kind not in ACTION_SETS:
        raise ValueError(f"unknown action set {kind!r}")
    return ACTION_SETS[kind].from_arrays(saved)
