"""Bandits of every kind that tests go over: small, large, and hostile."""

import numpy as np

import fastes

_rng = np.random.default_rng(20221128)


def _covariance(d, rank, decades=0.0):
    directions = np.linalg.qr(_rng.normal(size=(d, d)))[0][:, :rank]
    return (directions * 10.0 ** np.linspace(0, -decades, rank)) @ directions.T


def _arms(K, d):
    return _rng.normal(size=(K, d)) / np.sqrt(d)


def _duplicates():
    rows = _arms(7, 4)
    return np.vstack([rows, rows[::-1], rows[:3]])


BANDITS = {
    "smallest": fastes.LinearBandit([[1.0]]),
    "one arm": fastes.LinearBandit(_arms(1, 3), prior_mean=0.5),
    "one dimension": fastes.LinearBandit(_arms(9, 1), prior_cov=2.0, noise=0.5),
    "isotropic": fastes.LinearBandit(_arms(30, 5), prior_cov=10.0),
    "diagonal": fastes.LinearBandit(
        _arms(20, 4), prior_mean=_arms(1, 4)[0], prior_cov=[1, 2, 3, 4]
    ),
    "diagonal with zeros": fastes.LinearBandit(_arms(20, 4), 0.3, [1.0, 0.0, 3.0, 0.0], 0.7),
    "full": fastes.LinearBandit(_arms(70, 6), _arms(1, 6)[0], _covariance(6, 6, 1.0), 0.8),
    "singular": fastes.LinearBandit(_arms(40, 6), _arms(1, 6)[0], _covariance(6, 3), 0.8),
    "ill-conditioned": fastes.LinearBandit(_arms(40, 5), -0.2, _covariance(5, 5, 10.0), 0.6),
    "fewer arms than dimensions": fastes.LinearBandit(_arms(5, 12), _arms(1, 12)[0], 2.0),
    "fewer arms, full": fastes.LinearBandit(_arms(5, 12), 0.1, _covariance(12, 9, 1.0)),
    "gaussian process": fastes.LinearBandit.gaussian_process(
        np.exp(-((np.arange(12)[:, None] - np.arange(12)) ** 2) / 8.0), mean=0.1, noise=0.5
    ),
    "duplicate arms": fastes.LinearBandit(_duplicates(), prior_cov=_covariance(4, 4)),
    "zero arm": fastes.LinearBandit(np.vstack([np.zeros(3), _arms(6, 3)])),
    "only zero arms": fastes.LinearBandit(np.zeros((3, 2)), noise=2.0),
    "known theta": fastes.LinearBandit(_arms(6, 3), prior_mean=1.0, prior_cov=0.0),
    "huge scale": fastes.LinearBandit(1e120 * _arms(15, 3), prior_cov=1.0, noise=1e120),
    "tiny scale": fastes.LinearBandit(1e-120 * _arms(15, 3), prior_cov=1.0, noise=1e-120),
    "hardly any noise": fastes.LinearBandit(_arms(15, 3), noise=1e-3),
    "more than a tile": fastes.LinearBandit(_arms(150, 9), prior_cov=4.0),
    "fewer arms, little noise": fastes.LinearBandit(_arms(4, 7), 0.2, [1, 2, 3, 1, 2, 3, 1], 0.3),
}
