"""The public function `replay`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.actions import Offered
from fastes.agents.agent import Agent
from fastes.agents.own import PlayerFactory, as_agent
from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import shown
from fastes.kernels.loop.replay import Plays
from fastes.kernels.streams.draws import fill_uniform_rows
from fastes.kernels.streams.layout import KEPT_ROWS
from fastes.kernels.streams.philox import source
from fastes.logs.estimates import METHODS, PolicyValue, estimate
from fastes.logs.log import Log
from fastes.logs.players import Player, in_units, player_of
from fastes.logs.replay import LogFacts, Replay
from fastes.problem.bandit import Bandit
from fastes.problem.linear import LinearBandit
from fastes.simulation.bars import Bar, Draw, bars_if

_ROWS = 8192  # per kernel call, so that Ctrl-C is noticed and the bar moves

_MOST_DRAWS = 10_000


def replay(
    log: Log,
    agents: Agent | PlayerFactory | Sequence[Agent | PlayerFactory],
    bandit: Bandit | None = None,
    methods: str | Sequence[str] = ("rejection", "snips"),
    *,
    draws: int = 8,
    seed: int = 0,
    progress: bool | None = None,
) -> Replay:
    r"""Estimate from logged plays what agents would have earned per row.

    All methods assume that propensities are right, that the rows are draws of one law (or in an
    order that the agent would have met, too), and that a reward depends on its own row only.

    rejection (Li and others 2011): the agent chooses in each row. Where its choice is the logged
    arm, it learns the reward, and the row counts; other rows are passed over. The rows that count
    are, in law, what a live agent would have seen in as many steps. This needs arms that were
    logged uniformly; with other propensities :math:`p_t`, a row is first kept with probability
    :math:`\min_s p_s / p_t`, which makes them uniform. About that minimum of the rows count.

    ips, inverse propensity scoring: the mean of :math:`w_t r_t`, with
    :math:`w_t = \pi_t(a_t) / p_t`. The agent learns *every* logged reward, so that
    :math:`\pi_t(a)`, its probability of arm a in row t, is that of an agent trained on the rows
    before t of the log. The estimate is unbiased for the mean value of these policies. It is not
    what the agent would have earned by learning from its own choices. :math:`\pi_t(a_t)` is
    estimated, without bias, by the share of `draws` choices.

    snips, its self-normalised form: :math:`\sum w_t r_t / \sum w_t`. A bias of order 1/rows,
    usually a much smaller variance, and adding a constant to the rewards adds it to the estimate.

    Standard errors are those of the rewards and weights given what the agent learned: another log
    would also have taught it something else.

    Parameters
    ----------
    log : Log
        The plays, with propensities.
    agents : agent or sequence of agents
        As for `simulate`; custom agents in Python too.
    bandit : Bandit, optional
        What agents believe: its arms must be those of the log. By default
        ``LinearBandit(log.actions)``; see `fit_prior` for its prior and noise.
    methods : {"rejection", "ips", "snips"} or a list of them
        The estimates.
    draws : int
        Choices per row for ips and snips.
    seed : int
        Seed of the agents' random numbers.
    progress : bool, optional
        True shows a progress bar in a terminal or notebook.

    Returns
    -------
    Replay

    Examples
    --------
    >>> import fastes, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(3, size=3000)  # uniform logging
    >>> reward = np.array([0.2, 0.5, 0.9])[arm] + 0.3 * rng.normal(size=3000)
    >>> log = fastes.Log(3, arm, reward, "uniform")
    >>> agents = [fastes.ThompsonSampling(), fastes.UniformRandom()]
    >>> for each in fastes.replay(log, agents, fastes.LinearBandit(np.eye(3), noise=0.3)):
    ...     print(each)
    PolicyValue(TS, rejection: 0.8807 +- 0.0095)
    PolicyValue(TS, snips: 0.8838 +- 0.0094)
    PolicyValue(Uniform, rejection: 0.5254 +- 0.013)
    PolicyValue(Uniform, snips: 0.5425 +- 0.0085)
    """
    checked, chosen = _checked(log, agents, methods)
    draws = numbers.integer("draws", draws, 1, _MOST_DRAWS)
    seed = numbers.integer("seed", seed, 0, numbers.MAX_SEED)
    believed = _believed(log, LinearBandit(log.actions) if bandit is None else bandit)
    rewards = in_units(log.reward, believed)
    found: list[PolicyValue] = []
    with bars_if(progress) as draw:
        for agent in checked:
            for plan in _plans(log, chosen, draws, seed):
                player = player_of(agent, believed, seed)
                weights = _weights(log, player, rewards, plan, _bar(draw, agent, plan, len(log)))
                found += [estimate(agent, name, weights, log.reward) for name in plan.methods]
    facts = LogFacts.of(log, believed.rewards.name, draws, seed)
    return Replay(tuple(found), facts)


class _Plan(NamedTuple):
    """A pass over a log: the estimates made of it, and how the agent learns."""

    methods: list[str]
    kept: NDArray[np.bool_]  # the rows that are replayed
    scale: Floats  # weight of a row in which every choice is the logged arm
    draws: int
    always: bool  # whether the agent learns from every row


def _plans(log: Log, methods: Sequence[str], draws: int, seed: int) -> Iterator[_Plan]:
    """Yield the passes that these methods need."""
    p, n = log.propensity, len(log)
    assert p is not None
    if "rejection" in methods:
        least, uniforms = p.min(), np.empty((n, 1))
        fill_uniform_rows(source(seed), KEPT_ROWS, uniforms)
        yield _Plan(["rejection"], uniforms[:, 0] < least / p, np.full(n, 1.0 / least), 1, False)
    weighted = [name for name in methods if name != "rejection"]
    if weighted:
        yield _Plan(weighted, np.ones(n, np.bool_), 1.0 / p, draws, True)


def _weights(
    log: Log, player: Player, rewards: Floats, plan: _Plan, tell: Callable[[int], None]
) -> Floats:
    """Let an agent choose and learn in all rows. Return the weight of each row."""
    weights = np.empty(len(log))
    for first in range(0, len(log), _ROWS):
        for block in log.offers.blocks(first, min(len(log), first + _ROWS)):
            its = slice(block.first, block.last)
            given = log.places[its], rewards[its], plan.kept[its]
            plays = Plays(*given, block.first, plan.draws, plan.always)
            weights[its] = player.replay(block, plays) / plan.draws * plan.scale[its]
        tell(min(len(log), first + _ROWS))
    return weights


def _bar(draw: Draw | None, agent: Agent, plan: _Plan, n: int) -> Callable[[int], None]:
    """Return a function that shows how many rows are done."""

    def tell(rows: int) -> None:
        if draw is not None:
            label = f"{agent.label}, {', '.join(plan.methods)}"
            draw([Bar(label, rows, n, lambda speed: f"{speed:,.0f} rows/s")])

    return tell


def _checked(log: Any, agents: Any, methods: Any) -> tuple[list[Agent], list[str]]:
    """Return the agents and the methods, or raise."""
    if not isinstance(log, Log):
        raise TypeError(f"log must be a Log, such as Log.from_csv returns, got {shown(log)}")
    if log.propensity is None:
        raise ValueError(
            "replay needs the log's propensity, with which each arm was played: give Log numbers, "
            "or 'uniform' if arms were drawn uniformly from those on offer"
        )
    several = list(agents) if isinstance(agents, (list, tuple)) else [agents]
    checked = [as_agent(each) for each in several]
    chosen = list(dict.fromkeys([methods] if isinstance(methods, str) else methods))
    if not checked:
        raise ValueError("agents must have at least one agent, got none")
    if not chosen or not set(chosen) <= set(METHODS):
        raise ValueError(f"methods must be some of {', '.join(METHODS)}, got {shown(methods)}")
    return checked, chosen


def _believed(log: Log, bandit: Any) -> Bandit:
    """Return the problem that agents are started on, or raise unless its arms are the log's."""
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be a problem such as a LinearBandit, got {shown(bandit)}")
    given: Any = bandit.action_set
    own: Any = log.actions
    if own.fixed:
        if not given.fixed or not np.array_equal(bandit.actions, own.known_arms):
            raise ValueError(f"bandit must have the arms of the log, Fixed({own}), got {bandit}")
        return bandit
    if given.chosen_by != "row" or given.counted_arms or given.d != own.d:
        raise ValueError(
            f"bandit must have Offered(d={own.d}) arms, since the log has other arms in each row, "
            f"got {bandit}"
        )
    belief = {name: getattr(bandit, name) for name in bandit.arguments}
    return type(bandit)(Offered(own.d), **belief)
