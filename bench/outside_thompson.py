"""Thompson sampling written as an agent from outside the package: the same numbers, to the bit."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from fastes.kernels.streams.layout import POSTERIOR_SAMPLE

from fastes.agents.authoring import (
    STEPS,
    ActionLaw,
    Agent,
    Belief,
    Block,
    draw_vector,
    has_linear_scores,
    inlined,
    mean_of,
    no_block,
    prepare,
    sample,
    zeros,
)


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: Block


class OutsideState(NamedTuple):
    """State of the agent."""

    belief: Belief
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@has_linear_scores.body(OutsideState)
def _has_linear_scores(agent: Any) -> bool:
    return True


@inlined
def _draw(belief: Any, block: Any, source: Any, t: int, z: Any) -> None:
    draw_vector(block, source, POSTERIOR_SAMPLE, t, z.shape[0])
    sample(belief, block.numbers[:, t % STEPS], z)


@prepare.body(OutsideState)
def _prepare(agent: Any, source: Any, t: int) -> None:
    _draw(agent.belief, agent.scratch.normals, source, t, agent.z)


@dataclass(frozen=True)
class OutsideThompson(Agent):
    """Thompson sampling."""

    scores = "linear"
    rooted = True

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        r = len(mean_of(belief))
        return OutsideState(belief, zeros(r), Scratch(no_block.layout(r + r % 2)))

    def action_law(self, state: Any, arms: Any, source: Any, t: int) -> ActionLaw:
        """Return the law of the optimal action."""
        return ActionLaw(None)
