"""Ensemble sampling, Algorithm 1 of the paper."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes import validation
from fastes.kernels.ensemble import Ensemble, draw_models, ensemble, ensemble_bytes
from fastes.kernels.streams import Source


@dataclass(frozen=True)
class EnsembleSampling:
    """Ensemble sampling: M models drawn from the prior, each kept plausible by perturbation.

    At each step one model is chosen uniformly and its best arm is played; then every model is
    updated with the reward plus its own N(0, sigma^2) perturbation (equation 2).

    Parameters
    ----------
    M : int
        Number of models.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=100), T=200, runs=4)
    >>> result.label
    'ES, M=100'
    """

    M: int
    name: ClassVar[str] = "es"
    engine: ClassVar[str] = "eager"

    def __post_init__(self) -> None:
        M = validation.integer("M", self.M, 1, validation.MAX_SIZE)
        object.__setattr__(self, "M", M)

    def parameters(self) -> dict[str, Any]:
        """Return the number of models."""
        return {"M": self.M}

    def state_bytes(self, K: int, r: int) -> int:
        """Return the memory of all M models and the posterior."""
        return ensemble_bytes(r, self.M)

    def step_cost(self, K: int, r: int) -> float:
        """Return the cost of the scan over arms, and the update of all M models."""
        return K * r + self.M * (r + 40.0)

    def initial_state(self, K: int, r: int, source: Source) -> Ensemble:
        """Return the posterior at the prior, and M models drawn from it."""
        state = ensemble(r, self.M)
        draw_models(state.models, source, 0, len(state.models.tiles))
        return state
