"""A study: a grid of settings, each simulated in many runs."""

import functools
import hashlib
import itertools
import json
import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from fastes.agents import AGENTS, make_agent
from fastes.agents.agent import Agent
from fastes.agents.own import imported_agent, known_agent, names_own_agent
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.parameters import options_of, parameters_of
from fastes.files.archive import load_npy, with_prefix
from fastes.files.kinds import kind_of
from fastes.problem.bandit import Bandit
from fastes.problem.random_problem import BALL, GivenProblem, RandomProblem
from fastes.problem.world import World
from fastes.simulation.experiment import Experiment, fixed_theta
from fastes.studies.axes import AXES, COMMON, OWNERS, axis_values

_MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Setting:
    """One point of the grid.

    Examples
    --------
    >>> import fastes
    >>> setting = fastes.Study(agent="ts", K=50, d=5).settings[0]
    >>> setting.agent.label, setting.problem.K, setting.T
    ('TS', 50, 2000)
    >>> setting.axes["agent"], setting.axes["M"]
    ('ts', None)
    """

    agent: Agent
    problem: RandomProblem | GivenProblem
    world: World
    T: int
    own_name: str | None = None  # of a custom agent, as in the study

    @functools.cached_property
    def axes(self) -> dict[str, Any]:
        """Its value on each axis; None for axes that the agent does not have."""
        names = options_of(type(self.agent)).items()
        its = {option: getattr(self.agent, name) for option, name in names}
        name = self.own_name or self.agent.name
        known = {"agent": name, **its, **self.problem.axes, **self.world.values, "T": self.T}
        return {name: known.get(name) for name in AXES}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Study:
    """Settings to simulate: all combinations of the values of each axis.

    A setting has the same results, to the bit, as ``fastes simulate`` with the same options. All
    agents of a study face the same theta and noise, run by run, on the same problem.

    Parameters
    ----------
    AXES
        The axes: a value, a list of values, or a text such as "2,4,8,...,1024", a progression.
        Those from M to epsilon are parameters of agents, and vary the agents that have them. A
        custom agent is named as "module:Class", and is imported by each worker.
    runs : int
        Runs of each setting.
    seed : int
        Random seed.
    points : int
        Largest number of recorded times.
    problem : Bandit or path, optional
        One problem for all settings, instead of arms, K, d, prior_mean, prior_cov and noise.
    theta : (d,) or (runs, d) array_like or path, optional
        The true parameter, for all runs or for each; by default it is drawn from the prior.

    Examples
    --------
    >>> import fastes
    >>> study = fastes.Study(agent=["es", "ts"], M="2,4,...,64", K=[100, 1000], runs=400)
    >>> study
    Study(14 settings of 400 runs; varied: agent, M, K)
    >>> study.varied()
    ['agent', 'M', 'K']
    >>> study.settings[0].axes["M"], study.settings[6].axes["M"]
    (2, 16)
    """

    axes: dict[str, tuple[Any, ...]]
    runs: int
    seed: int
    points: int
    problem: Bandit | None
    theta: Floats | None
    _own_agent: Callable[[str], Agent]

    def __init__(self, **values: Any) -> None:
        self._fill(values, imported_agent)

    def _fill(self, given: Mapping[str, Any], own_agent: Callable[[str], Agent]) -> None:
        """Set all parameters, or raise; `own_agent` finds an agent by its module:name."""
        object.__setattr__(self, "_own_agent", own_agent)
        known = [*AXES, *COMMON, "problem", "theta"]
        for name in given:
            if name not in known:
                raise ValueError(f"unknown study parameter {name!r}: known are {', '.join(known)}")
        object.__setattr__(self, "problem", _given_problem(given))
        chosen = {name: axis_values(name, given[name]) for name in AXES if name in given}
        axes = {name: chosen.get(name, (axis.usual,)) for name, axis in AXES.items()}
        for name, agents in OWNERS.items():
            if name in given and not set(agents) & set(axes["agent"]):
                owner = numbers.alternatives(map(repr, agents))
                raise ValueError(f"{name} belongs to agent {owner}, which is not in the study")
        combinations = math.prod(map(len, axes.values()))
        if combinations > _MOST_SETTINGS:
            raise ValueError(
                f"a study must have at most {_MOST_SETTINGS:,} combinations of values, "
                f"got {combinations:,}"
            )
        object.__setattr__(self, "axes", axes)
        for name, each in COMMON.items():
            value = each.checked(name, given.get(name, each.usual))
            object.__setattr__(self, name, value)
        for setting in self.settings:
            if isinstance(setting.problem, RandomProblem):
                setting.problem.check()
            numbers.integer("T", setting.T, 1, setting.agent.max_steps)
        object.__setattr__(self, "theta", self._fixed_theta(given.get("theta")))
        prior = [name for name in ("truth_prior_mean", "truth_prior_cov") if name in given]
        if self.theta is not None and prior:
            raise ValueError(f"theta is fixed: leave out {', '.join(prior)}")

    def __repr__(self) -> str:
        n, varied = len(self.settings), ", ".join(self.varied())
        count = f"{numbers.counted(n, 'setting')} of {numbers.counted(self.runs, 'run')}"
        return f"Study({count}; varied: {varied})" if varied else f"Study({count})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.description() == other.description()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a study from a TOML file of its parameters."""
        try:
            given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            there = kind_of(path)
            why = f"it is a fastes {there}" if there else error
            raise ValueError(f"{os.fspath(path)} is not a TOML file: {why}") from error
        for name in {"problem", "theta"} & {*given}:
            given[name] = Path(path).parent / str(given[name])
        try:
            return cls(**given)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def description(self) -> dict[str, Any]:
        """Return the parameters for JSON; with `arrays` they define the study."""
        axes = {
            name: list(values)
            for name, values in self.axes.items()
            if (name not in OWNERS or set(OWNERS[name]) & set(self.axes["agent"]))
            and values != (None,)
        }
        described = {**axes, **{name: getattr(self, name) for name in COMMON}}
        if self.problem is not None:
            described = {k: v for k, v in described.items() if k not in RandomProblem._fields}
            described["problem"] = self.problem.fingerprint
        if self.theta is not None:
            described["theta"] = arrays.fingerprint(self.theta)
        return described

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of which the description has only fingerprints."""
        problem = {} if self.problem is None else self.problem.arrays()
        found = {f"problem_{name}": array for name, array in problem.items()}
        return found if self.theta is None else {**found, "theta": self.theta}

    @classmethod
    def from_description(
        cls, described: Mapping[str, Any], found: Mapping[str, NDArray[Any]], imports: bool = False
    ) -> Self:
        """Return the study of a `description` and its `arrays`.

        Unless `imports` is set, custom agents whose modules are not imported are absent: reading a
        file runs no code.
        """
        given = dict(described)
        if "problem" in given:
            given["problem"] = Bandit.from_arrays(with_prefix(found, "problem_"))
        if "theta" in given:
            given["theta"] = found["theta"]
        study = cls.__new__(cls)
        study._fill(given, imported_agent if imports else known_agent)
        return study

    @property
    def fingerprint(self) -> str:
        """A hash of the study, equal for equal studies."""
        text = json.dumps(self.description(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @functools.cached_property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, in the order of the axes."""
        points = itertools.product(*self.axes.values())
        named = (dict(zip(AXES, point, strict=True)) for point in points)
        settings = (_setting(point, self.problem, self._own_agent) for point in named)
        return tuple(dict.fromkeys(settings))

    def varied(self) -> list[str]:
        """Return the axes with more than one value."""
        return [name for name, values in self.axes.items() if len(values) > 1]

    def experiment(self, setting: Setting) -> Experiment:
        """Return the experiment of a setting."""
        return Experiment(
            _bandit(setting.problem, self.seed),
            (setting.agent,),
            setting.T,
            **{name: getattr(self, name) for name in COMMON},
            theta=self.theta,
            world=setting.world,
        )

    def _fixed_theta(self, given: Any) -> Floats | None:
        """Return the fixed theta, one row for all runs or for each, or raise."""
        if given is None:
            return None
        if isinstance(given, (str, os.PathLike)):
            given = load_npy("theta", given)
        dimensions = sorted({setting.problem.d for setting in self.settings})
        if len(dimensions) > 1:
            raise ValueError(f"theta needs a single dimension d, got {dimensions}")
        return fixed_theta(given, dimensions[0], self.runs)


