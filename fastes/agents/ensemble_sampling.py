"""Ensemble sampling, Algorithm 1 of the paper."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes import validation
from fastes.kernels import deferred, ensemble
from fastes.kernels.streams import Source

ENGINES = ("auto", "deferred", "eager")


@dataclass(frozen=True)
class EnsembleSampling:
    """Ensemble sampling: M models drawn from the prior, each kept plausible by perturbation.

    At each step one model is chosen uniformly and its best arm is played; then every model is
    updated with the reward plus its own N(0, sigma^2) perturbation (equation 2).

    Parameters
    ----------
    M : int
        Number of models.
    engine : {"auto", "deferred", "eager"}
        How the models are kept. Deferred: a model takes in what it missed when it is read, and
        a step costs the same for any M. Eager: all M are updated. The actions and rewards have
        the same law, not the same values. Auto is deferred.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=10**9), T=200, runs=4)
    >>> result.label
    'ES, M=1,000,000,000'
    """

    M: int
    engine: str = "auto"
    name: ClassVar[str] = "es"

    def __post_init__(self) -> None:
        M = validation.integer("M", self.M, 1, validation.MAX_SIZE)
        object.__setattr__(self, "M", M)
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")
        if self.engine == "auto":
            object.__setattr__(self, "engine", "deferred")

    def parameters(self) -> dict[str, Any]:
        """Return the number of models."""
        return {"M": self.M}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the memory of the models and the posterior."""
        if self.engine == "eager":
            return ensemble.ensemble_bytes(r, self.M)
        return deferred.deferred_bytes(K, r, self.M, T)

    def step_cost(self, K: int, r: int) -> float:
        """Return the cost of the scan over arms, and of an eager update of all M models."""
        return K * r + (self.M * (r + 40.0) if self.engine == "eager" else 0.0)

    def initial_state(self, K: int, r: int, source: Source) -> Any:
        """Return the posterior at the prior, and M models drawn from it, or to be drawn."""
        if self.engine == "deferred":
            return deferred.deferred(K, r, self.M)
        state = ensemble.ensemble(r, self.M)
        ensemble.draw_models(state.models, source, 0, len(state.models.tiles))
        return state
