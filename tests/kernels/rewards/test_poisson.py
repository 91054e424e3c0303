"""Rewards that are counts: their means, their law, and one uniform number for all agents."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.rewards import interface
from fastes.kernels.rewards.poisson import poisson_rewards
from fastes.kernels.streams.layout import NOISE
from fastes.kernels.streams.philox import source
from scipy import stats

variate, reward_of = from_python(interface.variate), from_python(interface.reward_of)
N = 20_000


def test_means_are_exponential_and_never_overflow():
    law = poisson_rewards()
    values = np.array([-690.0, -1.0, 0.0, 3.0, 700.0])
    np.testing.assert_allclose(interface.mean_of_value(law, values), np.exp(values), rtol=1e-14)
    assert interface.mean_of_value(law, np.array([1e9]))[0] < np.inf


@pytest.mark.parametrize("mean", [0.02, 2.0, 50.0, 400.0])
def test_rewards_have_the_law_of_poisson(mean):
    # The uniform number just below a count's own is exceeded as often as it should be: a binomial
    # test at each quartile of 20,000 rewards, level 1e-5.
    law, origin = poisson_rewards(), source(5, 1)
    rewards = np.array([reward_of(law, mean, variate(law, origin, t)) for t in range(N)])
    for k in stats.poisson.ppf([0.25, 0.5, 0.75, 0.99], mean):
        below, share = int((rewards <= k).sum()), stats.poisson.cdf(k, mean)
        assert stats.binomtest(below, N, share).pvalue > 1e-5


def test_the_random_number_of_a_step_is_the_reference_s():
    law, origin = poisson_rewards(), source(3, 2)
    for t in (0, 1, 15, 16, 1000):
        assert variate(law, origin, t) == reference.open_uniform(3, 2, int(NOISE), t)
