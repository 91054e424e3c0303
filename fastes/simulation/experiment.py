"""Experiments: one problem and several agents that face the same theta and noise."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents import agent_from_description
from fastes.agents.agent import Agent
from fastes.agents.own import as_agent
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Arrays, Floats
from fastes.checks.parameters import Parameter
from fastes.drift.drift import Drift
from fastes.files.archive import utc_now, with_prefix
from fastes.problem.bandit import Bandit
from fastes.problem.moving import Place, place_of
from fastes.problem.truth import Truth
from fastes.problem.world import AS_BELIEVED, World
from fastes.results.configuration import PARAMETERS, TRAJECTORIES, Configuration
from fastes.results.versions import versions
from fastes.simulation.recording import recording_times

_SAMPLES = Parameter("Draws of theta per probe.", "integer", 4096, minimum=2)


@dataclass(frozen=True, eq=False)
class Experiment:
    """Agents on a bandit, and what is recorded.

    It is saved field by field, so a new field is saved automatically.
    """

    bandit: Bandit
    agents: tuple[Agent, ...]
    T: int
    runs: int
    seed: int
    points: int = 200
    theta: Floats | None = None  # one row for all runs, or for each; None: drawn from the prior
    probe_times: NDArray[np.int64] | None = None  # steps before which the state is probed
    samples: int = 4096  # draws of theta for each probe
    keep: tuple[str, ...] = ()  # which of `TRAJECTORIES` to record
    world: World = AS_BELIEVED  # how the truth differs from the bandit

    def __post_init__(self) -> None:
        if not isinstance(self.bandit, Bandit):
            got = numbers.shown(self.bandit)
            raise TypeError(f"bandit must be a problem such as a LinearBandit, got {got}")
        object.__setattr__(self, "agents", _checked_agents(self.agents))
        most = min(agent.max_steps for agent in self.agents)
        asked = {**PARAMETERS, "T": replace(PARAMETERS["T"], maximum=most), "samples": _SAMPLES}
        for name, each in asked.items():
            object.__setattr__(self, name, each.checked(name, getattr(self, name)))
        object.__setattr__(self, "keep", _kept(self.keep))
        if self.theta is not None:
            theta = fixed_theta(self.theta, self.bandit.d, self.runs)
            object.__setattr__(self, "theta", theta)
        if self.probe_times is not None:
            object.__setattr__(self, "probe_times", _probe_times(self.probe_times, self.T))
            self._check_beliefs()
        given = self.bandit.action_set
        if not given.simulated:
            raise ValueError(
                f"{type(given).__name__} actions are for live agents and cannot be simulated"
            )
        if given.chosen_by == "vector" and "actions" in self.keep:
            raise ValueError(f"keep='actions' needs numbered arms, but actions are {given.text}")
        for agent in self.agents:
            given.check_plays(agent.label, agent.scores)
        object.__setattr__(self, "world", self.world.fitted(self.bandit))
        truth = self.world.truth
        drawn_later = self.drift is not None and self.drift.uses_prior
        if self.theta is not None and self._changes_prior and not drawn_later:
            raise ValueError(f"theta is fixed, so truth must not set its prior, got {truth}")

    def _check_beliefs(self) -> None:
        """Raise ValueError where an agent's belief is not what it could know at best."""
        for agent in self.agents:
            if agent.noise == "learned":
                raise ValueError(
                    "diagnostics compare with the posterior given the noise, which an agent with "
                    f"noise 'learned' does not know, got {agent.label}"
                )
            if agent.discount < 1.0 or agent.window:
                raise ValueError(
                    "diagnostics compare with the posterior given all data, which an agent with a "
                    f"discount or a window forgets, got {agent.label}"
                )
            if self.bandit.rewards.name != "gaussian" and agent.belief == "online":
                raise ValueError(
                    "diagnostics compare with the posterior given all data, which belief 'online' "
                    f"does not keep, got {agent.label}"
                )

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """The times at which regret is recorded."""
        return recording_times(self.T, self.points)

    @property
    def law(self) -> Any:
        """The layout of the reward law, for kernels."""
        return self.bandit.rewards.layout(self.world.truth)

    @property
    def waiting(self) -> int:
        """Largest number of delayed rewards."""
        return min(self.world.delay, self.T)

    @property
    def drift(self) -> Drift | None:
        """How theta changes, if it does."""
        return None if self.world.truth is None else self.world.truth.drift

    @cached_property
    def place(self) -> Place:
        """The coordinates of a theta that changes."""
        assert self.world.truth is not None
        return place_of(self.bandit, self.world.truth, self.bandit.action_set.needs_coordinates)

    def arms_once(self, form: str, make: Callable[[], Floats]) -> Floats:
        """Return the arms in a form that all runs share, made when first asked for."""
        if form not in self._arms:
            self._arms[form] = make()
        return self._arms[form]

    @cached_property
    def _arms(self) -> dict[str, Floats]:
        return {}

    def first_theta(self, run: int) -> Floats:
        """Return theta of a run at step 0."""
        theta, truth = self.true_theta(run), self.world.truth or Truth()
        return truth.theta(self.bandit, self.seed, run) if theta is None else theta

    def true_theta(self, run: int) -> Floats | None:
        """Return theta of a run at step 0, or None if it is drawn from the bandit's prior."""
        if self.theta is not None:
            return self.theta[run % len(self.theta)]
        if not self._changes_prior:
            return None
        assert self.world.truth is not None
        return self.world.truth.theta(self.bandit, self.seed, run)

    @cached_property
    def _changes_prior(self) -> bool:
        truth = self.world.truth
        return truth is not None and truth.changes_prior(self.bandit)

    def extended(self, T: int) -> Self:
        """Return the experiment with a longer horizon, or raise ValueError."""
        most = min(agent.max_steps for agent in self.agents)
        return replace(self, T=numbers.integer("T", T, self.T, most))

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        """Return a description and arrays, from which `from_saved` makes an equal experiment."""
        meta: dict[str, Any] = {"agents": [agent.description() for agent in self.agents]}
        found: Arrays = self.bandit.arrays()
        for each in fields(self)[2:]:
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                found[each.name] = value
            elif isinstance(value, World):
                meta |= value.facts
                found |= {f"truth_{name}": array for name, array in value.arrays().items()}
            else:
                meta[each.name] = value
        return meta, found

    @classmethod
    def from_saved(cls, meta: Mapping[str, Any], found: Arrays) -> Self:
        """Return the experiment that was saved, or raise KeyError, TypeError or ValueError."""
        bandit = Bandit.from_arrays(found)
        agents = tuple(agent_from_description(each) for each in meta["agents"])
        world = World.from_arrays(meta, with_prefix(found, "truth_"))
        known: dict[str, Any] = {**meta, **found, "world": world}
        return cls(bandit, agents, **{each.name: known[each.name] for each in fields(cls)[2:]})

    def configuration(self, agent: Agent, runs: int, threads: int, seconds: float) -> Configuration:
        """Return the configuration of some runs of one of the agents."""
        bandit, theta = self.bandit, self.theta
        asked = {name: getattr(self, name) for name in PARAMETERS}
        return Configuration(
            **{**asked, **self.world.facts, "runs": runs},
            agent=agent.name,
            engine=agent.engine,
            parameters=agent.description()["parameters"],
            K=bandit.K,
            d=bandit.d,
            rank=bandit.rank,
            noise=bandit.rewards.facts.get("noise"),
            rewards=bandit.rewards.name,
            actions=bandit.action_set.text,
            theta="prior" if theta is None else f"fixed, {arrays.fingerprint(theta)}",
            problem=bandit.fingerprint,
            versions=versions()._asdict(),
            date=utc_now(),
            threads=threads,
            seconds=seconds,
        )


def _checked_agents(given: Any) -> tuple[Agent, ...]:
    """Return the agents, at least one, or raise."""
    try:
        agents = tuple(given)
    except TypeError:
        raise TypeError(
            f"agents must be a list of agents such as [ThompsonSampling()], "
            f"got {numbers.shown(given)}"
        ) from None
    if not agents:
        raise ValueError("agents must have at least one agent, got none")
    return tuple(as_agent(agent) for agent in agents)


def _kept(keep: Any) -> tuple[str, ...]:
    """Return which of `TRAJECTORIES` to record, or raise ValueError."""
    names = (keep,) if isinstance(keep, str) else keep
    if not isinstance(names, Iterable) or not set(names) <= set(TRAJECTORIES):
        raise ValueError(
            f"keep must be a list of {', '.join(TRAJECTORIES)}, got {numbers.shown(keep)}"
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
