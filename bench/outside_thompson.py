"""Thompson sampling written as an agent from outside the package: the same numbers, to the bit."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from fastes.kernels.streams.layout import POSTERIOR_SAMPLE

from fastes.agents.authoring import (
    STEPS,
    ActionLaw,
    Agent,
    Block,
    Posterior,
    draw_vector,
    has_linear_scores,
    inlined,
    learn,
    no_block,
    prepare,
    prior,
    sample,
    update_root,
)


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: Block


class OutsideState(NamedTuple):
    """State of the agent."""

    posterior: Posterior
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@has_linear_scores.body(OutsideState)
def _has_linear_scores(agent: Any) -> bool:
    return True


@inlined
def _draw(posterior: Any, block: Any, source: Any, t: int, z: Any) -> None:
    draw_vector(block, source, POSTERIOR_SAMPLE, t, z.shape[0])
    sample(posterior, block.numbers[:, t % STEPS], z)


@prepare.body(OutsideState)
def _prepare(agent: Any, source: Any, t: int) -> None:
    _draw(agent.posterior, agent.scratch.normals, source, t, agent.z)


@learn.body(OutsideState)
def _learn(agent: Any, row: Any, key: int, reward: float, source: Any, t: int) -> None:
    update_root(agent.posterior, row, key, reward)


@dataclass(frozen=True)
class OutsideThompson(Agent):
    """Thompson sampling."""

    scores = "linear"

    def initial_state(self, K: int | None, r: int, source: Any, steps: int = 0) -> Any:
        """Return the state before the first step."""
        return OutsideState(prior(r, rooted=True), np.zeros(r), Scratch(no_block(r + r % 2)))

    def action_law(self, state: Any, arms: Any, source: Any, t: int) -> ActionLaw:
        """Return the law of the optimal action."""
        return ActionLaw(None)
