"""Rewards of 0 or 1: their means, their rate, and one uniform number for all agents."""

import numpy as np
import reference
from engine import from_python
from fastes.kernels.rewards import interface
from fastes.kernels.rewards.bernoulli import bernoulli_rewards
from fastes.kernels.streams.layout import NOISE
from fastes.kernels.streams.philox import source
from scipy import stats

variate, reward_of = from_python(interface.variate), from_python(interface.reward_of)
mean_of_value = from_python(interface.mean_of_value)
N = 20_000


def test_means_are_those_of_the_logistic_model():
    values = np.array([-800.0, -40.0, -1.0, 0.0, 0.3, 40.0, 800.0])
    expected = reference.mean_and_variance("bernoulli", values)[0].astype(float)
    law = bernoulli_rewards()
    np.testing.assert_allclose(interface.mean_of_value(law, values), expected, rtol=1e-14)
    np.testing.assert_allclose([mean_of_value(law, x) for x in values], expected, rtol=1e-14)


def test_the_random_number_of_a_step_is_the_reference_s():
    law, origin = bernoulli_rewards(), source(3, 2)
    for t in (0, 1, 15, 16, 1000, 17):
        assert variate(law, origin, t) == reference.open_uniform(3, 2, int(NOISE), t)


def test_rewards_are_ones_at_the_rate_of_their_mean():
    # Binomial tests of 20,000 rewards each, level 1e-5.
    law, origin = bernoulli_rewards(), source(1)
    numbers = [variate(law, origin, t) for t in range(N)]
    for mean in (0.0, 0.01, 0.5, 0.93, 1.0):
        rewards = np.array([reward_of(law, mean, u) for u in numbers])
        assert set(rewards) <= {0.0, 1.0}
        assert stats.binomtest(int(rewards.sum()), N, mean).pvalue > 1e-5


def test_an_arm_of_a_larger_mean_pays_whenever_another_does():
    law = bernoulli_rewards()
    for u in (1e-9, 0.2, 0.5, 0.9999):
        rewards = [reward_of(law, mean, u) for mean in np.linspace(0, 1, 101)]
        assert (np.diff(rewards) >= 0).all()
