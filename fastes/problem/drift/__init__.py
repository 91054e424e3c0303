"""How the true theta may change from step to step; public as `fastes.drift`."""

from fastes.problem.drift.abrupt import Abrupt
from fastes.problem.drift.auto_regressive import AutoRegressive
from fastes.problem.drift.drift import Drift
from fastes.problem.drift.piecewise import Piecewise
from fastes.problem.drift.rotating import Rotating

__all__ = ["Abrupt", "AutoRegressive", "Piecewise", "Rotating"]

DRIFTS: dict[str, type[Drift]] = {
    each.kind: each for each in (Abrupt, AutoRegressive, Rotating, Piecewise)
}
"""The drifts, by their names in files."""
