"""Published numbers on worlds that change, and what runs them here."""

import math

import numpy as np
from anchors.anchor import Anchor, Source
from anchors.simulated import regret_over_draws

import fastes
from fastes.actions import Given

RUSSAC = Source(
    "D-LinUCB",
    "Russac, Vernade and Cappe, Weighted Linear Bandits for Non-Stationary Environments, NeurIPS "
    "2019, the abrupt changes of its code, YRussac/WeightedLinearBandits: means of 25 runs of it",
    "Setting read in the code; numbers by running it. There the second matrix of D-LinUCB is made "
    "of the first one: it was run as it is, and with the paper's recursion",
)

T, K, D = 6000, 50, 2
BREAKS = {1001: (-1.0, 0.0), 2001: (0.0, 1.0), 3001: (0.0, -1.0)}
FIRST = (1.0, 0.0)
REGULARISATION, DELTA = 0.1, 0.01
VARIATION = 4 + math.sqrt(2)  # of theta, in all
DISCOUNT = 1 - (VARIATION / (D * T)) ** (2 / 3)
WINDOW = math.ceil((D * T / VARIATION) ** (2 / 3))
TRUTH = {"drift": fastes.drift.Piecewise(list(BREAKS), list(BREAKS.values()))}


def abrupt(draw):
    """Return 50 arms in the unit disc, anew at every step, and theta of the first step."""
    rows = np.random.default_rng(draw).uniform(-1.0, 1.0, (T, K, D))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=-1, keepdims=True))
    return fastes.LinearBandit(Given(rows), prior_cov=1.0 / REGULARISATION), np.array(FIRST)


def width(weight):
    """Return the published number of standard deviations, given the sum of squared weights."""
    growth = D * math.log1p(weight / (REGULARISATION * D))
    return math.sqrt(REGULARISATION) + math.sqrt(2 * math.log(1 / DELTA) + growth)


class Published:
    """A policy of the published code, line by line: P and Q are its two matrices.

    `discount` and `window` of its rewards; `restart` at the breaks; with `slip`, Q is made of P.
    """

    def __init__(self, discount=1.0, window=0, restart=False, slip=False):
        self.discount, self.window = discount, window
        self.restart, self.slip = restart, slip

    def start(self, bandit, seed):
        """Return a player of a run."""
        player = Published(self.discount, self.window, self.restart, self.slip)
        player.step = 0
        player.begin()
        return player

    def begin(self):
        """Forget all."""
        self.P = self.Q = REGULARISATION * np.eye(D)
        self.b, self.weight, self.kept = np.zeros(D), 0.0, []

    def act(self, actions):
        """Return the arm of the largest index."""
        if self.restart and self.step in BREAKS:
            self.begin()
        S = np.linalg.inv(self.P)
        if self.window:  # Cheung and others, whose width is constant
            logarithm = math.log((1 + WINDOW / REGULARISATION) / DELTA)
            alpha = math.sqrt(REGULARISATION) + math.sqrt(D * logarithm)
        else:
            alpha = width(self.weight)
        spread = S @ self.Q @ S if self.discount < 1.0 else S
        variances = np.einsum("ij,jk,ik->i", actions, spread, actions)
        return int(np.argmax(actions @ (S @ self.b) + alpha * np.sqrt(variances)))

    def observe(self, row, reward):
        """Take in a reward."""
        gamma, outer, prior = self.discount, np.outer(row, row), REGULARISATION * np.eye(D)
        square, before = gamma * gamma, self.Q
        self.P = gamma * self.P + outer + (1 - gamma) * prior
        self.Q = square * (self.P if self.slip else before) + outer + (1 - square) * prior
        self.b = gamma * self.b + reward * row
        self.weight = square * self.weight + 1.0
        if self.window:
            self.kept.append((outer, reward * row))
            if len(self.kept) > WINDOW:
                old, paid = self.kept.pop(0)
                self.P, self.b = self.P - old, self.b - paid
        self.step += 1


def russac():
    """Return the anchors of the abrupt changes: the published policies, and the agent."""
    alpha = width(1 / (1 - DISCOUNT**2))  # what it comes to after some hundred steps
    agent = ("DiscountedLinUCB", {"alpha": alpha, "discount": DISCOUNT})
    rows = (
        ("LinUCB", (Published, {}), 4163.9, 30.3),
        ("D-LinUCB, code", (Published, {"discount": DISCOUNT, "slip": True}), 981.7, 7.0),
        ("D-LinUCB, paper", (Published, {"discount": DISCOUNT}), 1042.0, 7.8),
        ("D-LinUCB, agent", agent, 1042.0, 7.8),
        ("SW-LinUCB", (Published, {"window": WINDOW}), 749.5, 7.2),
        ("LinUCB, restarted", (Published, {"restart": True}), 153.8, 3.6),
    )
    for label, agent, published, error in rows:
        compiled = isinstance(agent[0], str)
        yield Anchor(
            f"abrupt changes, {label}",
            RUSSAC,
            "50 arms of $d=2$ anew at every step, theta replaced at three steps, T=6,000",
            label,
            published,
            1,
            regret_over_draws(agent, abrupt, T, 20, 5 if compiled else 1, truth=TRUTH),
            error=error,
        )


CHANGING = [*russac()]
