"""Many runs at once in NumPy and BLAS: the scores of all runs are one product in single precision.

What a run does by itself is done for all runs by one call where NumPy has one, and run by run in
place where a stacked operation would have to write a copy of every matrix.
"""

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats, Played, numpy_es
from bench.baselines.numpy_ts import shrinkage


def ensemble_sampling(
    actions: Floats, M: int, T: int, runs: int, seed: int, block: int = 32
) -> list[Played]:
    """Play T steps of each run: `numpy_es.in_blocks`, with scores in single precision."""
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    game = _Game(actions, T, runs, rng)
    xi = rng.standard_normal((runs, M, d))
    chosen = rng.integers(M, size=(T, runs))
    mean, covariance = np.zeros((runs, d)), np.tile(np.eye(d), (runs, 1, 1))
    perturbations, played = np.empty((runs, M, block)), np.zeros((runs, block, d))
    every = np.arange(runs)
    for t in range(T):
        since = t % block
        if since == 0:
            if t > 0:
                add_block(xi, perturbations, played)
            rng.standard_normal(out=perturbations)
        m = chosen[t]
        read = xi[every, m]
        read += _rows(played[:, :since].transpose(0, 2, 1), perturbations[every, m, :since])
        a, reward = game.play(t, mean + _rows(covariance, read))
        played[:, since] = a
        spread = _rows(covariance, a)
        scale = 1.0 / (1.0 + np.einsum("ij,ij->i", a, spread))
        gain = scale * (reward - np.einsum("ij,ij->i", a, mean))
        mean += gain[:, None] * spread
        for i in range(runs):
            dger(-scale[i], spread[i], spread[i], a=covariance[i].T, overwrite_a=True)
    if T > 0:
        last = (T - 1) % block + 1
        add_block(xi, perturbations[:, :, :last], played[:, :last])
    return game.played(mean, covariance, mean[:, None, :] + xi @ covariance)


def add_block(xi: Floats, perturbations: Floats, played: Floats) -> None:
    """xi += perturbations @ played for each run."""
    for i in range(len(xi)):
        numpy_es.add_block(xi[i], perturbations[i], played[i])


def thompson_sampling(actions: Floats, T: int, runs: int, seed: int) -> list[Played]:
    """Play T steps of each run: `numpy_ts.in_place`, with scores in single precision."""
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    game = _Game(actions, T, runs, rng)
    mean, root = np.zeros((runs, d)), np.tile(np.eye(d), (runs, 1, 1))
    for t in range(T):
        z = mean + _rows(root, rng.standard_normal((runs, d)))
        a, reward = game.play(t, z)
        w = _rows(root.transpose(0, 2, 1), a)
        spread = _rows(root, w)
        square = np.einsum("ij,ij->i", w, w)
        gain = (reward - np.einsum("ij,ij->i", a, mean)) / (1.0 + square)
        mean += gain[:, None] * spread
        for i in range(runs):
            dger(-shrinkage(square[i]), w[i], spread[i], a=root[i].T, overwrite_a=True)
    covariance = root @ root.transpose(0, 2, 1)
    another = mean + _rows(root, rng.standard_normal((runs, d)))
    return game.played(mean, covariance, another[:, None, :])


def _rows(matrices: Floats, vectors: Floats) -> Floats:
    """Return each matrix times the vector of its run."""
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]


class _Game:
    """The problems of all runs, with one set of arms, and what is played in them."""

    def __init__(self, actions: Floats, T: int, runs: int, rng: np.random.Generator) -> None:
        self._actions = actions
        self._actions32 = np.asfortranarray(actions, np.float32).T
        self._values = rng.standard_normal((runs, actions.shape[1])) @ actions.T
        self._noise = rng.standard_normal((T, runs))
        self._every = np.arange(runs)
        self._scores = np.empty((runs, len(actions)), np.float32)
        self._arms = np.empty((T, runs), np.int64)
        self._rewards = np.empty((T, runs))

    def play(self, t: int, z: Floats) -> tuple[Floats, Floats]:
        """Play the best arm of each run's model. Return the arms' rows, and the rewards."""
        np.matmul(z.astype(np.float32), self._actions32, out=self._scores)
        self._arms[t] = arms = self._scores.argmax(axis=1)
        self._rewards[t] = rewards = self._values[self._every, arms] + self._noise[t]
        return self._actions[arms], rewards

    def played(self, mean: Floats, covariance: Floats, models: Floats) -> list[Played]:
        """Return what came of each run."""
        lost = self._values.max(axis=1) - self._values[self._every, self._arms]
        return [
            Played(regret, arms, rewards, *rest)
            for regret, arms, rewards, *rest in zip(
                *(lost.sum(axis=0), self._arms.T, self._rewards.T, mean, covariance, models),
                strict=True,
            )
        ]
