"""Uniform play: any arm, whatever was seen. To it all arms tie."""

from typing import NamedTuple

from ..search.scan import choose
from ..streams.draws import integer
from ..streams.layout import TIES


class Uniform(NamedTuple):
    """What uniform play needs in order to choose: a workspace without a scan."""

    K: int


@choose.body(Uniform)
def _choose(work, agent, arms, source, t):
    return integer(source, TIES, t, work.K)
