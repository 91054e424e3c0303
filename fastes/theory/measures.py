"""Information measures of discrete distributions (section 4 of the paper), in nats.

Distributions run along the last axis, joint distributions along the last two or three, and all
else is vectorised: leading axes broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr

from fastes.checks import arrays
from fastes.checks.arrays import Floats

_TOLERANCE = 1e-9  # how far from 1 a sum of probabilities may be


def kl(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return KL(p || q) = sum p log(p / q), infinite where p is positive and q is not.

    Parameters
    ----------
    p, q : (..., n) array_like
        Distributions.

    Examples
    --------
    >>> from fastes.theory.measures import kl
    >>> float(kl([0.5, 0.5], [0.25, 0.75]).round(6))
    0.143841
    >>> float(kl([0.5, 0.5], [1.0, 0.0]))
    inf
    """
    p, q = _pair(p, q)
    # Of what rounding leaves below zero.
    return np.maximum(np.asarray(rel_entr(p, q).sum(axis=-1)), 0.0)


def hellinger(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the Hellinger distance sqrt(sum (sqrt p - sqrt q)^2), from 0 to sqrt(2).

    As the paper defines it, without a factor 1/2: its square is at most both KL divergences.

    Parameters
    ----------
    p, q : (..., n) array_like
        Distributions.

    Examples
    --------
    >>> from fastes.theory.measures import hellinger
    >>> float(hellinger([0.5, 0.5], [0.25, 0.75]).round(6))
    0.261052
    >>> float((hellinger([1.0, 0.0], [0.0, 1.0]) ** 2).round(6))
    2.0
    """
    p, q = _pair(p, q)
    return np.asarray(np.linalg.norm(np.sqrt(p) - np.sqrt(q), axis=-1))


def entropy(p: ArrayLike) -> Floats:
    """Return the Shannon entropy H = - sum p log p, with 0 log 0 = 0.

    Parameters
    ----------
    p : (..., n) array_like
        Distributions.

    Examples
    --------
    >>> from fastes.theory.measures import entropy
    >>> float(entropy([0.25] * 4).round(6))  # log 4
    1.386294
    """
    return np.maximum(np.asarray(entr(_distribution("p", p, 1)).sum(axis=-1)), 0.0)


def conditional_entropy(joint: ArrayLike) -> Floats:
    """Return H(X | Y) = H(X, Y) - H(Y) from P(X = x, Y = y).

    Parameters
    ----------
    joint : (..., x, y) array_like
        Joint distributions.

    Examples
    --------
    >>> from fastes.theory.measures import conditional_entropy
    >>> float(conditional_entropy([[0.5, 0.0], [0.0, 0.5]]))
    0.0
    """
    xy = _distribution("joint", joint, 2)
    both = entr(xy).sum(axis=(-2, -1))
    return np.maximum(np.asarray(both - entr(xy.sum(axis=-2)).sum(axis=-1)), 0.0)


def mutual_information(joint: ArrayLike) -> Floats:
    """Return I(X; Y) = KL(P(X, Y) || P(X) P(Y)) from P(X = x, Y = y).

    Parameters
    ----------
    joint : (..., x, y) array_like
        Joint distributions.

    Examples
    --------
    >>> from fastes.theory.measures import mutual_information
    >>> float(mutual_information([[0.5, 0.0], [0.0, 0.5]]).round(6))  # log 2
    0.693147
    """
    xy = _distribution("joint", joint, 2)
    apart = xy.sum(axis=-1, keepdims=True) * xy.sum(axis=-2, keepdims=True)
    return np.maximum(np.asarray(rel_entr(xy, apart).sum(axis=(-2, -1))), 0.0)


def conditional_mutual_information(joint: ArrayLike) -> Floats:
    """Return I(X; Y | Z) = H(X | Z) - H(X | Y, Z) from P(X = x, Y = y, Z = z).

    Parameters
    ----------
    joint : (..., x, y, z) array_like
        Joint distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from fastes.theory.measures import conditional_mutual_information
    >>> x_is_y = np.stack([[[0.25, 0.0], [0.0, 0.25]]] * 2, axis=-1)
    >>> float(conditional_mutual_information(x_is_y).round(6))  # log 2
    0.693147
    """
    xyz = _distribution("joint", joint, 3)
    z = xyz.sum(axis=(-3, -2), keepdims=True)
    # P(z) KL(P(x, y | z) || P(x | z) P(y | z)), with P(z) brought inside.
    apart = xyz.sum(axis=-2, keepdims=True) * xyz.sum(axis=-3, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(z > 0, apart / z, 0.0)
    return np.maximum(np.asarray(rel_entr(xyz, apart).sum(axis=(-3, -2, -1))), 0.0)


def _distribution(name: str, value: ArrayLike, axes: int) -> Floats:
    """Return probabilities along the last axes, or raise unless they are."""
    numbers = arrays.array(name, value)
    if numbers.ndim < axes or 0 in numbers.shape[numbers.ndim - axes :]:
        raise ValueError(
            f"{name} must hold probabilities along its last {axes} "
            f"{'axes' if axes > 1 else 'axis'}, got shape {numbers.shape}"
        )
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"{name} must be at least 0, got {numbers.min():g}")
    totals = numbers.sum(axis=tuple(range(-axes, 0)))
    off = np.abs(totals - 1.0)
    if off.size and off.max() > _TOLERANCE:
        worst = totals.flat[off.argmax()]
        raise ValueError(f"{name} must sum to 1, got a sum of {worst:.12g}")
    return numbers


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    first, second = _distribution("p", p, 1), _distribution("q", q, 1)
    try:
        shape = np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        shape = ()
    if first.shape[-1] != second.shape[-1] or not shape:
        raise ValueError(f"p and q must have shapes that fit, got {first.shape} and {second.shape}")
    return first, second
