"""Information-directed sampling: play what costs little regret for what it tells of the best arm.

How the arm is found, from many models drawn at every step, is in search/information_ratio.py.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.tile_product import MODELS, TILE
from ..posterior.state import Posterior, prior, prior_bytes
from ..posterior.update import update_root
from .interface import learn


class Scratch(NamedTuple):
    """What a step writes to. Models are kept TILE at a time, one a column of a block."""

    models: np.ndarray  # (blocks, r + 1, TILE): ones, then the normals n of mu + X'n
    best: np.ndarray  # (blocks, TILE): the best score of each model
    arm: np.ndarray  # (blocks, TILE) int64: the first arm that has it
    rows: np.ndarray  # (TILE, r + 1): arms of a tile, o + b'mu and then X b
    scores: np.ndarray  # (MODELS, TILE)
    zeros: np.ndarray  # (TILE,)
    winner: np.ndarray  # (samples,) int64: the arms that are best of some model
    wins: np.ndarray  # (samples,) int64: of how many
    total: np.ndarray  # (samples, r): the sum of their normals
    normals: np.ndarray  # (r,): the mean of all normals
    mean: np.ndarray  # (r,): m, the mean of all models
    apart: np.ndarray  # (r,): how far that of a best arm's is from it
    row: np.ndarray  # (r,)
    spread: np.ndarray  # (r, r): L, of which the part above the diagonal is not set


class InformationDirected(NamedTuple):
    """State of information-directed sampling."""

    posterior: Posterior
    samples: int  # models a step
    scratch: Scratch


def information_directed(r: int, samples: int) -> InformationDirected:
    """Return the state before the first step."""
    blocks = -(-samples // TILE)
    scratch = Scratch(
        models=np.ones((blocks, r + 1, TILE)),
        best=np.zeros((blocks, TILE)),
        arm=np.zeros((blocks, TILE), np.int64),
        rows=np.zeros((TILE, r + 1)),
        scores=np.zeros((MODELS, TILE)),
        zeros=np.zeros(TILE),
        winner=np.zeros(samples, np.int64),
        wins=np.zeros(samples, np.int64),
        total=np.zeros((samples, r)),
        normals=np.zeros(r),
        mean=np.zeros(r),
        apart=np.zeros(r),
        row=np.zeros(r),
        spread=np.zeros((r, r)),
    )
    return InformationDirected(prior(r, rooted=True), samples, scratch)


def information_directed_bytes(r: int, samples: int) -> int:
    """Return the memory that `information_directed` takes."""
    blocks = -(-samples // TILE)
    tiles = TILE * (blocks * (r + 3) + r + 1 + MODELS + 1)
    return prior_bytes(r, rooted=True) + 8 * (tiles + samples * (r + 2) + r * (r + 4))


@learn.body(InformationDirected)
def _learn(agent, row, key, reward, source, t):
    update_root(agent.posterior, row, key, reward)
