"""Anyone's own compiled agent: what its class says and what its kernels do must agree.

A class of agents from outside the package names its kernels by the state that it starts. Whatever
would make a search skip the best arm, or a diagnostic measure another agent, is refused here in one
sentence, before anything is played.
"""

from __future__ import annotations

import sys
from dataclasses import is_dataclass
from typing import Any

from fastes.agents.agent import Agent, is_outside

_SCORES = ("linear", "quadratic", "any", "none")


def checked(agent: Agent) -> Agent:
    """Return an agent if its class and its kernels agree, or raise TypeError."""
    kind = type(agent)
    if not (is_outside(kind) and agent.compiled):
        return agent
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:
        raise TypeError(f"{agent.title} must be a dataclass with frozen=True")
    if agent.scores not in _SCORES:
        raise TypeError(
            f"{agent.title}.scores must be one of {', '.join(_SCORES)}, got {agent.scores!r}"
        )
    state = _first_state(agent)
    _check_parts(agent.title, "initial_state()", state)
    told = _kernels_say(state)
    if agent.scores not in told:
        raise TypeError(
            f"{agent.title}.scores is {agent.scores!r}, and the bodies for "
            f"{type(state).__name__} make it {' or '.join(map(repr, told))}"
        )
    return agent


def code_of(agent: Agent) -> str:
    """Return a hash of the code of an agent from outside the package, or "" for one of ours."""
    if not (is_outside(type(agent)) and agent.compiled):
        return ""
    from fastes.kernels.jit.outside import class_code

    return class_code(type(_first_state(agent)))


def require_action_law(agent: Agent) -> None:
    """Raise TypeError if an agent from outside the package must tell its law, and does not."""
    from fastes.kernels.agents.interface import prepare, random_arm
    from fastes.kernels.jit.outside import has_body

    if not is_outside(type(agent)) or type(agent).action_law is not Agent.action_law:
        return
    state = type(_first_state(agent))
    drawn = [each.__name__ for each in (prepare, random_arm) if has_body(each, state)]
    if drawn:
        raise TypeError(
            f"{agent.label} has a body for {drawn[0]} and no action_law: diagnostics need the law "
            "of the arm that it plays"
        )


def imported_class(name: str) -> type[Agent] | None:
    """Return the class of agents of a name module:Class, if this process has imported it.

    Nothing is imported: the name may come from a file.
    """
    module, _, word = name.partition(":")
    found = getattr(sys.modules.get(module), word, None)
    if isinstance(found, type) and issubclass(found, Agent) and is_outside(found):
        return found
    return None


def _first_state(agent: Agent) -> Any:
    from fastes.kernels.streams.philox import source

    return agent.initial_state(1, 1, source(0), 1)


def _kernels_say(state: Any) -> tuple[str, ...]:
    """Return which scores the bodies for a state stand for, or raise TypeError."""
    from fastes.kernels.agents.interface import has_linear_scores, optimism, random_arm, score
    from fastes.kernels.jit.outside import has_body

    kind = type(state)
    if has_linear_scores(state):
        if has_body(score, kind):
            raise TypeError(
                f"{kind.__name__} has a body for score and has_linear_scores: a score that is "
                "linear is o + b'z, and is not written again"
            )
        return ("linear",)
    if has_body(optimism, kind):
        return ("quadratic",)
    return ("any", "none") if has_body(random_arm, kind) else ("any",)


def _check_parts(title: str, what: str, state: Any) -> None:
    """Raise TypeError unless a state is a named tuple that all kernels can work with."""
    import numpy as np

    from fastes.kernels.jit.outside import is_ours
    from fastes.kernels.posterior.state import Posterior

    def refuse(rule: str, got: Any) -> TypeError:
        return TypeError(f"{title}: {what} must return {rule}, got {got!r:.80}")

    if not (isinstance(state, tuple) and hasattr(state, "_fields")):
        raise refuse("a named tuple", state)
    if is_ours(type(state)) or type(state).__base__ is not tuple:
        raise refuse("a named tuple of a class of its own: bodies are not inherited", type(state))
    if not isinstance(getattr(state, "posterior", None), Posterior):
        raise refuse("a state whose field posterior is a Posterior", state._fields)
    if not isinstance(getattr(state, "z", None), np.ndarray):
        raise refuse("a state whose field z is an array", state._fields)
    _check_fields(refuse, state)


def _check_fields(refuse: Any, state: Any) -> None:
    import numpy as np

    for name, part in zip(state._fields, state, strict=True):
        if isinstance(part, tuple) and hasattr(part, "_fields"):
            _check_fields(refuse, part)
        elif not isinstance(part, (np.ndarray, np.generic, bool, int, float)):
            raise refuse(f"arrays, numbers and named tuples of them as its field {name}", part)
