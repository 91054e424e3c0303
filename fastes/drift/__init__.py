"""How the true theta may change from step to step."""

from fastes.drift.abrupt import Abrupt
from fastes.drift.auto_regressive import AutoRegressive
from fastes.drift.drift import Drift
from fastes.drift.piecewise import Piecewise
from fastes.drift.rotating import Rotating

__all__ = ["Abrupt", "AutoRegressive", "Piecewise", "Rotating"]

DRIFTS: dict[str, type[Drift]] = {
    each.kind: each for each in (Abrupt, AutoRegressive, Rotating, Piecewise)
}
"""The drifts, by their names in files."""
