"""Custom agents in Python: objects with the interface of a live agent.

An agent has ``start(bandit, seed)``, which returns an object with ``act()`` and
``observe(arm, reward)``; if arms change, ``act(actions)``, which returns the index of a row, and
``observe(row, reward)``. For diagnostics it also has ``action_law()``, which returns the
probability of each arm of a fixed set.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fastes.agents.agent import Agent
from fastes.agents.own_compiled import checked
from fastes.checks import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source
    from fastes.problem.bandit import Bandit


class Player(Protocol):
    """A custom agent in one run."""

    @property
    def act(self) -> Callable[..., Any]:
        """Return the arm to play: ``act()`` returns its index in `bandit.actions`.

        If arms change, ``act(actions)`` takes the rows on offer, (K, d), and returns the index of
        one. On a ball ``act()`` returns a vector.
        """

    @property
    def observe(self) -> Callable[[Any, float], Any]:
        """Observe a reward: ``observe(arm, reward)``.

        If arms change, or on a ball, the arm is the row or vector played.
        """


class PlayerFactory(Protocol):
    """A custom agent, as `simulate` takes it.

    If it is a dataclass, its fields are its parameters in labels, tables and files.
    """

    def start(self, bandit: Bandit, seed: int) -> Player:
        """Return an object that plays one run of a problem, with this seed for its random numbers.

        Called once per run, each time with another seed.
        """


class OwnAgentError(RuntimeError):
    """A custom agent raised an exception, the cause of this one, or violated the interface.

    Examples
    --------
    >>> import fastes
    >>> class Stubborn:
    ...     def start(self, bandit, seed):
    ...         return self
    ...     def act(self):
    ...         return 99
    ...     def observe(self, arm, reward):
    ...         pass
    >>> try:
    ...     fastes.simulate(fastes.LinearBandit.random(K=5, d=2), Stubborn(), T=3)
    ... except fastes.OwnAgentError as error:
    ...     print(error)
    Stubborn: act() must return an integer from 0 to 4, got 99 at step 0 of run 0
    """


class OwnState(NamedTuple):
    """A custom agent during a run, and the belief given the rewards that it has observed."""

    belief: Any
    player: Player


@dataclass(frozen=True, eq=False)
class OwnAgent(Agent):
    """A custom agent in Python, wrapped as an `Agent`."""

    given: PlayerFactory
    engine = "python"
    scores = "none"
    compiled = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """module:Class."""
        kind = type(self.given)
        return f"{kind.__module__}:{kind.__name__}"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of its class."""
        return type(self.given).__name__

    def parameters(self) -> dict[str, Any]:
        """Return its fields that are numbers or text, if it is a dataclass."""
        given: Any = self.given
        known = fields(given) if is_dataclass(given) else ()
        values = {each.name: getattr(given, each.name) for each in known if each.init}
        return {k: v for k, v in values.items() if isinstance(v, (bool, int, float, str))}

    def description(self) -> dict[str, Any]:
        """Return its name and parameters, which do not suffice to restore it."""
        return {"agent": self.name, "parameters": self.parameters()}

    def started(self, bandit: Bandit, seed: int, run: int) -> Player:
        """Start it for a run of a simulation, or raise OwnAgentError."""
        import numpy as np

        own = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(1, np.uint64)
        try:
            player = self.given.start(bandit, int(own[0]))
        except Exception as error:
            raise failed(self, "start", error, f"of run {run}") from error
        for method in ("act", "observe"):
            if not callable(getattr(player, method, None)):
                raise OwnAgentError(
                    f"{self.label}: start() must return an object with {method}(), "
                    f"got {numbers.shown(player)}"
                )
        return player

    def require_action_law(self, bandit: Bandit, seed: int) -> None:
        """Raise OwnAgentError unless it has action_law()."""
        if not callable(getattr(self.started(bandit, seed, 0), "action_law", None)):
            raise OwnAgentError(
                f"{self.label} has no action_law(): diagnostics need its probabilities of the K "
                "arms"
            )

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of a state with a belief, which the agent does not use."""
        from fastes.kernels.agents.uniform import uniform

        return uniform.layout(belief)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law from the agent's action_law(), or raise OwnAgentError."""
        import numpy as np

        from fastes.agents.action_law import ActionLaw

        try:
            law = np.array(state.player.action_law(), np.float64)
        except Exception as error:
            raise failed(self, "action_law", error, f"before step {t}") from error
        if law.shape != (arms.K,) or not (law >= 0).all() or abs(law.sum() - 1.0) > 1e-6:
            raise OwnAgentError(
                f"{self.label}: action_law() must return {arms.K} probabilities that add up to 1, "
                f"got {numbers.shown(law)} before step {t}"
            )
        return ActionLaw(law / law.sum())


