"""Ensemble sampling, Algorithm 1 of the paper, and its variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.inflation import inflation
from fastes.agents.learner import Learner
from fastes.agents.variance import variance
from fastes.checks import numbers
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw, Moments
    from fastes.checks.arrays import Floats
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.ensembles.deviations import Deviations
    from fastes.kernels.streams.philox import Source

ENGINES = ("auto", "deferred", "eager")

_MOST_DIMENSIONS, _ARMS_A_DIMENSION = 3, 1000
"""Most dimensions, and least arms per dimension, for which factors of rows are faster."""


_OF_BOOTSTRAP = {
    "engine": "deferred",
    "symmetric": False,
    "inflation": 1.0,
    "variance": "fisher",
    "discount": 1.0,
}
"""Parameters that must be these: a model that counts clicks has no deviation to be scaled."""


@dataclass(frozen=True, repr=False)
class EnsembleSampling(Learner):
    """Ensemble sampling: M models drawn from the prior and updated with perturbed rewards.

    At each step one model is chosen uniformly and its best arm is played; then every model is
    updated with the reward plus its own N(0, sigma^2) perturbation (equation 2). The variants
    change how models deviate from the posterior mean mu_t, not mu_t itself.

    Parameters
    ----------
    M : int
        Number of models.
    engine : {"auto", "deferred", "eager"}
        How models are updated. Deferred: when a model is read, so that the cost of a step is
        independent of M. Eager: all M at every step. Actions and rewards have the same law, not
        the same values. Auto is deferred.
    perturbations : {"normal", "signs", "bootstrap"}
        Law of a perturbation: N(0, sigma^2) as in the paper, or sigma times a fair sign. With
        signs, arms that change from step to step and a discount need the eager engine. Bootstrap,
        for rewards of 0 and 1 on arms that come again, without a discount: a model counts each
        reward twice or not at all, by a fair coin.
    symmetric : bool
        Whether the deviation of the model read from mu_t gets a fair random sign: an ensemble of
        M models and their reflections.
    inflation : float
        Factor of the deviations from mu_t, at most 1e9.
    variance : {"fisher"} or float
        Variance of a perturbation where rewards are not Gaussian. Fisher: that of the reward it
        perturbs, by what is known once that reward is.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10), T=200, runs=50)
    Result(ES, M=10: regret 45.2 +- 3.2 at T=200, 50 runs)
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10**9), T=200, runs=50)
    Result(ES, M=1,000,000,000: regret 46.48 +- 2.1 at T=200, 50 runs)
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10, symmetric=True), T=200, runs=50)
    Result(ES, M=10, symmetric: regret 42.37 +- 2.9 at T=200, 50 runs)
    """

    M: int = parameter("Models in the ensemble.", "integer", 30, minimum=1)
    engine: str = parameter(
        "How models are updated.",
        "choice",
        "auto",
        default="auto",
        choices=ENGINES,
        labelled="never",
    )
    perturbations: str = parameter(
        "Law of the perturbations.",
        "choice",
        "normal",
        default="normal",
        choices=("normal", "signs", "bootstrap"),
        labelled="unusual",
    )
    symmetric: bool = parameter(
        "Whether the deviation of a model gets a fair random sign.",
        "flag",
        False,
        default=False,
        labelled="unusual",
    )
    inflation: float = inflation()
    variance: str = variance()
    name: ClassVar[str] = "es"
    title: ClassVar[str] = "ES"
    scores: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "auto":
            object.__setattr__(self, "engine", "deferred")
        if self.symmetric:  # indices of M models and their reflections must fit
            numbers.integer("M of a symmetric ensemble", self.M, 1, numbers.MAX_SIZE // 2)
        if self.perturbations == "bootstrap":
            for name, only in _OF_BOOTSTRAP.items():
                if getattr(self, name) != only:
                    raise ValueError(
                        f"{name} must be {only} where perturbations are 'bootstrap', "
                        f"got {getattr(self, name)}"
                    )

    @property
    def max_steps(self) -> int:
        """Largest number of steps: the play log counts them in 32 bits."""
        return numbers.MAX_STEPS if self.engine == "eager" else numbers.MAX_SIZE

    @property
    def _deviations(self) -> Deviations:
        from fastes.kernels.ensembles.deviations import NormalDeviations, SignDeviations

        kind = SignDeviations if self.perturbations == "signs" else NormalDeviations
        return kind(self.inflation, 2 if self.symmetric else 1)

    def _is_eager(self, K: int | None) -> bool:
        """Return whether all models are updated.

        Deferred sums of signs need recurring arms, and signs that all count alike.
        """
        return self._is_always_eager or (self.perturbations == "signs" and K is None)

    @property
    def _is_always_eager(self) -> bool:
        signs_fade = self.perturbations == "signs" and self.discount < 1.0
        return self.engine == "eager" or signs_fade

    def _keeps_rows(self, K: int | None, r: int) -> bool:
        """Return whether deferred updates use factors of rows, rather than counts by arm.

        Required if arms do not recur. If they do, it is faster with many arms in few dimensions
        (measured).
        """
        if K is None or self.perturbations == "signs":
            return K is None
        return r <= _MOST_DIMENSIONS and K >= _ARMS_A_DIMENSION * r

    def shared_cost(self, r: int) -> float:
        """Return the cost of an eager update of all M models."""
        return self.M * (r + 40.0) if self._is_always_eager else 0.0

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.beliefs.interface import (
            counts_clicks,
            mean_of,
            perturbed_alike,
            variances_by_arm,
        )
        from fastes.kernels.ensembles import bootstrap, deferred, eager, weight_log

        if self.perturbations == "bootstrap":
            if K is None or not counts_clicks(belief):
                raise ValueError(
                    "perturbations 'bootstrap' need rewards of 0 and 1 on arms that come again, "
                    "and belief 'exact'"
                )
            return bootstrap.bootstrap_ensemble.layout(belief, self.M, steps)
        given = belief, self.M, self._deviations
        alike = perturbed_alike(belief)
        if not alike and self.perturbations == "signs":
            raise ValueError("perturbations must be normal for rewards that are not gaussian")
        if self._is_eager(K):
            return eager.eager_ensemble.layout(*given)
        by_arm = variances_by_arm(belief) is not None
        keeps_rows = not alike or self._keeps_rows(K, len(mean_of(belief)))
        if by_arm or (self.discount < 1.0 and not keeps_rows):
            return weight_log.ensemble_by_weights.layout(*given, steps, K)
        if keeps_rows:
            return deferred.ensemble_by_rows.layout(*given, steps)
        return deferred.ensemble_by_arms.layout(K, *given, steps)

    def begin(self, state: Any, source: Source) -> None:
        """Draw all M models from the prior, for the eager engine."""
        from fastes.kernels.beliefs.interface import noise_of
        from fastes.kernels.beliefs.noise import prior_root
        from fastes.kernels.ensembles.eager import EagerEnsemble, draw_prior_models

        if isinstance(state, EagerEnsemble):
            draw_prior_models(state.models, source, 0, len(state.models.tiles))
            state.models.tiles[:] *= prior_root(noise_of(state.belief))

    def with_capacity(self, state: Any) -> Any:
        """Return a deferred state with capacity for more plays or models."""
        from fastes.kernels.ensembles import bootstrap, deferred

        own = bootstrap if self.perturbations == "bootstrap" else deferred
        return own.with_capacity(state)

    def models(
        self, state: Any, source: Source, probe_index: int, first: int = 0, last: int | None = None
    ) -> Floats:
        """Return the deviations of models first, ..., last - 1, or all, in information space.

        A model is z = mu + S xi, with xi a row. Later actions do not change. The same `probe_index`
        at the same step gives the same models.
        """
        from fastes.kernels.ensembles.deviations import models_between

        xi = models_between(state, source, probe_index, first, self.M if last is None else last)
        return xi if self.inflation == 1.0 else self.inflation * xi

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return phat_t, the share of models for which each arm is the best, and their moments.

        Where the noise is learned, its mean over draws of the noise; the moments are of xi, of
        models with unit noise.
        """
        import numpy as np

        from fastes.agents.action_law import DRAWS, ActionLaw, extreme_eigenvalues
        from fastes.agents.best_arms import BLOCK, BestArmCounts, read_models
        from fastes.kernels.beliefs.interface import normal_law

        root = normal_law(state.belief).root
        best = BestArmCounts(arms)
        first, second = np.zeros(len(root)), np.zeros_like(root)
        signs = (1.0, -1.0) if self.symmetric else (1.0,)
        learned = self.noise == "learned"
        rounds = -(-DRAWS // self.M) if learned else 1
        for start in range(0, self.M, BLOCK):
            xi = self.models(state, source, t, start, min(self.M, start + BLOCK))
            for sign in signs:
                for scale in self._scales(state, source, t, start, (rounds, len(xi), 1)):
                    best.add(read_models(state.belief, sign * scale * xi))
            white = xi @ root.T  # P^(1/2) (z - mu)
            first += sum(signs) / len(signs) * white.sum(axis=0)
            second += white.T @ white
        moments = self._moments(first, second)
        law = best.counts / (len(signs) * self.M * rounds)
        draws = self.M * rounds if learned else None
        spread = extreme_eigenvalues(second / self.M)
        return ActionLaw(law, moments, np.concatenate(best.best_scores), draws, eigenvalues=spread)

    def _scales(
        self, state: Any, source: Source, t: int, start: int, shape: tuple[int, ...]
    ) -> Floats:
        """Return the noise that a probe reads models with, a draw each, where it is learned."""
        import numpy as np

        from fastes.kernels.beliefs.interface import noise_of
        from fastes.kernels.beliefs.noise import noise_of_probe

        scales = np.ones(shape)
        if self.noise == "learned":
            first = start * shape[0]
            noise_of_probe(noise_of(state.belief), source, t, first, scales.reshape(-1))
        return scales

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
