"""Open a saved result, comparison or study."""

import os

from fastes.files.archive import is_database
from fastes.results.comparison import Comparison
from fastes.results.files import load_results
from fastes.results.result import Result
from fastes.studies.sweep import Sweep


def load(path: str | os.PathLike[str]) -> Result | Comparison | Sweep:
    """Read what `Result.save`, `Comparison.save` or `sweep` wrote.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fastes.simulate(bandit, fastes.Greedy(), T=100).save(f"{folder}/greedy.npz")
    ...     fastes.load(f"{folder}/greedy.npz").label
    'Greedy'
    """
    return Sweep.read(path) if is_database(path) else load_results(path)
