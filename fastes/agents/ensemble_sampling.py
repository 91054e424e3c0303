"""Ensemble sampling, Algorithm 1 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.checks import numbers
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw, Moments
    from fastes.agents.states import Arrays
    from fastes.checks.arrays import Floats
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source

ENGINES = ("auto", "deferred", "eager")


@dataclass(frozen=True)
class EnsembleSampling(Agent):
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
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10), T=200, runs=50)
    Result(ES, M=10: regret 45.2 +- 3.2 at T=200, 50 runs)
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10**9), T=200, runs=50)
    Result(ES, M=1,000,000,000: regret 46.48 +- 2.1 at T=200, 50 runs)
    """

    M: int = parameter("Models in the ensemble.", "integer", 30, minimum=1)
    engine: str = parameter(
        "How the models are kept.",
        "choice",
        "auto",
        default="auto",
        choices=ENGINES,
        labelled=False,
    )
    name: ClassVar[str] = "es"
    title: ClassVar[str] = "ES"
    scores: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "auto":
            object.__setattr__(self, "engine", "deferred")

    @property
    def max_steps(self) -> int:
        """The most steps that it can take: the play log counts them in 32 bits."""
        return numbers.MAX_STEPS if self.engine == "eager" else numbers.MAX_SIZE

    def state_bytes(self, K: int | None, r: int, T: int) -> int:
        """Return the memory of the models and the posterior."""
        from fastes.kernels.ensembles import deferred, eager, row_deferred

        if self.engine == "eager":
            return eager.eager_ensemble_bytes(r, self.M)
        if K is None:
            return row_deferred.row_ensemble_bytes(r, self.M, T)
        return deferred.deferred_ensemble_bytes(K, r, self.M, T)

    def shared_cost(self, r: int) -> float:
        """Return the cost of an eager update of all M models."""
        return self.M * (r + 40.0) if self.engine == "eager" else 0.0

    def initial_state(self, K: int | None, r: int, source: Source, steps: int = 0) -> Any:
        """Return the posterior at the prior, and M models drawn from it, or to be drawn."""
        from fastes.kernels.ensembles import deferred, eager, row_deferred

        if self.engine == "deferred":
            if K is None:
                return row_deferred.row_ensemble(r, self.M, steps)
            return deferred.deferred_ensemble(K, r, self.M, steps)
        state = eager.eager_ensemble(r, self.M)
        eager.draw_prior_models(state.models, source, 0, len(state.models.tiles))
        return state

    def with_capacity(self, state: Any) -> Any:
        """Return a deferred state with room for more plays or models."""
        from fastes.kernels.ensembles import deferred, row_deferred

        rows = isinstance(state, row_deferred.RowEnsemble)
        return (row_deferred if rows else deferred).with_capacity(state)

    def models(
        self, state: Any, source: Source, probe_index: int, first: int = 0, last: int | None = None
    ) -> Floats:
        """Return the models first, ..., last - 1, or all, in information space, one a row.

        It changes no action that follows. `probe_index` numbers the probe: the same number at the
        same step gives the same models.
        """
        from fastes.kernels.ensembles import deferred, eager, row_deferred

        between = (eager if self.engine == "eager" else deferred).models_between
        if isinstance(state, row_deferred.RowEnsemble):
            between = row_deferred.models_between
        return between(state, source, probe_index, first, self.M if last is None else last)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return phat_t, how often each arm is the best of a model, and the models' moments."""
        import numpy as np

        from fastes.agents.action_law import ActionLaw
        from fastes.agents.best_arms import BLOCK, BestArmCounts, read_models, with_root

        posterior = with_root(state.posterior)
        best = BestArmCounts(arms)
        first, second = np.zeros(len(posterior.mu)), np.zeros_like(posterior.S)
        for start in range(0, self.M, BLOCK):
            xi = self.models(state, source, t, start, min(self.M, start + BLOCK))
            best.add(read_models(state.posterior, xi))
            white = xi @ posterior.root.T  # P^(1/2) (z - mu)
            first += white.sum(axis=0)
            second += white.T @ white
        moments = self._moments(first, second)
        return ActionLaw(best.counts / self.M, moments, np.concatenate(best.best_scores))

    def _moments(self, first: Floats, second: Floats) -> Moments:
        import numpy as np

        from fastes.agents.action_law import Moments

        M, r = self.M, len(first)
        gap = second / M - np.eye(r)
        return Moments(
            variance=float(np.trace(second)) / (M * r),
            mean_error=float(np.linalg.norm(first)) / np.sqrt(M * r),
            cov_error=float(np.linalg.norm(gap)) * np.sqrt(M / (r * (r + 1))),
        )

    def restored_state(
        self, arrays: Arrays, arms: Arms | None, r: int, source: Source, steps: int = 0
    ) -> Any:
        """Return the state whose arrays are given, or raise FileFormatError."""
        from fastes.agents.ensemble_states import (
            restored_deferred,
            restored_eager,
            restored_row_deferred,
        )

        if self.engine == "eager":
            return restored_eager(self.M, arrays, r)
        if arms is None:
            return restored_row_deferred(self.M, arrays, r, steps)
        return restored_deferred(self.M, arrays, arms, r, steps)
