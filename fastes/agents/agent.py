"""The base class of agents: declared parameters, facts about their steps, and initial states.

The module imports no kernels, so that help is printed without numba.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.variance import constant_variance
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

    `simulate` runs it many times; `start` returns a live agent. A subclass is a frozen dataclass
    whose fields are declared by `parameter`.
    """

    name: ClassVar[str]
    """The short name, as on the command line; module:Class for custom agents."""

    title: ClassVar[str]
    """The name in tables and legends; the class name for custom agents."""

    engine: str = "exact"
    """How its steps are computed."""

    compiled: ClassVar[bool] = True
    """Whether its steps are compiled; those of custom agents in Python are not."""

    scores: ClassVar[str] = "any"
    """How it chooses: by "linear" scores o + b'z; by "quadratic" ones, with the arm's variance; by
    "any" other score, computed for all arms; by the ratio of regret and "information"; "none"."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set the name and title of a custom agent's class."""
        super().__init_subclass__(**kwargs)
        if is_outside(cls):
            for name, made in (
                ("name", f"{cls.__module__}:{cls.__name__}"),
                ("title", cls.__name__),
            ):
                if vars(cls).get(name, made) != made:
                    raise TypeError(
                        f"{cls.__name__}.{name} must be left out: it is set to {made!r}"
                    )
                setattr(cls, name, made)

    starts_alike: ClassVar[bool] = True
    """Whether its initial state is the same in all runs."""

    def __post_init__(self) -> None:
        for name, declared in parameters_of(type(self)).items():
            object.__setattr__(self, name, declared.checked(name, getattr(self, name)))

    def __repr__(self) -> str:
        # Variants are shown only if not the default, which is why dataclasses have repr=False.
        declared = parameters_of(type(self)).items()
        shown = [
            f"{name}={getattr(self, name)!r}"
            for name, each in declared
            if each.labelled != "unusual" or each.is_labelled(getattr(self, name))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def max_steps(self) -> int:
        """Largest number of steps."""
        return numbers.MAX_STEPS

    @property
    def label(self) -> str:
        """The agent and its parameters, for legends and tables."""
        return label(self.title, self.parameters())

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that labels show."""
        declared = parameters_of(type(self)).items()
        values = {name: (each, getattr(self, name)) for name, each in declared}
        return {name: value for name, (each, value) in values.items() if each.is_labelled(value)}

    def description(self) -> dict[str, Any]:
        """Return a JSON description from which `agent_from_description` makes an equal agent."""
        parameters = {name: getattr(self, name) for name in parameters_of(type(self))}
        return {"agent": self.name, "parameters": parameters}

    belief: str = "auto"
    """Kind of belief for rewards that are not Gaussian (fastes/problem/rewards.py)."""

    variance: str = "fisher"
    """Variance of the perturbations of models for rewards that are not Gaussian."""

    noise: str = "known"
    """Whether the noise of Gaussian rewards is known, or learned."""

    discount: float = 1.0
    """How much a reward counts when one more has been taken in."""

    window: int = 0
    """How many of the last rewards count; 0: all."""

    rooted: ClassVar[bool] = False
    """Whether its belief keeps a root of the covariance, to sample models, instead of the
    covariance."""

    @property
    def believes_posterior(self) -> bool:
        """Whether its belief is given the noise and all data, as diagnostics need."""
        return self.noise == "known" and self.discount == 1.0 and not self.window

    @property
    def belief_options(self) -> BeliefOptions:
        """The options of its belief."""
        from fastes.problem.rewards import BeliefOptions

        return BeliefOptions(
            rooted=self.rooted,
            kind=self.belief,
            variance=constant_variance(self.variance),
            discount=self.discount,
            window=self.window,
        )

    @abstractmethod
    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its kernel state (kernels/states/layout.py), given its belief's.

        K is None if arms do not recur at every step. `steps` is the number of steps to come, or 0
        if unknown.
        """

    def begin(self, state: Any, source: Source) -> None:  # noqa: B027, optional
        """Draw the random part of an initial state."""

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
        """Return the initial kernel state on a canonical problem of rank r.

        `rewards` defaults to Gaussian ones, `keys` (see `ActionSet.keys`) to K.
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
        """Return the state of these saved arrays, or raise.

        `steps` is the total number of steps, or 0 if unknown.
        """
        from fastes.kernels.agents.interface import restored_state
        from fastes.kernels.beliefs.interface import is_whole

        layout = self._layout(None if arms is None else arms.K, r, steps, rewards, keys)
        state = restored_state(layout, arrays, arms, steps)
        if not is_whole(state.belief):
            raise ValueError("a counter of the saved agent is out of range")
        return state

    def with_capacity(self, state: Any) -> Any:
        """Return the state with larger arrays, when a kernel `needs_capacity`."""
        return state

    def state_bytes(
        self,
        K: int | None,
        r: int,
        T: int,
        rewards: RewardLaw | None = None,
        keys: int | None = None,
    ) -> int:
        """Return the peak bytes of the state of a run of T steps."""
        from fastes.kernels.states.layout import layout_bytes

        return layout_bytes(self._layout(K, r, T, rewards, keys))

    def shared_cost(self, r: int) -> float:
        """Return the approximate number of multiply-adds per step that threads can share."""
        return 0.0

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the agent's arm at step t, without changing the state.

        By default uniform on the arms with the largest score.
        """
        from fastes.agents.action_law import law_of_best_score

        return law_of_best_score(state, arms)

    def start(self, bandit: Bandit, seed: int = 0) -> LiveAgent:
        """Return a live agent, which chooses arms and learns from the caller's rewards.

        Parameters
        ----------
        bandit : Bandit
            The arms, the prior and the noise.
        seed : int
            Seed of the agent's random numbers.

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
    """Return whether a class is that of a custom agent."""
    return kind.__module__.partition(".")[0] != __name__.partition(".")[0]


def label(title: str, parameters: dict[str, Any]) -> str:
    """Return an agent's title and parameters, for legends and tables."""
    forms = {int: "{:,}", float: "{:g}"}
    shown = [
        k if v is True else f"{k}={forms.get(type(v), '{}').format(v)}"
        for k, v in parameters.items()
    ]
    return ", ".join([title, *shown])
