"""Information-directed sampling: play what costs little regret for what it tells of the best arm.

How the arm is found, from many models drawn at every step, is in search/information_ratio.py.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.tile_product import MODELS, TILE
from ..beliefs.interface import Belief, mean_of
from ..states.layout import allocated, full, zeros


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

    belief: Belief
    samples: int  # models a step
    scratch: Scratch


@allocated
def information_directed(belief: Belief, samples: int) -> InformationDirected:
    """Return the state before the first step, from the layout of its belief."""
    r, blocks = len(mean_of(belief)), -(-samples // TILE)
    scratch = Scratch(
        models=full((blocks, r + 1, TILE), 1.0),
        best=zeros((blocks, TILE)),
        arm=zeros((blocks, TILE), np.int64),
        rows=zeros((TILE, r + 1)),
        scores=zeros((MODELS, TILE)),
        zeros=zeros(TILE),
        winner=zeros(samples, np.int64),
        wins=zeros(samples, np.int64),
        total=zeros((samples, r)),
        normals=zeros(r),
        mean=zeros(r),
        apart=zeros(r),
        row=zeros(r),
        spread=zeros((r, r)),
    )
    return InformationDirected(belief, samples, scratch)
