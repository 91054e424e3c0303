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
    layout = _first_layout(agent)
    _check_layout(agent.title, layout)
    told = _kernels_say(layout)
    if agent.scores not in told:
        raise TypeError(
            f"{agent.title}.scores is {agent.scores!r}, and the bodies for "
            f"{type(layout).__name__} make it {' or '.join(map(repr, told))}"
        )
    return agent


def code_of(agent: Agent) -> str:
    """Return a hash of the source of an agent from outside the package, or "" for one of ours.

    It is "unknown" where no files hold the source, or where they were edited since it was imported.
    """
    if not (is_outside(type(agent)) and agent.compiled):
        return ""
    from fastes.kernels.jit.outside import source_hash

    return source_hash(type(_first_layout(agent))) or "unknown"


def require_action_law(agent: Agent) -> None:
    """Raise TypeError if an agent from outside the package must tell its law, and does not."""
    from fastes.kernels.agents.interface import prepare, random_arm

    if not is_outside(type(agent)) or type(agent).action_law is not Agent.action_law:
        return
    state = type(_first_layout(agent))
    drawn = [each.__name__ for each in (prepare, random_arm) if state in each.bodies]
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


def _first_layout(agent: Agent) -> Any:
    from fastes.kernels.beliefs.gaussian.state import gaussian

    return agent.layout(1, gaussian.layout(1, rooted=agent.rooted), 1)


def _kernels_say(state: Any) -> tuple[str, ...]:
    """Return which scores the bodies for a state stand for, or raise TypeError."""
    from fastes.kernels.agents.interface import has_linear_scores, optimism, random_arm, score

    kind = type(state)
    if has_linear_scores(state):
        if kind in score.bodies:
            raise TypeError(
                f"{kind.__name__} has a body for score and has_linear_scores: a score that is "
                "linear is o + b'z, and is not written again"
            )
        return ("linear",)
    if kind in optimism.bodies:
        return ("quadratic",)
    return ("any", "none") if kind in random_arm.bodies else ("any",)


def _check_layout(title: str, layout: Any) -> None:
    """Raise TypeError unless a layout is that of a state that all kernels can work with."""
    from fastes.kernels.beliefs.gaussian.state import Gaussian
    from fastes.kernels.jit.outside import is_ours
    from fastes.kernels.states.layout import ArraySpec

    def refuse(rule: str, got: Any) -> TypeError:
        return TypeError(f"{title}: layout() must return {rule}, got {got!r:.80}")

    if not (isinstance(layout, tuple) and hasattr(layout, "_fields")):
        raise refuse("a named tuple", layout)
    if is_ours(type(layout)) or type(layout).__base__ is not tuple:
        raise refuse("a named tuple of a class of its own: bodies are not inherited", type(layout))
    if not isinstance(getattr(layout, "belief", None), Gaussian):
        raise refuse("a state whose field belief is the one that it was given", layout._fields)
    if not isinstance(getattr(layout, "z", None), ArraySpec):
        raise refuse("a state of zeros, full or identity, and such an array as its field z", layout)
    _check_fields(refuse, layout)


def _check_fields(refuse: Any, layout: Any) -> None:
    import numpy as np

    from fastes.kernels.states.layout import ArraySpec

    for name, part in zip(layout._fields, layout, strict=True):
        if isinstance(part, tuple) and hasattr(part, "_fields"):
            _check_fields(refuse, part)
        elif not isinstance(part, (ArraySpec, np.generic, bool, int, float)):
            rule = "zeros, full, identity, numbers and named tuples of them"
            raise refuse(f"{rule} as its field {name}", part)
