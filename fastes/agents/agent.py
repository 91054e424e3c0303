"""What all agents share: declared parameters, facts about their steps, and the states they start.

The classes import no kernel when they are loaded, so that help is printed without numba.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.checks import numbers
from fastes.checks.parameters import parameters_of

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.agents.live import LiveAgent
    from fastes.checks.arrays import Arrays
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source
    from fastes.problem.bandit import Bandit
    from fastes.problem.rewards import BeliefOptions, RewardLaw


class Agent(ABC):
    """An agent: a rule for choosing arms, and its parameters.

    `simulate` plays it many times; `start` gives one that chooses and learns live. A subclass is
    a frozen dataclass whose fields are declared by `parameter`.
    """

    name: ClassVar[str]
    """The short name, as on the command line; module:Class outside the package."""

    title: ClassVar[str]
    """The name in tables and legends; that of the class outside the package."""

    engine: str = "exact"
    """How its steps are computed."""

    compiled: ClassVar[bool] = True
    """Whether its steps are those of a kernel; an own agent's are Python's."""

    scores: ClassVar[str] = "any"
    """What it chooses by: "linear" scores o + b'z, "quadratic" ones (a variance of each arm too),
    "any" other score of each arm, all of which are then scored, the ratio of regret and
    "information", or "none"."""

    def __init_subclass__(cls, **words: Any) -> None:
        """Name a class from outside the package by where it is."""
        super().__init_subclass__(**words)
        if is_outside(cls):
            for name, made in (
                ("name", f"{cls.__module__}:{cls.__name__}"),
                ("title", cls.__name__),
            ):
                if vars(cls).get(name, made) != made:
                    raise TypeError(
                        f"{cls.__name__}.{name} is {made!r} outside fastes: leave it out"
                    )
                setattr(cls, name, made)

    starts_alike: ClassVar[bool] = True
    """Whether its state before the first step is the same in every run."""

    def __post_init__(self) -> None:
        for name, declared in parameters_of(type(self)).items():
            object.__setattr__(self, name, declared.checked(name, getattr(self, name)))

    def __repr__(self) -> str:
        # Variants appear where they are not as usual: dataclasses without a repr of their own.
        declared = parameters_of(type(self)).items()
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, each in declared
            if each.labelled != "unusual" or each.is_labelled(getattr(self, name))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def max_steps(self) -> int:
        """The most steps that it can take."""
        return numbers.MAX_STEPS

    @property
    def label(self) -> str:
        """The agent and its parameters, for legends and tables."""
        return label(self.title, self.parameters())

    def parameters(self) -> dict[str, Any]:
        """Return what sets this agent apart from others of its name."""
        declared = parameters_of(type(self)).items()
        values = {name: (each, getattr(self, name)) for name, each in declared}
        return {name: value for name, (each, value) in values.items() if each.is_labelled(value)}

    def description(self) -> dict[str, Any]:
        """Return what `agent_from_description` makes the same agent of, ready for JSON."""
        parameters = {name: getattr(self, name) for name in parameters_of(type(self))}
        return {"agent": self.name, "parameters": parameters}

    belief: str = "auto"
    """What it keeps of rewards that are not Gaussian (fastes/problem/rewards.py)."""

    variance: str = "fisher"
    """Of the perturbations of models, where rewards are not Gaussian."""

    rooted: ClassVar[bool] = False
    """Whether its belief keeps a root of the covariance, from which models are drawn, and not the
    covariance itself."""

    @property
    def belief_options(self) -> BeliefOptions:
        """What it asks of its belief."""
        from fastes.agents.belief_options import constant_variance
        from fastes.problem.rewards import BeliefOptions

        return BeliefOptions(self.rooted, self.belief, constant_variance(self.variance))

    @abstractmethod
    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its kernel state (kernels/states/layout.py), given its belief's.

        K is None where arms do not come again at every step. `steps` is how many are to come, or 0
        where that is not known.
        """

    def begin(self, state: Any, source: Source) -> None:  # noqa: B027, which most have no use for
        """Draw what is random in a state before the first step."""

    def _layout(
        self, K: int | None, r: int, steps: int, rewards: RewardLaw | None, keys: int | None
    ) -> Any:
        from fastes.problem.rewards import GAUSSIAN

        keys = K if keys is None else keys
        belief = (rewards or GAUSSIAN).belief(keys, r, steps, self.belief_options)
        return self.layout(K, belief, steps)

    def initial_state(
        self,
        K: int | None,
        r: int,
        source: Source,
        steps: int = 0,
        rewards: RewardLaw | None = None,
        keys: int | None = None,
    ) -> Any:
        """Return a kernel state on the canonical problem of rank r, before the first step.

        Rewards are Gaussian, if nothing else is said. `keys` is that of the action set, by default
        K.
        """
        from fastes.kernels.states.layout import allocate

        state = allocate(self._layout(K, r, steps, rewards, keys))
        self.begin(state, source)
        return state

    def restored_state(
        self,
        arrays: Arrays,
        arms: Arms | None,
        r: int,
        steps: int = 0,
        rewards: RewardLaw | None = None,
        keys: int | None = None,
    ) -> Any:
        """Return the state that was saved as these arrays, or raise.

        `steps` is how many there will be in all, where that is known.
        """
        from fastes.kernels.agents.interface import restored_state
        from fastes.kernels.beliefs.interface import is_whole

        layout = self._layout(None if arms is None else arms.K, r, steps, rewards, keys)
        state = restored_state(layout, arrays, arms, steps)
        if not is_whole(state.belief):
            raise ValueError("a saved agent's counters are out of range")
        return state

    def with_capacity(self, state: Any) -> Any:
        """Return the state with larger arrays, for a kernel that `needs_capacity`."""
        return state

    def state_bytes(
        self,
        K: int | None,
        r: int,
        T: int,
        rewards: RewardLaw | None = None,
        keys: int | None = None,
    ) -> int:
        """Return the memory that one run's state takes in T steps, at most."""
        from fastes.kernels.states.layout import layout_bytes

        return layout_bytes(self._layout(K, r, T, rewards, keys))

    def shared_cost(self, r: int) -> float:
        """Return about how many multiply-adds of a step can be shared by threads."""
        return 0.0

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the arm that the agent plays at step t, changing nothing.

        By default: any arm of the largest score, each as likely.
        """
        from fastes.agents.action_law import law_of_best_score

        return law_of_best_score(state, arms)

    def start(self, bandit: Bandit, seed: int = 0) -> LiveAgent:
        """Return an agent that chooses arms and learns from rewards as they come.

        Parameters
        ----------
        bandit : Bandit
            The arms, the prior and the noise. Its rewards come from the caller.
        seed : int
            Of the agent's own randomness.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.EnsembleSampling(M=100).start(bandit, seed=1)
        >>> arm = agent.act()
        >>> agent.observe(arm, reward=0.7)
        >>> agent.observations
        1
        """
        from fastes.agents.live import start_live

        return start_live(self, bandit, seed)


def is_outside(kind: type) -> bool:
    """Return whether a class of agents is from outside the package."""
    return kind.__module__.partition(".")[0] != __name__.partition(".")[0]


def label(title: str, parameters: dict[str, Any]) -> str:
    """Return an agent's title and parameters, for legends and tables."""
    forms = {int: "{:,}", float: "{:g}"}
    shown = [
        k if v is True else f"{k}={forms.get(type(v), '{}').format(v)}"
        for k, v in parameters.items()
    ]
    return ", ".join([title, *shown])
