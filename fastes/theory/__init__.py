"""The quantities defined in the paper, its bounds, and measurements of them.

Modules are loaded when first used: ``fastes.theory.bounds.theorem1``.
"""

import importlib
from types import ModuleType

__all__ = [
    "bounds",
    "constants",
    "inequalities",
    "lower_bounds",
    "measures",
    "mixing",
    "optimal_action",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'fastes.theory' has no attribute {name!r}")
    return importlib.import_module(f"fastes.theory.{name}")
