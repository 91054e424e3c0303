"""What is to be simulated: one problem and several agents, which face the same theta and noise."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.actions import Ball, Offered
from fastes.agents import agent_from_description
from fastes.agents.agent import Agent
from fastes.agents.live_offers import check_plays
from fastes.agents.own import PlayerFactory, as_agent
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Arrays, Floats
from fastes.checks.numbers import MAX_SEED, MAX_SIZE, MAX_STEPS
from fastes.files.archive import utc_now, with_prefix
from fastes.problem.bandit import LinearBandit
from fastes.problem.truth import Truth
from fastes.results.result import Configuration
from fastes.results.versions import versions
from fastes.simulation.recording import recording_times

TRAJECTORIES = ("actions", "rewards")
"""What can be kept of every step of every run."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Agents on a bandit, and what is recorded of their runs.

    It describes itself for files field by field: a field that is added is saved with the others.
    """

    bandit: LinearBandit
    agents: tuple[Agent, ...]
    T: int
    runs: int
    seed: int
    points: int = 200
    theta: Floats | None = None  # one row for all runs, or for each; None: drawn from the prior
    probe_times: NDArray[np.int64] | None = None  # steps before which the state is probed
    samples: int = 4096  # draws of theta for each probe
    keep: tuple[str, ...] = ()  # what is kept of every step, of `TRAJECTORIES`
    truth: Truth | None = None  # how the world differs from the bandit; None: it does not
    delay: int = 0  # steps by which rewards are late

    def __post_init__(self) -> None:
        if not isinstance(self.bandit, LinearBandit):
            raise TypeError(f"bandit must be a LinearBandit, got {numbers.shown(self.bandit)}")
        object.__setattr__(self, "agents", _checked_agents(self.agents))
        limits = {
            "T": (1, min(agent.max_steps for agent in self.agents)),
            "runs": (1, MAX_SIZE),
            "seed": (0, MAX_SEED),
            "points": (1, MAX_SIZE),
            "samples": (2, MAX_SIZE),
            "delay": (0, MAX_STEPS),
        }
        for name, (least, most) in limits.items():
            value = numbers.integer(name, getattr(self, name), least, most)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "keep", _kept(self.keep))
        if self.theta is not None:
            theta = fixed_theta(self.theta, self.bandit.d, self.runs)
            object.__setattr__(self, "theta", theta)
        if self.probe_times is not None:
            object.__setattr__(self, "probe_times", _probe_times(self.probe_times, self.T))
        if isinstance(self.bandit.actions, Offered):
            raise ValueError(
                "actions that are Offered are for live agents: simulate has none to offer"
            )
        if isinstance(self.bandit.actions, Ball) and "actions" in self.keep:
            raise ValueError("keep actions is about arms with numbers: those of a ball have none")
        for agent in self.agents:
            check_plays(agent, self.bandit)
        object.__setattr__(self, "truth", _checked_truth(self.truth, self.bandit))
        if self.theta is not None and self._changes_prior:
            raise ValueError(f"theta is fixed: truth must have no prior of it, got {self.truth}")
        if self.theta is not None:
            theta = fixed_theta(self.theta, self.bandit.d, self.runs)
            object.__setattr__(self, "theta", theta)
        if self.probe_times is not None:
            object.__setattr__(self, "probe_times", _probe_times(self.probe_times, self.T))

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """When regret is recorded."""
        return recording_times(self.T, self.points)

    @property
    def law(self) -> Any:
        """The layout of the law of rewards, for kernels."""
        return self.bandit.rewards.layout(self.truth)

    @property
    def waiting(self) -> int:
        """How many rewards wait at most to be observed."""
        return min(self.delay, self.T)

    def true_theta(self, run: int) -> Floats | None:
        """Return theta of a run, or None where it is drawn from the bandit's own prior."""
        if self.theta is not None:
            return self.theta[run % len(self.theta)]
        if not self._changes_prior:
            return None
        assert self.truth is not None
        return self.truth.theta(self.bandit, self.seed, run)

    @cached_property
    def _changes_prior(self) -> bool:
        return self.truth is not None and self.truth.changes_prior(self.bandit)

    def extended(self, T: int) -> Self:
        """Return the experiment with a longer horizon, or raise ValueError."""
        most = min(agent.max_steps for agent in self.agents)
        return replace(self, T=numbers.integer("T", T, self.T, most))

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Return what `from_parts` makes the same experiment of: a description and arrays."""
        meta: dict[str, Any] = {"agents": [agent.description() for agent in self.agents]}
        found: Arrays = dict(self.bandit.parts())
        for each in fields(self)[2:]:
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                found[each.name] = value
            elif isinstance(value, Truth):
                found |= {f"truth_{name}": part for name, part in value.parts().items()}
            else:
                meta[each.name] = value
        return meta, found

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], found: Arrays) -> Self:
        """Return the experiment of these parts, or raise KeyError, TypeError or ValueError."""
        bandit = LinearBandit.from_parts(found)
        agents = tuple(agent_from_description(each) for each in meta["agents"])
        names = [each.name for each in fields(cls)[2:]]
        truth = with_prefix(found, "truth_")
        arrays: dict[str, Any] = {**found, "truth": Truth.from_parts(truth)} if truth else {**found}
        rest: dict[str, Any] = {
            name: arrays[name] if name in arrays else meta[name] for name in names
        }
        return cls(bandit, agents, **rest)

    def configuration(self, agent: Agent, runs: int, threads: int, seconds: float) -> Configuration:
        """Return what was simulated in some runs of one of the agents."""
        bandit, theta = self.bandit, self.theta
        return Configuration(
            agent=agent.name,
            engine=agent.engine,
            parameters=agent.description()["parameters"],
            K=bandit.K,
            d=bandit.d,
            rank=bandit.rank,
            T=self.T,
            runs=runs,
            seed=self.seed,
            points=self.points,
            noise=bandit.noise,
            actions="fixed" if bandit.action_set is None else bandit.action_set.words,
            theta="prior" if theta is None else f"fixed, {arrays.fingerprint(theta)}",
            problem=bandit.fingerprint,
            versions=versions()._asdict(),
            date=utc_now(),
            threads=threads,
            seconds=seconds,
            truth="belief" if self.truth is None else self.truth.words,
            delay=self.delay,
        )


def make_experiment(
    bandit: LinearBandit,
    agents: Sequence[Agent | PlayerFactory],
    T: int,
    runs: int,
    seed: int,
    *,
    diagnostics: ArrayLike | None = None,
    **options: Any,
) -> Experiment:
    """Return the experiment of some arguments of `compare`; those left out are as there."""
    given: dict[str, Any] = {"agents": agents, "probe_times": diagnostics}  # which it checks
    return Experiment(bandit, T=T, runs=runs, seed=seed, **given, **options)


def _checked_agents(given: Any) -> tuple[Agent, ...]:
    """Return the agents to simulate, of which there must be one, or raise."""
    try:
        agents = tuple(given)
    except TypeError:
        raise TypeError(
            f"agents must be a list of agents such as [ThompsonSampling()], "
            f"got {numbers.shown(given)}"
        ) from None
    if not agents:
        raise ValueError("agents must hold at least one agent, got none")
    return tuple(as_agent(agent) for agent in agents)


def _checked_truth(truth: Any, bandit: LinearBandit) -> Truth | None:
    """Return a truth that fits a bandit, None where it is what the bandit says; or raise."""
    if truth is None:
        return None
    if not isinstance(truth, Truth):
        raise TypeError(f"truth must be a Truth such as Truth(noise=2), got {numbers.shown(truth)}")
    truth.check(bandit)
    return None if truth.is_belief(bandit) else truth


def _kept(keep: Any) -> tuple[str, ...]:
    """Return what to keep of every step, each once, or raise ValueError."""
    names = (keep,) if isinstance(keep, str) else keep
    if not isinstance(names, Iterable) or not set(names) <= set(TRAJECTORIES):
        raise ValueError(
            f"keep must be some of {', '.join(TRAJECTORIES)}, got {numbers.shown(keep)}"
        )
    return tuple(name for name in TRAJECTORIES if name in names)


def fixed_theta(theta: ArrayLike, d: int, runs: int) -> Floats:
    """Return the caller's theta, one row for all runs or for each, or raise."""
    parameters = arrays.array("theta", theta)
    if parameters.shape not in ((d,), (1, d), (runs, d)):
        raise ValueError(
            f"theta must have shape ({d},) or ({runs}, {d}), got shape {parameters.shape}"
        )
    return np.atleast_2d(parameters)


def _probe_times(diagnostics: ArrayLike, T: int) -> NDArray[np.int64]:
    """Return the steps before which to probe, in order."""
    try:
        times = np.unique(np.asarray(diagnostics))
    except (TypeError, ValueError):
        times = np.empty(0)
    if not np.issubdtype(times.dtype, np.integer) or not len(times):
        raise TypeError(
            f"diagnostics must be steps from 0 to {T - 1}, got {numbers.shown(diagnostics)}"
        )
    for t in (int(times[0]), int(times[-1])):
        numbers.integer("a step in diagnostics", t, 0, T - 1)
    return times.astype(np.int64)
