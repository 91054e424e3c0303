"""Ensemble sampling, Algorithm 1 of the paper."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastes.agents.action_law import ActionLaw, Moments
from fastes.agents.agent import Agent
from fastes.agents.states import Arrays, pack_posterior, unpack_array, unpack_posterior
from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.files.archive import FileFormatError
from fastes.kernels.actions.arms import Arms
from fastes.kernels.ensembles import deferred
from fastes.kernels.ensembles import eager as ensemble
from fastes.kernels.ensembles.play_log import arm_type, played_arms
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
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=10**9), T=200, runs=4)
    >>> result.label
    'ES, M=1,000,000,000'
    """

    M: int
    engine: str = "auto"
    name: ClassVar[str] = "es"

    def __post_init__(self) -> None:
        M = numbers.integer("M", self.M, 1, numbers.MAX_SIZE)
        object.__setattr__(self, "M", M)
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")
        if self.engine == "auto":
            object.__setattr__(self, "engine", "deferred")

    @property
    def max_steps(self) -> int:
        """The most steps that it can take: the play log counts them in 32 bits."""
        return numbers.MAX_STEPS if self.engine == "eager" else numbers.MAX_SIZE

    def parameters(self) -> dict[str, Any]:
        """Return the number of models."""
        return {"M": self.M}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the memory of the models and the posterior."""
        if self.engine == "eager":
            return ensemble.eager_ensemble_bytes(r, self.M)
        return deferred.deferred_ensemble_bytes(K, r, self.M, T)

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell that eager runs, which take long for their models, do not need it."""
        return self.engine == "deferred" and super().in_step(K, r, T)

    def brief(self, K: int, r: int, T: int) -> bool:
        """Tell that eager runs are never short."""
        return self.engine == "deferred" and super().brief(K, r, T)

    def shared_cost(self, r: int) -> float:
        """Return the cost of an eager update of all M models."""
        return self.M * (r + 40.0) if self.engine == "eager" else 0.0

    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> Any:
        """Return the posterior at the prior, and M models drawn from it, or to be drawn."""
        if self.engine == "deferred":
            return deferred.deferred_ensemble(K, r, self.M, steps)
        state = ensemble.eager_ensemble(r, self.M)
        ensemble.draw_prior_models(state.models, source, 0, len(state.models.tiles))
        return state

    def models(
        self, state: Any, source: Source, probe_index: int, first: int = 0, last: int | None = None
    ) -> Floats:
        """Return the models first, ..., last - 1, or all, in information space, one a row.

        It changes no action that follows. `probe_index` numbers the look: the same mark at the same
        step gives the same numbers.
        """
        between = (ensemble if self.engine == "eager" else deferred).models_between
        return between(state, source, probe_index, first, self.M if last is None else last)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return phat_t, how often each arm is the best of a model, and the models' moments."""
        from fastes.agents.best_arms import BLOCK, BestArmCounts, read_models, with_root

        posterior = with_root(state.posterior)
        counts = BestArmCounts(arms)
        first, second = np.zeros(len(posterior.mu)), np.zeros_like(posterior.S)
        for start in range(0, self.M, BLOCK):
            # Looks are numbered in 24 bits of the random generator's counter.
            xi = self.models(state, source, t % 2**24, start, min(self.M, start + BLOCK))
            counts.add(read_models(state.posterior, xi))
            white = xi @ posterior.root  # P^(1/2) (z - mu)
            first += white.sum(axis=0)
            second += white.T @ white
        return ActionLaw(counts.counts / self.M, self._moments(first, second))

    def _moments(self, first: Floats, second: Floats) -> Moments:
        M, r = self.M, len(first)
        gap = second / M - np.eye(r)
        return Moments(
            variance=float(np.trace(second)) / (M * r),
            mean_error=float(np.linalg.norm(first)) / np.sqrt(M * r),
            cov_error=float(np.linalg.norm(gap)) * np.sqrt(M / (r * (r + 1))),
        )

    def pack(self, state: Any) -> Arrays:
        """Return the posterior, the models and, if deferred, the arms played."""
        arrays = pack_posterior(state.posterior)
        models = state.models
        if self.engine == "eager":
            return {**arrays, **{name: getattr(models, name) for name in _OF_MODELS}}
        used = int(models.used[0])
        return {
            **arrays,
            "played": played_arms(state.log),
            "model": models.model[:used],
            "xi": models.xi[:used],
            "read_at": models.read_at[:used],
        }

    def unpack(self, arrays: Arrays, arms: Arms, r: int, source: Source, steps: int = 0) -> Any:
        """Return the state that `pack` was given, or raise FileFormatError."""
        if self.engine == "eager":
            state = ensemble.eager_ensemble(r, self.M)
            for name in _OF_MODELS:
                unpack_array(arrays, name, getattr(state.models, name))
            start, pending = state.models.span
            fits = start >= 0 and 0 <= pending <= len(state.models.pending)
        else:
            parts = [arrays.get(name) for name in ("played", "model", "xi", "read_at")]
            fits = self._fit(parts, arms.K, r)
            state = deferred.restored(arms, r, self.M, steps, *parts) if fits else None
        if not fits:
            raise FileFormatError("a saved agent's models are missing or do not fit")
        unpack_posterior(arrays, state.posterior)
        return state

    def _fit(self, parts: list[Any], K: int, r: int) -> bool:
        """Tell whether the parts of a deferred ensemble are whole and within their ranges."""
        kinds = [(arm_type(K), 1), (np.uint32, 1), (np.float64, 2), (np.int64, 1)]
        if any(
            part is None or part.dtype != kind or part.ndim != dimensions
            for part, (kind, dimensions) in zip(parts, kinds, strict=True)
        ):
            return False
        played, model, xi, read_at = parts
        return bool(
            xi.shape == (len(model), r)
            and len(read_at) == len(model) == len(np.unique(model))
            and (played < K).all()
            and (model < self.M).all()
            and ((read_at >= 0) & (read_at <= len(played))).all()
        )


_OF_MODELS = ("tiles", "pending", "span")
