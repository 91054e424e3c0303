"""Exact, fast ensemble sampling and Thompson sampling on linear, logistic and Poisson bandits.

Names are loaded when first used, so that importing fastes does not import numba.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# In a checkout the kernels lie beside this folder; an installed package holds them.
_CHECKOUT = Path(__file__).parent.parent
if not (Path(__file__).parent / "kernels").is_dir() and (_CHECKOUT / "kernels").is_dir():
    __path__.append(str(_CHECKOUT))

_HOME = {
    "BayesUCB": "agents.bayes_ucb",
    "Comparison": "results.comparison",
    "DiscountedLinUCB": "agents.discounted_linucb",
    "EnsemblePlusPlus": "agents.ensemble_plus_plus",
    "EnsembleSampling": "agents.ensemble_sampling",
    "EpsilonGreedy": "agents.epsilon_greedy",
    "Greedy": "agents.greedy",
    "InformationDirectedSampling": "agents.information_directed",
    "LinUCB": "agents.linucb",
    "LinearBandit": "problem.linear",
    "LinearEnsemble": "agents.linear_ensemble",
    "LiveAgent": "agents.live",
    "Log": "logs.log",
    "LogisticBandit": "problem.generalised_linear",
    "OwnAgentError": "agents.own",
    "PerturbedHistory": "agents.perturbed_history",
    "PoissonBandit": "problem.generalised_linear",
    "Prior": "logs.prior",
    "Progress": "simulation.progress",
    "Replay": "logs.replay",
    "Result": "results.result",
    "SimulationStopped": "simulation.api",
    "Study": "studies.study",
    "Sweep": "studies.sweep",
    "ThompsonSampling": "agents.thompson_sampling",
    "Truth": "problem.truth",
    "UniformRandom": "agents.uniform_random",
    "citation": "reports.citation",
    "compare": "simulation.api",
    "fit_prior": "logs.prior",
    "load": "saved.loading",
    "replay": "logs.api",
    "report": "reports.api",
    "rerun": "simulation.rerun",
    "resume": "simulation.checkpoint",
    "simulate": "simulation.api",
    "sweep": "studies.execution",
}

_SUBPACKAGES = ("actions", "drift", "theory")
"""Public subpackages: fastes.actions.Ball, fastes.drift.Abrupt, fastes.theory.bounds."""

__all__ = sorted(_HOME)

if TYPE_CHECKING:  # the same names for type checkers
    from fastes import actions as actions
    from fastes import drift as drift
    from fastes import theory as theory
    from fastes.agents.bayes_ucb import BayesUCB as BayesUCB
    from fastes.agents.discounted_linucb import DiscountedLinUCB as DiscountedLinUCB
    from fastes.agents.ensemble_plus_plus import EnsemblePlusPlus as EnsemblePlusPlus
    from fastes.agents.ensemble_sampling import EnsembleSampling as EnsembleSampling
    from fastes.agents.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
    from fastes.agents.greedy import Greedy as Greedy
    from fastes.agents.information_directed import (
        InformationDirectedSampling as InformationDirectedSampling,
    )
    from fastes.agents.linear_ensemble import LinearEnsemble as LinearEnsemble
    from fastes.agents.linucb import LinUCB as LinUCB
    from fastes.agents.live import LiveAgent as LiveAgent
    from fastes.agents.own import OwnAgentError as OwnAgentError
    from fastes.agents.perturbed_history import PerturbedHistory as PerturbedHistory
    from fastes.agents.thompson_sampling import ThompsonSampling as ThompsonSampling
    from fastes.agents.uniform_random import UniformRandom as UniformRandom
    from fastes.logs.api import replay as replay
    from fastes.logs.log import Log as Log
    from fastes.logs.prior import Prior as Prior
    from fastes.logs.prior import fit_prior as fit_prior
    from fastes.logs.replay import Replay as Replay
    from fastes.problem.generalised_linear import LogisticBandit as LogisticBandit
    from fastes.problem.generalised_linear import PoissonBandit as PoissonBandit
    from fastes.problem.linear import LinearBandit as LinearBandit
    from fastes.problem.truth import Truth as Truth
    from fastes.reports.api import report as report
    from fastes.reports.citation import citation as citation
    from fastes.results.comparison import Comparison as Comparison
    from fastes.results.result import Result as Result
    from fastes.saved.loading import load as load
    from fastes.simulation.api import SimulationStopped as SimulationStopped
    from fastes.simulation.api import compare as compare
    from fastes.simulation.api import simulate as simulate
    from fastes.simulation.checkpoint import resume as resume
    from fastes.simulation.progress import Progress as Progress
    from fastes.simulation.rerun import rerun as rerun
    from fastes.studies.execution import sweep as sweep
    from fastes.studies.study import Study as Study
    from fastes.studies.sweep import Sweep as Sweep


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"fastes.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'fastes' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"fastes.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_SUBPACKAGES]
