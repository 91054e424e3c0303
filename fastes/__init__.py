"""Exact, fast ensemble sampling and Thompson sampling on linear-Gaussian bandits.

The names below are loaded when they are first used: importing fastes costs no import of numba.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastes.agents.ensemble_sampling import EnsembleSampling
    from fastes.agents.greedy import Greedy
    from fastes.agents.linucb import LinUCB
    from fastes.agents.thompson_sampling import ThompsonSampling
    from fastes.agents.uniform_random import UniformRandom
    from fastes.checkpoint import resume
    from fastes.crew import Progress
    from fastes.live import LiveAgent
    from fastes.problem import LinearBandit
    from fastes.result import Comparison, Result
    from fastes.result_files import load
    from fastes.simulation import compare, simulate
    from fastes.studies.outcomes import Sweep
    from fastes.studies.study import Study
    from fastes.studies.sweep import sweep

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "EnsembleSampling",
    "Greedy",
    "LinUCB",
    "LinearBandit",
    "LiveAgent",
    "Progress",
    "Result",
    "Study",
    "Sweep",
    "ThompsonSampling",
    "UniformRandom",
    "compare",
    "load",
    "resume",
    "simulate",
    "sweep",
]

_HOME = {
    "Comparison": "fastes.result",
    "EnsembleSampling": "fastes.agents.ensemble_sampling",
    "Greedy": "fastes.agents.greedy",
    "LinUCB": "fastes.agents.linucb",
    "LinearBandit": "fastes.problem",
    "LiveAgent": "fastes.live",
    "Progress": "fastes.crew",
    "Result": "fastes.result",
    "Study": "fastes.studies.study",
    "Sweep": "fastes.studies.outcomes",
    "ThompsonSampling": "fastes.agents.thompson_sampling",
    "UniformRandom": "fastes.agents.uniform_random",
    "compare": "fastes.simulation",
    "load": "fastes.result_files",
    "resume": "fastes.checkpoint",
    "simulate": "fastes.simulation",
    "sweep": "fastes.studies.sweep",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fastes' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
