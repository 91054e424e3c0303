"""A study: a grid of settings, each simulated in many runs."""

import functools
import hashlib
import itertools
import json
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fastes.agents import AGENTS
from fastes.agents.agent import Agent
from fastes.checks import numbers
from fastes.checks.parameters import parameters_of
from fastes.problem.bandit import LinearBandit
from fastes.problem.random_problem import RandomProblem
from fastes.simulation.experiment import Experiment, make_experiment
from fastes.studies.axes import AXES, OWNERS, axis_values

_COMMON = {
    "runs": (100, 1, numbers.MAX_SIZE),
    "seed": (0, 0, numbers.MAX_SEED),
    "points": (50, 1, numbers.MAX_SIZE),
}
"""What all settings share: its value where nothing is said, and its range."""

_MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Setting:
    """One point of the grid.

    Examples
    --------
    >>> import fastes
    >>> setting = fastes.Study(agent="ts", K=50, d=5).settings[0]
    >>> setting.agent, setting.problem.K, setting.T
    (ThompsonSampling(), 50, 2000)
    >>> setting.axes["agent"], setting.axes["M"]
    ('ts', None)
    """

    agent: Agent
    problem: RandomProblem
    T: int

    @functools.cached_property
    def axes(self) -> dict[str, Any]:
        """Its value on every axis; None where an axis is none of the agent's."""
        its = {name: getattr(self.agent, name) for name in parameters_of(type(self.agent))}
        known = {"agent": self.agent.name, **its, **self.problem._asdict(), "T": self.T}
        return {name: known.get(name) for name in AXES}


@dataclass(frozen=True, init=False)
class Study:
    """Settings to simulate: all combinations of the values of each axis.

    A setting is what ``fastes simulate`` does with the same words: its results have the same
    bits. All agents of a study face the same theta and noise, run by run, on the same problem.

    Parameters
    ----------
    agent, M, engine, alpha, arms, K, d, prior_mean, prior_cov, noise, T
        The axes: a value, a list of values, or a text such as "2,4,8,...,1024", a progression.
        M and engine are those of "es" only, alpha that of "linucb".
    runs : int
        Runs of each setting.
    seed : int
        Of everything random.
    points : int
        At most how many times to record the regret of a run at.

    Examples
    --------
    >>> import fastes
    >>> study = fastes.Study(agent=["es", "ts"], M="2,4,...,64", K=[100, 1000], runs=400)
    >>> len(study.settings)
    14
    """

    axes: dict[str, tuple[Any, ...]]
    runs: int
    seed: int
    points: int

    def __init__(self, **words: Any) -> None:
        known = [*AXES, *_COMMON]
        for name in words:
            if name not in known:
                raise ValueError(f"a study has no {name!r}: it has {', '.join(known)}")
        given = {name: axis_values(name, words[name]) for name in AXES if name in words}
        axes = {name: given.get(name, (axis.usual,)) for name, axis in AXES.items()}
        for name, agents in OWNERS.items():
            if name in given and not set(agents) & set(axes["agent"]):
                owner = " or ".join(map(repr, agents))
                raise ValueError(f"{name} belongs to agent {owner}, which the study leaves out")
        combinations = math.prod(map(len, axes.values()))
        if combinations > _MOST_SETTINGS:
            raise ValueError(
                f"a study must have at most {_MOST_SETTINGS:,} combinations of values, "
                f"got {combinations:,}"
            )
        object.__setattr__(self, "axes", axes)
        for name, (default, least, most) in _COMMON.items():
            value = numbers.integer(name, words.get(name, default), least, most)
            object.__setattr__(self, name, value)
        for setting in self.settings:
            setting.problem.check()
            numbers.integer("T", setting.T, 1, setting.agent.max_steps)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a study from a TOML file of its parameters."""
        try:
            words = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{os.fspath(path)} is no TOML file: {error}") from error
        try:
            return cls(**words)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def description(self) -> dict[str, Any]:
        """Return the parameters, ready for JSON: ``Study(**description)`` is the same study."""
        axes = {
            name: list(values)
            for name, values in self.axes.items()
            if name not in OWNERS or set(OWNERS[name]) & set(self.axes["agent"])
        }
        return {**axes, **{name: getattr(self, name) for name in _COMMON}}

    @property
    def fingerprint(self) -> str:
        """A hash of the study: equal for equal studies."""
        text = json.dumps(self.description(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @functools.cached_property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, in the order of the axes."""
        points = itertools.product(*self.axes.values())
        return tuple(dict.fromkeys(_setting(dict(zip(AXES, p, strict=True))) for p in points))

    def varied(self) -> list[str]:
        """Return the axes with more than one value."""
        return [name for name, values in self.axes.items() if len(values) > 1]

    def experiment(self, setting: Setting) -> Experiment:
        """Return what a setting asks to be simulated."""
        bandit = _bandit(setting.problem, self.seed)
        return make_experiment(
            bandit, [setting.agent], setting.T, self.runs, self.seed, points=self.points
        )


def _setting(point: Mapping[str, Any]) -> Setting:
    agent = AGENTS[point["agent"]]
    return Setting(
        agent(**{name: point[name] for name in parameters_of(agent)}),
        RandomProblem(**{name: point[name] for name in RandomProblem._fields}),
        point["T"],
    )


@functools.lru_cache(maxsize=2)
def _bandit(problem: RandomProblem, seed: int) -> LinearBandit:
    return problem.bandit(seed)


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Return in which parameters two descriptions differ."""
    return [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