Study.__doc__ = (Study.__doc__ or "").replace("    AXES\n", f"    {', '.join(AXES)}\n")


def _given_problem(given: Mapping[str, Any]) -> Bandit | None:
    """Return the given problem of a study, if any."""
    problem = given.get("problem")
    if problem is None:
        return None
    also = [name for name in RandomProblem._fields if name in given]
    if also:
        raise ValueError(f"problem already sets {', '.join(also)}: leave them out")
    if isinstance(problem, (str, os.PathLike)):
        return Bandit.load(problem)
    if not isinstance(problem, Bandit):
        got = numbers.shown(problem)
        raise TypeError(f"problem must be one such as a LinearBandit, or its file, got {got}")
    return problem


def _setting(
    point: Mapping[str, Any], given: Bandit | None, own_agent: Callable[[str], Agent]
) -> Setting:
    drawn = RandomProblem(**{name: point[name] for name in RandomProblem._fields})
    if drawn.arms == BALL:
        drawn = drawn._replace(K=1)  # K does not matter: settings that differ in it are equal
    return Setting(
        _agent(point, own_agent),
        drawn if given is None else GivenProblem(given),
        World.of(point),
        point["T"],
        point["agent"] if names_own_agent(point["agent"]) else None,
    )


def _agent(point: Mapping[str, Any], own_agent: Callable[[str], Agent]) -> Agent:
    if names_own_agent(point["agent"]):
        return own_agent(point["agent"])
    kind = AGENTS[point["agent"]]
    usual = {name: each.usual for name, each in parameters_of(kind).items()}
    axes = options_of(kind).items()
    given = {name: point[axis] for axis, name in axes if point[axis] is not None}
    return make_agent(point["agent"], {**usual, **given})


@functools.lru_cache(maxsize=2)
def _bandit(problem: RandomProblem | GivenProblem, seed: int) -> Bandit:
    return problem.bandit(seed)


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Return the parameters in which two descriptions differ."""
    return [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
