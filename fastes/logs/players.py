"""Agents that choose at each row of a log: compiled, or custom ones in Python."""

import operator
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastes.agents.agent import Agent
from fastes.agents.live_rows import Choice, Room
from fastes.agents.own import OwnAgent, OwnAgentError, failed
from fastes.agents.run_bytes import run_bytes
from fastes.agents.search import renew_search, search_method, workspace_on
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.checks.numbers import shown
from fastes.kernels.actions.subset import Pool
from fastes.kernels.actions.whitening import first_refused
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live
from fastes.kernels.loop.replay import AllArms, NewArms, Plays, SomeArms, replay_rows
from fastes.kernels.search.certificate import snapshot_due
from fastes.kernels.streams.philox import source
from fastes.logs.offers import Block, Integers
from fastes.problem.bandit import Bandit


class Player(Protocol):
    """An agent on a log."""

    def replay(self, block: Block, plays: Plays) -> Integers:
        """Return how many choices were the logged arm in each row of a block."""


def player_of(agent: Agent, bandit: Bandit, seed: int) -> Player:
    """Return an agent before the first row. The bandit has fixed arms or `Offered` ones."""
    if isinstance(agent, OwnAgent):
        return OwnPlayer(agent, bandit, seed)
    return CompiledPlayer(agent, bandit, seed)


class CompiledPlayer:
    """A compiled agent on a log."""

    def __init__(self, agent: Agent, bandit: Bandit, seed: int) -> None:
        needed = run_bytes(agent, bandit.sizes, 1, 0)
        require(f"{agent}", needed.state + needed.search + needed.offers)
        self._agent, self._bandit, self._canonical = agent, bandit, bandit.canonical
        self._source, self._learned = source(seed), np.zeros(1, np.int64)
        self._row, self._fixed = np.empty(bandit.rank), bandit.action_set.fixed
        K = bandit.K if self._fixed else None
        self._state = agent.initial_state(K, bandit.rank, self._source, rewards=bandit.rewards)
        self._room = Room(agent, self._canonical)
        if self._fixed:
            self._pool = Pool(*self._canonical.rows_and_offsets())
            actions = bandit.action_set.kernel_actions(self._canonical, 0, 0)
            method = search_method(agent, bandit.K, bandit.rank)
            self._all = Choice(actions, workspace_on(agent, bandit.action_set, actions, method))
        else:
            self._whitening, self._most = self._canonical.whitening(), self._canonical.limits
        self._boxes: dict[int, tuple[Any, Choice]] = {}  # by the number of arms on offer

    def replay(self, block: Block, plays: Plays) -> Integers:
        """Return how many choices were the logged arm in each row of a block."""
        offers = self._offers(block)
        hits = np.zeros(len(plays.places), np.int64)
        done = 0
        while True:
            box, choice = self._box(block)
            done = replay_rows(box, offers, plays, done, hits)
            if done == len(hits):
                return hits
            self._continue(choice, plays.first + done)

    def _offers(self, block: Block) -> Any:
        if block.numbers is not None:
            return SomeArms(self._pool, block.numbers)
        if block.rows is None:
            return AllArms(block.first)
        flat = block.rows.reshape(-1, block.rows.shape[2])
        wrong = first_refused(self._whitening, flat, self._most, self._row)
        if wrong >= 0:
            raise ValueError(
                "actions must be finite, and their values within the limits of a problem, got "
                f"{shown(flat[wrong])} in row {block.first + wrong // block.size}"
            )
        rows = block.rows.view()
        rows.flags.writeable = False  # as those of a file are: the kernel is compiled once
        return NewArms(rows, self._whitening, self._most)

    def _box(self, block: Block) -> tuple[Any, Choice]:
        """Return what kernels use to choose among as many arms as a block offers."""
        key = -1 if block.rows is None and block.numbers is None else block.size
        if key not in self._boxes:
            choice = self._all if key < 0 else self._room.of(key)
            known = self._source, self._learned, self._row
            self._boxes[key] = boxed(Live(self._state, *choice, *known)), choice
        return self._boxes[key]

    def _continue(self, choice: Choice, row: int) -> None:
        """Provide what the kernel stopped for at a row, or raise."""
        if needs_capacity(self._state):
            self._state = self._agent.with_capacity(self._state)
            self._boxes.clear()
        elif snapshot_due(choice.work):
            renew_search(choice.work, self._state, choice.actions.arms)
        else:
            raise FloatingPointError(
                f"{self._agent.label} failed numerically in row {row}: {self._bandit.rewards.lost}"
            )


class OwnPlayer:
    """A custom agent in Python on a log: as slow as the agent."""

    def __init__(self, agent: OwnAgent, bandit: Bandit, seed: int) -> None:
        self._agent, self._unit = agent, bandit.rewards.unit
        self._player = agent.started(bandit, seed, 0)

    def replay(self, block: Block, plays: Plays) -> Integers:
        """Return how many choices were the logged arm in each row of a block."""
        if block.numbers is not None:
            raise ValueError(
                f"{self._agent.label} is a custom agent in Python, whose act() knows no available "
                "arms: give Log the features of the arms on offer in each row instead"
            )
        hits = np.zeros(len(plays.places), np.int64)
        for i, place in enumerate(plays.places.tolist()):
            if not plays.kept[i]:
                continue
            row = plays.first + i
            offered: tuple[NDArray[Any], ...] = () if block.rows is None else (block.rows[i],)
            for _ in range(plays.draws):
                hits[i] += self._act(offered, block.size, row) == place
            if plays.always or hits[i]:
                seen = place if block.rows is None else block.rows[i, place].copy()
                reward = self._unit * float(plays.rewards[i])
                self._call("observe", self._player.observe, row, seen, reward)
        return hits

    def _act(self, offered: tuple[NDArray[Any], ...], size: int, row: int) -> int:
        choice = self._call("act", self._player.act, row, *offered)
        try:
            arm = operator.index(choice)
        except TypeError:
            arm = -1
        if not 0 <= arm < size:
            raise OwnAgentError(
                f"{self._agent.label}: act() must return an integer from 0 to {size - 1}, got "
                f"{shown(choice)} in row {row}"
            )
        return arm

    def _call(self, name: str, method: Callable[..., Any], row: int, *given: Any) -> Any:
        try:
            return method(*given)
        except Exception as error:
            raise failed(self._agent, name, error, f"in row {row}") from error


def in_units(rewards: Floats, bandit: Bandit) -> Floats:
    """Return logged rewards in units of the noise, or raise."""
    law = bandit.rewards
    refused = ~np.asarray(law.takes(rewards))
    if refused.any():
        row = int(refused.argmax())
        raise ValueError(f"reward must be {law.allowed}, got {rewards[row]:g} in row {row}")
    scaled: Floats = rewards / law.unit
    return scaled
