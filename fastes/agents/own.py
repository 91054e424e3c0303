"""Anyone's own agent: whatever has the interface of a live agent plays beside the compiled ones.

An agent is an object with ``start(bandit, seed)``. What that returns chooses an arm by ``act()``
and learns by ``observe(arm, reward)``; where arms change, by ``act(actions)``, rows of which it
returns the number of one, and ``observe(row, reward)``. If it has ``action_law()`` too, the
probability with which it would play each arm of a fixed set, diagnostics can measure it.
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
    """An own agent at work on one problem."""

    @property
    def act(self) -> Callable[..., Any]:
        """Return what to play: ``act()`` the index of an arm in `bandit.actions`.

        On sets that change it is called with the rows on offer, (K, d): ``act(actions)`` returns
        the index of one of them. On a ball ``act()`` returns a vector.
        """

    @property
    def observe(self) -> Callable[[Any, float], Any]:
        """Take in a reward: ``observe(arm, reward)``.

        On sets that change, and on a ball, the arm is the row, or the vector, that was played.
        """


class PlayerFactory(Protocol):
    """An own agent: what `simulate` takes in the place of one of ours.

    If it is a dataclass, its fields are its parameters in labels, tables and files.
    """

    def start(self, bandit: Bandit, seed: int) -> Player:
        """Return one that begins to play a problem, with this seed for its own randomness.

        It is called once a run, each time with another seed.
        """


class OwnAgentError(RuntimeError):
    """An own agent raised an exception, which is the cause of this one, or broke a rule.

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
    """An own agent under way: what it is, and what is known from the rewards that it has seen."""

    belief: Any
    player: Player


@dataclass(frozen=True, eq=False)
class OwnAgent(Agent):
    """An own agent, as the other agents are described. Its steps are Python's."""

    given: PlayerFactory
    engine = "python"
    scores = "none"
    compiled = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """Where its class is: module:Class."""
        kind = type(self.given)
        return f"{kind.__module__}:{kind.__name__}"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of its class."""
        return type(self.given).__name__

    def parameters(self) -> dict[str, Any]:
        """Return its fields that are numbers or words, if it is a dataclass."""
        given: Any = self.given
        known = fields(given) if is_dataclass(given) else ()
        values = {each.name: getattr(given, each.name) for each in known if each.init}
        return {k: v for k, v in values.items() if isinstance(v, (bool, int, float, str))}

    def description(self) -> dict[str, Any]:
        """Return its name and parameters. They do not make the same agent: its code is not ours."""
        return {"agent": self.name, "parameters": self.parameters()}

    def started(self, bandit: Bandit, seed: int, run: int) -> Player:
        """Return one that begins run `run` of a simulation, or raise OwnAgentError."""
        import numpy as np

        own = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(1, np.uint64)
        try:
            player = self.given.start(bandit, int(own[0]))
        except Exception as error:
            raise failed(self, "start", error, f"of run {run}") from error
        for method in ("act", "observe"):
            if not callable(getattr(player, method, None)):
                raise OwnAgentError(
                    f"{self.label}: what start() returns must have {method}(), "
                    f"got {numbers.shown(player)}"
                )
        return player

    def require_action_law(self, bandit: Bandit, seed: int) -> None:
        """Raise OwnAgentError, before the work begins, if it does not tell what it would play."""
        if not callable(getattr(self.started(bandit, seed, 0), "action_law", None)):
            raise OwnAgentError(
                f"{self.label} has no action_law(): diagnostics need the K probabilities with "
                "which it would play each arm"
            )

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of a belief that the agent does not use."""
        from fastes.kernels.agents.uniform import uniform

        return uniform.layout(belief)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law that the agent itself tells, or raise OwnAgentError."""
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
    """An own agent that a file names, and whose module this process has not imported.

    A file imports no code: what was measured can be read, and nothing can be played.
    """

    word: str
    engine = "python"
    scores = "none"
    compiled = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """Where it is: module:name."""
        return self.word

    @property
    def title(self) -> str:  # type: ignore[override]
        """Its name in that module."""
        return self.word.partition(":")[2]

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Refuse: there is no code."""
        raise not_imported(self.word)


def not_imported(word: str) -> OwnAgentError:
    """Return the sentence on an own agent that only a file knows."""
    return OwnAgentError(
        f"{word} is an own agent, whose code no file holds: "
        f"import {word.partition(':')[0]} in Python first"
    )


def failed(agent: OwnAgent, method: str, error: Exception, when: str) -> OwnAgentError:
    """Return the sentence on an exception in an own agent's code."""
    return OwnAgentError(f"{agent.label}: {method}() raised {type(error).__name__} {when}: {error}")


def own_traceback(error: OwnAgentError) -> str:
    """Return the traceback of what an own agent raised, from its own code on; or nothing."""
    cause = error.__cause__
    if cause is None or cause.__traceback__ is None:
        return ""
    own = cause.__traceback__.tb_next or cause.__traceback__
    return "".join(traceback.format_exception(type(cause), cause, own))


def as_agent(given: Any) -> Agent:
    """Return an agent of ours as it is, and an own one as an `OwnAgent`, or raise TypeError."""
    if isinstance(given, AbsentAgent):
        raise not_imported(given.word)
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


def names_own_agent(word: str) -> bool:
    """Return whether a word is module:name."""
    module, colon, name = word.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), name))


def known_agent(word: str) -> Agent:
    """Return the agent that module:name stands for if its module is imported, or an absent one.

    Nothing is imported: the word may come from a file.
    """
    module, _, name = word.partition(":")
    given = getattr(sys.modules.get(module), name, None)
    return imported_agent(word) if callable(getattr(given, "start", None)) else AbsentAgent(word)


@cache
def imported_agent(word: str) -> Agent:
    """Return the agent that module:name stands for, or raise.

    The name is that of an agent, or of a class that makes one without arguments. Modules are looked
    for in the current folder too. Asked twice, it returns the same agent.
    """
    module, _, name = word.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise OwnAgentError(f"{word}: {error}") from error
        raise ValueError(f"agent {word!r}: there is no module {module!r}") from None
    except Exception as error:
        raise OwnAgentError(
            f"{word}: importing {module} raised {type(error).__name__}: {error}"
        ) from error
    given = getattr(found, name, None)
    if given is None:
        raise ValueError(f"agent {word!r}: {module} has no {name!r}")
    try:
        return as_agent(given() if isinstance(given, type) else given)
    except TypeError as error:
        raise ValueError(f"agent {word!r}: {error}") from error
