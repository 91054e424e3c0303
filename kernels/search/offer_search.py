"""The search in a new set of arms: a scan in double precision.

Arms that are scored once are not worth storing in single precision.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..arithmetic.tile_product import TILE
from ..states.layout import allocated, full, zeros
from .scan import break_tie, choose, rescore


class OfferSearch(NamedTuple):
    """What a scan of arms on offer writes to."""

    scores: np.ndarray  # (3, TILE)
    tile_maxima: np.ndarray  # (tiles,) float32: not screened, all -inf


@allocated
def offer_search(arms: Arms) -> OfferSearch:
    """Return the workspace of a scan of as many arms on offer."""
    return OfferSearch(zeros((3, TILE)), full(len(arms.tiles), -np.inf, np.float32))


@choose.body(OfferSearch)
def _choose(work, agent, arms, source, t):
    best, ties, arm = rescore(agent, arms, np.nan, work)
    return break_tie(agent, arms, source, t, best, ties, arm, work)