@dataclass(frozen=True)
class AbsentAgent(Agent):
    """A custom agent named by a file, whose module this process has not imported.

    Reading a file imports no code: its results can be read, but the agent cannot be run.
    """

    path: str
    engine = "python"
    scores = "none"
    compiled = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """module:name."""
        return self.path

    @property
    def title(self) -> str:  # type: ignore[override]
        """Its name in that module."""
        return self.path.partition(":")[2]

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Raise: there is no code."""
        raise not_imported(self.path)


def not_imported(path: str) -> OwnAgentError:
    """Return the error for a custom agent whose module is not imported."""
    return OwnAgentError(
        f"{path} is a custom agent, whose code is not in the file: "
        f"import {path.partition(':')[0]} in Python first"
    )


def failed(agent: OwnAgent, method: str, error: Exception, when: str) -> OwnAgentError:
    """Return the error for an exception in a custom agent's code."""
    return OwnAgentError(f"{agent.label}: {method}() raised {type(error).__name__} {when}: {error}")


def own_traceback(error: OwnAgentError) -> str:
    """Return the traceback of an exception in a custom agent's code, from that code on, or ""."""
    cause = error.__cause__
    if cause is None or cause.__traceback__ is None:
        return ""
    own = cause.__traceback__.tb_next or cause.__traceback__
    return "".join(traceback.format_exception(type(cause), cause, own))


def as_agent(given: Any) -> Agent:
    """Return an agent, wrapping a custom one as an `OwnAgent`, or raise TypeError."""
    if isinstance(given, AbsentAgent):
        raise not_imported(given.path)
    if isinstance(given, Agent):
        return checked(given)
    if isinstance(given, type):
        raise TypeError(
            f"agent must be an agent such as ThompsonSampling(), not its class, got {given!r}"
        )
    if not callable(getattr(given, "start", None)):
        raise TypeError(
            "agent must be an agent such as ThompsonSampling(), or have start(bandit, seed), "
            f"got {numbers.shown(given)}"
        )
    return OwnAgent(given)


def names_own_agent(text: str) -> bool:
    """Return whether a text has the form module:name."""
    module, colon, name = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), name))


def known_agent(path: str) -> Agent:
    """Return the agent at module:name if its module is imported, else an absent one.

    Nothing is imported: the path may come from a file.
    """
    module, _, name = path.partition(":")
    given = getattr(sys.modules.get(module), name, None)
    return imported_agent(path) if callable(getattr(given, "start", None)) else AbsentAgent(path)


@cache
def imported_agent(path: str) -> Agent:
    """Return the agent at module:name, or raise.

    The name is that of an agent, or of a class that is called without arguments. Modules are also
    searched in the current folder. Repeated calls return the same agent.
    """
    module, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise OwnAgentError(f"{path}: {error}") from error
        raise ValueError(f"agent {path!r}: there is no module {module!r}") from None
    except Exception as error:
        raise OwnAgentError(
            f"{path}: importing {module} raised {type(error).__name__}: {error}"
        ) from error
    given = getattr(found, name, None)
    if given is None:
        raise ValueError(f"agent {path!r}: {module} has no {name!r}")
    try:
        return as_agent(given() if isinstance(given, type) else given)
    except TypeError as error:
        raise ValueError(f"agent {path!r}: {error}") from error
