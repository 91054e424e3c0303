"""Loading of a fastes file of any kind."""

import os

from fastes.agents.live import LiveAgent
from fastes.files.kinds import FileFormatError, is_database, kind_of
from fastes.logs.replay import Replay
from fastes.problem.bandit import Bandit
from fastes.results.comparison import Comparison
from fastes.results.files import load_results
from fastes.results.result import Result
from fastes.studies.sweep import Sweep


def load(
    path: str | os.PathLike[str],
) -> Result | Comparison | Sweep | Bandit | LiveAgent | Replay:
    """Read a result, a comparison, a study, a problem, an agent or a replay.

    Returns the saved object, or the `Sweep` of a study. For a checkpoint use `resume`.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fastes.simulate(bandit, fastes.Greedy(), T=100).save(f"{folder}/greedy.npz")
    ...     fastes.load(f"{folder}/greedy.npz")
    Result(Greedy: regret 31.93 at T=100, 1 run)
    """
    if is_database(path):
        return Sweep.read(path)
    kind = kind_of(path)
    if kind == "problem":
        return Bandit.load(path)
    if kind == "agent":
        return LiveAgent.load(path)
    if kind == "replay":
        return Replay.load(path)
    if kind == "checkpoint":
        raise FileFormatError(f"{os.fspath(path)} is a checkpoint: continue it with resume")
    return load_results(path)
