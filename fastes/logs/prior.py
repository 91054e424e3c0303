"""Empirical Bayes: a prior and the noise, estimated from logged plays."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.checks.numbers import counted, shown
from fastes.logs.log import Log
from fastes.logs.marginal import Moments, likelihood

FORMS = ("isotropic", "diagonal", "full")

_ROWS = 16_384  # at a time, to bound memory
_STARTS = (0.07, 0.7, 7.0)  # prior standard deviations to start from, for scaled rows and rewards
_LEAST_NOISE = 1e-5  # relative to the root mean square of rewards: below, rounding decides


@dataclass(frozen=True, eq=False, repr=False)
class Prior:
    """A prior of theta and the noise, estimated by `fit_prior`.

    A mapping of the arguments of `LinearBandit`: ``LinearBandit(log.actions, **prior)``.

    Attributes
    ----------
    prior_mean : (d,) array
        mu_0.
    prior_cov : float, (d,) or (d, d) array
        Sigma_0.
    noise : float
        sigma.
    log_evidence : float
        Log of the marginal likelihood of the rewards.
    determined : float
        How many of the groups' coordinates of theta the data determine, at most groups * d:
        the standard error of a prior variance is about sqrt(2 / determined) of it or more.
    rows, groups : int
        What it was estimated from.

    Examples
    --------
    >>> import fastes
    >>> prior = fastes.fit_prior(fastes.Log(2, [0, 1, 0, 1, 0], [1.0, 2.1, 1.2, 1.8, 0.9]))
    >>> prior
    Prior(d=2, isotropic, prior sd 1.56 +- 50% or more, noise 0.175, from 5 rows, 1 theta)
    >>> [*prior]
    ['prior_mean', 'prior_cov', 'noise']
    """

    prior_mean: Floats
    prior_cov: float | Floats
    noise: float
    log_evidence: float
    determined: float
    rows: int
    groups: int

    def keys(self) -> tuple[str, ...]:
        """Return the names of the arguments."""
        return "prior_mean", "prior_cov", "noise"

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __repr__(self) -> str:
        form = FORMS[np.ndim(self.prior_cov)]
        variance = float(np.mean(np.diag(self.prior_cov) if form == "full" else self.prior_cov))
        spread = math.sqrt(variance)
        least = math.sqrt(0.5 / self.determined) if self.determined > 0.0 else math.inf
        error = f" +- {100 * least:.0f}% or more" if least < 1.0 else ", not determined"
        of = f"{counted(self.rows, 'row')}, {counted(self.groups, 'theta')}"
        return (
            f"Prior(d={len(self.prior_mean)}, {form}, prior sd {spread:.3g}{error}, "
            f"noise {self.noise:.3g}, from {of})"
        )


def fit_prior(log: Log, form: str = "isotropic") -> Prior:
    r"""Estimate the prior and the noise of a `LinearBandit` from a log, by empirical Bayes.

    The arguments that maximise the marginal likelihood of the rewards, theta integrated out: in
    each group g of the log, :math:`y = X \theta_g + \epsilon` with
    :math:`\theta_g \sim N(\mu_0, \Sigma_0)` and :math:`\epsilon \sim N(0, \sigma^2)`, so that
    :math:`y \sim N(X \mu_0, \sigma^2 I + X \Sigma_0 X')`. One pass over the rows, O(n d^2), then
    some dozens of evaluations of O(groups d^3).

    What a log cannot say: without a group column there is *one* theta, and one draw says little
    about the law it is drawn from. Then the prior mean is 0 and the covariance isotropic, and the
    relative error of its standard deviation is at least sqrt(0.5 / d). Which arms were played may
    depend on earlier rewards in any way; but features that the log never varies are not
    determined, and an estimate from a log should not be judged by a replay of the same rows.

    Rewards of 0 and 1, or counts, are fitted as if they were Gaussian: for `LogisticBandit` and
    `PoissonBandit` the marginal likelihood has no closed form, and no prior is offered.

    Parameters
    ----------
    log : Log
        The plays. Each label of its `group` has a theta of its own.
    form : {"isotropic", "diagonal", "full"}
        Form of the prior covariance; the last two need at least 2 and at least d + 1 groups.

    Returns
    -------
    Prior

    Examples
    --------
    >>> import fastes, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> arms, users = rng.normal(size=(50, 4)), rng.integers(200, size=20_000)
    >>> thetas = 1.0 + 0.5 * rng.normal(size=(200, 4))
    >>> arm = rng.integers(50, size=20_000)
    >>> reward = (arms[arm] * thetas[users]).sum(axis=1) + 0.3 * rng.normal(size=20_000)
    >>> prior = fastes.fit_prior(fastes.Log(arms, arm, reward, group=users))
    >>> prior
    Prior(d=4, isotropic, prior sd 0.513 +- 3% or more, noise 0.303, from 20,000 rows, 200 thetas)
    >>> bandit = fastes.LinearBandit(arms, **prior)
    >>> round(bandit.noise, 2), bandit.prior_mean.round(1).tolist()
    (0.3, [1.0, 1.0, 1.0, 1.0])
    """
    if not isinstance(log, Log):
        raise TypeError(f"log must be a Log, such as Log.from_csv returns, got {shown(log)}")
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {shown(form)}")
    d, needed = log.d, {"isotropic": 1, "diagonal": 2, "full": log.d + 1}[form]
    if log.groups < needed:
        raise ValueError(
            f"form {form!r} needs a log with at least {needed} groups, got {log.groups}: one theta "
            "says little about the law it is drawn from"
        )
    if len(log) < 2:
        raise ValueError("fit_prior needs at least 2 rows, got 1")
    require(f"a prior of {d:,} dimensions and {log.groups:,} groups", 8 * 8 * log.groups * d * d)
    moments, size, unit = _scaled(_moments(log))
    found = max((_maximum(moments, form, s) for s in _STARTS), key=lambda fit: fit.value)
    return found.prior(log, form, size, unit)


def _moments(log: Log) -> Moments:
    """Return the sums over the rows of each group."""
    G, d, n = log.groups, log.d, len(log)
    found = Moments(np.zeros((G, d, d)), np.zeros((G, d)), np.zeros(G), n)
    groups = np.zeros(n, np.int64) if log.group is None else log.group
    order = np.argsort(groups, kind="stable")
    for first in range(0, n, _ROWS):
        rows = log.offers.played(log.places, order[first : first + _ROWS])
        if not np.isfinite(rows).all():
            raise ValueError("actions must be finite, but an arm that was played is not")
        its, y = groups[order[first : first + _ROWS]], log.reward[order[first : first + _ROWS]]
        starts = np.flatnonzero(np.diff(its, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(its)], strict=True):
            X, g = rows[start:stop], its[start]
            found.XX[g] += X.T @ X
            found.Xy[g] += X.T @ y[start:stop]
            found.yy[g] += y[start:stop] @ y[start:stop]
    return found


def _scaled(moments: Moments) -> tuple[Moments, float, float]:
    """Return the moments of rows and rewards of mean square 1, and what both were divided by."""
    size = math.sqrt(np.trace(moments.XX, axis1=1, axis2=2).sum() / moments.n)
    unit = math.sqrt(moments.yy.sum() / moments.n)
    if not (0.0 < size < math.inf and 0.0 < unit < math.inf):
        raise ValueError("fit_prior needs arms and rewards that are not all zero")
    XX, Xy, yy = moments.XX / size**2, moments.Xy / (size * unit), moments.yy / unit**2
    return Moments(XX, Xy, yy, moments.n), size, unit


@dataclass(frozen=True, eq=False)
class _Fit:
    """The maximum of the likelihood that was found from one start, in scaled coordinates."""

    mean: Floats
    root: Floats
    v: float
    value: float
    determined: float

    def prior(self, log: Log, form: str, size: float, unit: float) -> Prior:
        """Return the prior in the coordinates and units of the log."""
        cov = self.root @ self.root.T * (unit / size) ** 2
        shown: Any = {"isotropic": float(cov[0, 0]), "diagonal": np.diag(cov), "full": cov}[form]
        return Prior(
            prior_mean=arrays.frozen(self.mean * (unit / size)),
            prior_cov=shown,
            noise=math.sqrt(self.v) * unit,
            log_evidence=self.value - len(log) * math.log(unit),
            determined=self.determined,
            rows=len(log),
            groups=log.groups,
        )


def _maximum(moments: Moments, form: str, start: float) -> _Fit:
    """Maximise the likelihood by L-BFGS over the mean, the entries of L that vary, and log v."""
    from scipy.optimize import minimize

    G, d = moments.Xy.shape
    free = d if G > 1 else 0  # coordinates of the mean
    which, expand = _roots(form, d)

    def unpacked(x: Floats) -> tuple[Floats, Floats, float]:
        mean = np.concatenate([x[:free], np.zeros(d - free)])
        return mean, expand(x[free:-1]), math.exp(x[-1])

    def objective(x: Floats) -> tuple[float, Floats]:
        found = likelihood(moments, *unpacked(x))
        gradient = np.concatenate([found.mean[:free], which(found.root), [found.log_noise]])
        return -found.value / moments.n, -gradient / moments.n

    first = [start] if form == "isotropic" else which(start * np.eye(d))
    begun = np.concatenate([np.zeros(free), first, [math.log(0.5)]])
    least = 2.0 * math.log(_LEAST_NOISE)
    limits = [(None, None)] * (len(begun) - 1) + [(least, math.log(4.0))]
    options = {"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-9}
    x = minimize(objective, begun, jac=True, method="L-BFGS-B", bounds=limits, options=options).x
    if x[-1] <= least + 1e-6:
        raise ValueError("the noise cannot be estimated: the arms explain all rewards exactly")
    mean, root, v = unpacked(x)
    found = likelihood(moments, mean, root, v)
    return _Fit(mean, root, v, found.value, found.determined)


def _roots(form: str, d: int) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """Return the map from the gradient by L to that by its parameters, and from these to L."""
    if form == "isotropic":
        return lambda by_root: np.array([np.trace(by_root)]), lambda x: x[0] * np.eye(d)
    if form == "diagonal":
        return lambda by_root: np.diag(by_root).copy(), np.diag
    places = np.tril_indices(d)

    def expand(x: Floats) -> Floats:
        root = np.zeros((d, d))
        root[places] = x
        return root

    return lambda by_root: by_root[places], expand
