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
from typing import Any, NamedTuple, Self

from fastes.actions.families import FAMILIES
from fastes.agents import AGENTS, Agent
from fastes.agents.ensemble_sampling import ENGINES
from fastes.checks import numbers
from fastes.problem.bandit import LinearBandit
from fastes.simulation.experiment import Experiment, make_experiment
from fastes.studies.lists import progression

DEFAULTS: dict[str, Any] = {
    "agent": "es",
    "M": 30,
    "engine": "auto",
    "alpha": 1.0,
    "arms": "sphere",
    "K": 100,
    "d": 10,
    "prior_mean": 0.0,
    "prior_cov": 1.0,
    "noise": 1.0,
    "T": 2000,
}
"""The axes of the grid, in their order, and what they are where nothing is said."""

_WORDS = {"agent": tuple(AGENTS), "engine": ENGINES, "arms": FAMILIES}
_WHOLE = dict.fromkeys(("M", "K", "d"), numbers.MAX_SIZE) | {"T": numbers.MAX_STEPS}
_OF = {"M": "es", "engine": "es", "alpha": "linucb"}
_COMMON = {"runs": (100, 1, numbers.MAX_SIZE), "seed": (0, 0, numbers.MAX_SEED)}
_COMMON["points"] = (50, 1, numbers.MAX_SIZE)
_MOST_SETTINGS = 100_000


class Setting(NamedTuple):
    """One point of the grid; None where an axis is none of the agent's."""

    agent: str
    M: int | None
    engine: str | None
    alpha: float | None
    arms: str
    K: int
    d: int
    prior_mean: float
    prior_cov: float
    noise: float
    T: int


@dataclass(frozen=True, init=False)
class Study:
    """Settings to simulate: all combinations of the values of each axis.

    A setting is what ``fastes simulate`` does with the same words: its results have the same
    bits. All agents of a study face the same theta and noise, run by run, on the same problem.

    Parameters
    ----------
    agent, M, engine, alpha, arms, K, d, prior_mean, prior_cov, noise, T
        The axes: a value, a list of values, or words such as "2,4,8,...,1024", a progression.
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
        known = [*DEFAULTS, *_COMMON]
        for name in words:
            if name not in known:
                raise ValueError(f"a study has no {name!r}: it has {', '.join(known)}")
        given = {name: _values(name, words[name]) for name in DEFAULTS if name in words}
        axes = {name: given.get(name, (value,)) for name, value in DEFAULTS.items()}
        for name, agent in _OF.items():
            if name in given and agent not in axes["agent"]:
                raise ValueError(f"{name} belongs to agent {agent!r}, which the study leaves out")
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
            _check(setting)

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
        axes = {name: list(values) for name, values in self.axes.items() if self._told(name)}
        return {**axes, **{name: getattr(self, name) for name in _COMMON}}

    def _told(self, name: str) -> bool:
        return name not in _OF or _OF[name] in self.axes["agent"]

    @property
    def fingerprint(self) -> str:
        """A hash of the study: equal for equal studies."""
        text = json.dumps(self.description(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @functools.cached_property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, in the order of the axes."""
        return tuple(dict.fromkeys(map(_setting, itertools.product(*self.axes.values()))))

    def varied(self) -> list[str]:
        """Return the axes with more than one value."""
        return [name for name, values in self.axes.items() if len(values) > 1]

    def experiment(self, setting: Setting) -> Experiment:
        """Return what a setting asks to be simulated."""
        bandit = _bandit(*setting[4:10], self.seed)
        common = {"runs": self.runs, "seed": self.seed, "points": self.points}
        return make_experiment(bandit, agent_from_setting(setting), setting.T, **common)


def agent_from_setting(setting: Setting) -> Agent:
    """Return the agent that plays in a setting."""
    its = {name: getattr(setting, name) for name, agent in _OF.items() if agent == setting.agent}
    return AGENTS[setting.agent](**its)


@functools.lru_cache(maxsize=2)
def _bandit(
    arms: str, K: int, d: int, prior_mean: float, prior_cov: float, noise: float, seed: int
) -> LinearBandit:
    prior = {"prior_mean": prior_mean, "prior_cov": prior_cov}
    return LinearBandit.random(K, d, arms, **prior, noise=noise, seed=seed)


def _setting(values: tuple[Any, ...]) -> Setting:
    point = dict(zip(DEFAULTS, values, strict=True))
    for name, agent in _OF.items():
        point[name] = point[name] if point["agent"] == agent else None
    return Setting(**point)


def _values(name: str, given: Any) -> tuple[Any, ...]:
    """Return the values of an axis, each once, or raise ValueError."""
    if isinstance(given, str):
        words = [word.strip() for word in given.split(",")]
        given = words if name in _WORDS else progression(name, given)
    values = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if not values:
        raise ValueError(f"{name} must have at least one value, got none")
    if name in _WORDS:
        for value in values:
            if value not in _WORDS[name]:
                raise ValueError(f"{name} must be one of {', '.join(_WORDS[name])}, got {value!r}")
    elif name in _WHOLE:
        values = tuple(numbers.integer(name, value, 1, _WHOLE[name]) for value in values)
    else:
        values = tuple(numbers.real(name, value) for value in values)
    return tuple(dict.fromkeys(values))


def _check(setting: Setting) -> None:
    """Raise ValueError unless a setting can be simulated."""
    agent = agent_from_setting(setting)
    numbers.integer("T", setting.T, 1, agent.max_steps)
    numbers.positive("noise", setting.noise)
    numbers.nonnegative("prior_cov", setting.prior_cov)
    if setting.arms == "basis" and setting.K != setting.d:
        raise ValueError(
            f"basis arms are the d unit vectors: K must equal d, got {setting.K} and {setting.d}"
        )


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Return in which parameters two descriptions differ."""
    return [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
