"""Checks of custom compiled agents: the class and the kernels must agree.

The type of an agent's state determines its kernels. Whatever would make a search miss the best arm,
or a diagnostic measure a different agent, is refused before a run starts.
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
    implied = _scores_of_kernels(layout)
    if agent.scores not in implied:
        raise TypeError(
            f"{agent.title}.scores is {agent.scores!r}, but the bodies for "
            f"{type(layout).__name__} imply {' or '.join(map(repr, implied))}"
        )
    return agent


def code_of(agent: Agent) -> str:
    """Return a hash of the source of a custom compiled agent, or "" for other agents.

    It is "unknown" if the source is not in files, or if they changed since it was imported.
    """
    if not (is_outside(type(agent)) and agent.compiled):
        return ""
    from fastes.kernels.jit.outside import source_hash

    return source_hash(type(_first_layout(agent))) or "unknown"


def require_action_law(agent: Agent) -> None:
    """Raise TypeError if a custom compiled agent needs an action_law and has none."""
    from fastes.kernels.agents.interface import prepare, random_arm

    if not is_outside(type(agent)) or type(agent).action_law is not Agent.action_law:
        return
    state = type(_first_layout(agent))
    drawn = [each.__name__ for each in (prepare, random_arm) if state in each.bodies]
    if drawn:
        raise TypeError(
            f"{agent.label} has a body for {drawn[0]} but no action_law, which diagnostics need"
        )


def imported_class(name: str) -> type[Agent] | None:
    """Return the class of custom agents at module:Class, if this process has imported it.

    Nothing is imported: the name may come from a file.
    """
    module, _, attribute = name.partition(":")
    found = getattr(sys.modules.get(module), attribute, None)
    if isinstance(found, type) and issubclass(found, Agent) and is_outside(found):
        return found
    return None


def _first_layout(agent: Agent) -> Any:
    from fastes.kernels.beliefs.gaussian.state import gaussian

    return agent.layout(1, gaussian.layout(1, rooted=agent.rooted), 1)


def _scores_of_kernels(state: Any) -> tuple[str, ...]:
    """Return the `scores` implied by the bodies for a state, or raise TypeError."""
    from fastes.kernels.agents.interface import has_linear_scores, optimism, random_arm, score

    kind = type(state)
    if has_linear_scores(state):
        if kind in score.bodies:
            raise TypeError(
                f"{kind.__name__} has bodies for score and has_linear_scores: a linear score is "
                "o + b'z and needs no body"
            )
        return ("linear",)
    if kind in optimism.bodies:
        return ("quadratic",)
    return ("any", "none") if kind in random_arm.bodies else ("any",)


def _check_layout(title: str, layout: Any) -> None:
    """Raise TypeError unless a layout is valid for all kernels."""
    from fastes.kernels.beliefs.gaussian.state import Gaussian
    from fastes.kernels.jit.outside import is_ours
    from fastes.kernels.states.layout import ArraySpec

    def refuse(rule: str, got: Any) -> TypeError:
        return TypeError(f"{title}: layout() must return {rule}, got {got!r:.80}")

    if not (isinstance(layout, tuple) and hasattr(layout, "_fields")):
        raise refuse("a named tuple", layout)
    if is_ours(type(layout)) or type(layout).__base__ is not tuple:
        raise refuse("a named tuple of its own class: bodies are not inherited", type(layout))
    if not isinstance(getattr(layout, "belief", None), Gaussian):
        raise refuse("a state whose field belief is the given one", layout._fields)
    if not isinstance(getattr(layout, "z", None), ArraySpec):
        raise refuse("a state of zeros, full or identity, with such an array as field z", layout)
    _check_fields(refuse, layout)


def _check_fields(refuse: Any, layout: Any) -> None:
    import numpy as np

    from fastes.kernels.states.layout import ArraySpec

    for name, value in zip(layout._fields, layout, strict=True):
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            _check_fields(refuse, value)
        elif not isinstance(value, (ArraySpec, np.generic, bool, int, float)):
            rule = "zeros, full, identity, numbers and named tuples of them"
            raise refuse(f"{rule} as its field {name}", value)
