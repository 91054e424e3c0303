"""Parameters that agents share: how they take rewards in, forget, and learn the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.problem.rewards import BeliefOptions

NOISE_SHAPE, NOISE_SCALE, LEAST_NOISE = 2.0, 1.0, 0.1
LEAST_DISCOUNT = 1e-9
"""With less, nothing of an earlier reward is left beside the prior."""

LARGEST = 10**9
"""Of shape and scale: beyond, the noise is as good as known."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Forgetting(Agent):
    """An agent that may forget.

    A subclass adds parameters of its own, which come first; its docstring gets `shared` at its end.
    """

    shared: ClassVar[str] = """
    Other Parameters
    ----------------
    discount : float
        Factor of the weight of a reward for each one taken in after it, from 1e-9 to 1. Below 1 the
        agent remembers about 1 / (1 - discount) rewards; what it forgets goes back to the prior.
    """
    """What the docstrings of subclasses say of these parameters."""

    discount: float = parameter(
        "Factor of the weight of a reward for each one taken in after it; below 1 agents forget.",
        "number",
        1.0,
        default=1.0,
        minimum=LEAST_DISCOUNT,
        maximum=1,
        labelled="unusual",
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Append what the docstring says of shared parameters."""
        super().__init_subclass__(**kwargs)
        cls.__doc__ = f"{cls.__doc__}{cls.shared}"


@dataclass(frozen=True, repr=False, kw_only=True)
class Learner(Forgetting):
    """An agent for all kinds of rewards, which may forget, and may learn the noise."""

    shared: ClassVar[str] = f"""{Forgetting.shared.rstrip()}
    belief : {{"auto", "exact", "online"}}
        What is kept of rewards that are not Gaussian. Exact: all data, by distinct arm. Online: a
        normal belief that takes in each reward once, linearised. Auto is exact where arms come
        again, else online.
    noise : {{"known", "learned"}}
        Whether the standard deviation of Gaussian rewards is the bandit's, or learned: its square
        then has an inverse gamma prior, and the bandit's noise is a first guess.
    noise_shape, noise_scale : float
        That prior's shape, at least 1, and scale, in units of the bandit's squared noise.
    least_noise : float
        The noise with which theta has the bandit's prior, from 0.001 to 1 of the bandit's noise.
        With more noise the prior is wider, in proportion: name the least that is likely.
    """

    belief: str = parameter(
        "What is kept of rewards that are not Gaussian: all data, or each reward linearised once.",
        "choice",
        "auto",
        default="auto",
        choices=("auto", "exact", "online"),
        labelled="unusual",
    )
    noise: str = parameter(
        "Whether the standard deviation of Gaussian rewards is known or learned.",
        "choice",
        "known",
        default="known",
        choices=("known", "learned"),
        labelled="unusual",
        option="agent_noise",
    )
    noise_shape: float = parameter(
        "Shape of the inverse gamma prior of the noise's variance, where it is learned.",
        "number",
        NOISE_SHAPE,
        default=NOISE_SHAPE,
        minimum=1,
        maximum=LARGEST,
        labelled="unusual",
    )
    noise_scale: float = parameter(
        "Scale of that prior, in units of the problem's squared noise.",
        "number",
        NOISE_SCALE,
        default=NOISE_SCALE,
        minimum=1 / LARGEST,
        maximum=LARGEST,
        labelled="unusual",
    )
    least_noise: float = parameter(
        "Noise, relative to the problem's, at which theta has the problem's prior: wider above.",
        "number",
        LEAST_NOISE,
        default=LEAST_NOISE,
        minimum=0.001,
        maximum=1,
        labelled="unusual",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {
            "noise_shape": (self.noise_shape, NOISE_SHAPE),
            "noise_scale": (self.noise_scale, NOISE_SCALE),
            "least_noise": (self.least_noise, LEAST_NOISE),
        }
        for name, (value, usual) in given.items():
            if self.noise == "known" and value != usual:
                raise ValueError(f"{name} is for agents that learn the noise, got {value:g}")

    @property
    def belief_options(self) -> BeliefOptions:
        """The options of its belief."""
        options = super().belief_options
        if self.noise == "known":
            return options
        return options._replace(noise=(self.noise_shape, self.noise_scale, self.least_noise))
