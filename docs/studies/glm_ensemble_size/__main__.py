"""Run the study: ``cd docs/studies; python -m glm_ensemble_size FOLDER``.

It simulates what the folder does not hold yet, and may be stopped and started again. Then it
writes the regret of every ensemble beside that of an ensemble so large that every model is new,
and the smallest ensemble that suffices: data/regret.csv and data/smallest.csv.
``python -m glm_ensemble_size.draw`` makes the figure and the tables of the page from them.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import log, sqrt
from pathlib import Path

import numpy as np
from ensemble_size.collect import at_horizons, write
from ensemble_size.smallest import with_interval

import fastes

DATA = Path(__file__).with_name("data")
K, HUGE = 100, 10**6
SIZES = (2, 4, 8, 16, 32, 64, 128)
HORIZONS = (1000, 3000, 10_000)
RATES = (0.5, 0.1, 0.01)
DIMENSIONS = (4, 16)
REWARDS = ("clicks", "linear")
FACTS = ("rewards", "d", "rate", "T")
REGRET = (*FACTS, "M", "runs", "regret", "se", "ratio", "ratio_se")
SMALLEST = (*FACTS, "M", "low", "high", "largest")


@dataclass(frozen=True)
class Problem:
    """A hundred arms, and what they pay: clicks, or as much information with normal noise."""

    rewards: str
    d: int
    rate: float

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.rewards}-d{self.d}-rate{self.rate:g}"

    def bandit(self) -> fastes.LogisticBandit | fastes.LinearBandit:
        """Return the problem.

        An arm is a point of the unit sphere of R^d and a one, the coefficient of an intercept
        that is known: a value of 0 pays with the probability `rate`. Theta is N(0, I). The linear
        bandit has the noise with which a reward tells as much of a value near 0 as a click does.
        """
        points = np.random.default_rng(self.d).normal(size=(K, self.d))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        if self.rewards == "linear":
            noise = 1 / sqrt(self.rate * (1 - self.rate))
            return fastes.LinearBandit(points, noise=noise)
        arms = np.column_stack([points, np.ones(K)])
        mean, variance = np.zeros(self.d + 1), np.ones(self.d + 1)
        mean[-1], variance[-1] = log(self.rate / (1 - self.rate)), 0.0
        return fastes.LogisticBandit(arms, mean, variance)

    def study(self, sizes: tuple[int, ...], T: int, runs: int) -> fastes.Study:
        """Return what is to be simulated."""
        agents = {"agent": ["es", "ts"], "M": [*sizes, HUGE]}
        return fastes.Study(**agents, problem=self.bandit(), T=T, runs=runs, points=100)


def problems() -> list[Problem]:
    """Return all problems."""
    return [Problem(*facts) for facts in product(REWARDS, DIMENSIONS, RATES)]


def regrets(path: Path, horizons: tuple[int, ...]) -> dict[int | str, np.ndarray]:
    """Return the regret of a sweep at the horizons, (runs, horizons), by M or "TS"."""
    found = fastes.load(path).results()
    return {setting.axes["M"] or "TS": at_horizons(result, horizons) for setting, result in found}


def ratio(regret: np.ndarray, to: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two mean regrets of the same runs, and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from glm_ensemble_size.__main__ import ratio
    >>> ratio(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    (2.0, 0.0)
    """
    quotient = regret.mean() / to.mean()
    error = np.std(regret - quotient * to, ddof=1) / np.sqrt(len(to)) / to.mean()
    return float(quotient), float(error)


def regret_rows(problem: Problem, found: dict, horizons: tuple[int, ...]) -> Iterator[list]:
    """Yield a row for each agent and horizon."""
    for (M, regret), (i, T) in product(found.items(), enumerate(horizons)):
        its, runs = regret[:, i], len(regret)
        numbers = its.mean(), its.std(ddof=1) / np.sqrt(runs), *ratio(its, found[HUGE][:, i])
        facts = [problem.rewards, problem.d, problem.rate, T, M, runs]
        yield [*facts, *(f"{x:.5g}" for x in numbers)]


def smallest_rows(problem: Problem, found: dict, horizons: tuple[int, ...]) -> Iterator[list]:
    """Yield the smallest M with a mean regret of at most 1.1 times that of the huge ensemble."""
    sizes = [M for M in found if M not in ("TS", HUGE)]
    for i, T in enumerate(horizons):
        ours = np.array([found[M][:, i] for M in sizes])
        huge = np.broadcast_to(found[HUGE][:, i], ours.shape)
        at = with_interval(sizes, ours, huge, T, K, "relative")
        facts = [problem.rewards, problem.d, problem.rate, T]
        yield [*facts, *(f"{M:.3g}" for M in at), sizes[-1]]


def main(
    words: list[str] | None = None,
    chosen: list[Problem] | None = None,
    sizes: tuple[int, ...] = SIZES,
    horizons: tuple[int, ...] = HORIZONS,
) -> None:
    """Simulate and collect."""
    parser = argparse.ArgumentParser(prog="python -m glm_ensemble_size", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="where the sweeps are kept")
    parser.add_argument("--runs", type=int, default=200, help="runs of each agent and problem")
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are written")
    parser.add_argument("--threads", type=int, help="tasks at once; all processors by default")
    options = parser.parse_args(words)
    options.folder.mkdir(parents=True, exist_ok=True)
    tables: tuple[list, list] = [], []
    for problem in chosen or problems():
        path = options.folder / f"{problem.name}.db"
        study = problem.study(sizes, max(horizons), options.runs)
        failed = fastes.sweep(study, path, threads=options.threads).failures()
        print(f"{path.name}: {len(failed)} tasks failed" if failed else path.name, flush=True)
        found = regrets(path, horizons)
        for rows, make in zip(tables, (regret_rows, smallest_rows), strict=True):
            rows.extend(make(problem, found, horizons))
    options.data.mkdir(parents=True, exist_ok=True)
    write(options.data / "regret.csv", REGRET, tables[0])
    write(options.data / "smallest.csv", SMALLEST, tables[1])


if __name__ == "__main__":
    main()
