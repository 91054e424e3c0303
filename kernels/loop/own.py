"""Mean rewards of arms, for agents in Python."""

from ..actions.offer import offer, take_vector
from ..jit.decorators import entry
from .environment import arm_number, best_reward, mean_reward, move_theta


@entry
def offered_means(actions, environment, source, first, means, best, numbers):
    """Write the mean rewards of the arms on offer at steps first, first + 1, ..., one row each.

    Their mean rewards and the numbers they are recorded by, (steps, K), and the best of the means.
    """
    for i in range(means.shape[0]):
        offer(actions, source, first + i)
        move_theta(environment, source, first + i)
        for arm in range(means.shape[1]):
            means[i, arm] = mean_reward(environment, arm)
            numbers[i, arm] = arm_number(environment, arm)
        best[i] = best_reward(environment)


@entry
def vector_means(actions, environment, source, t, a):
    """Return the mean reward of a vector at step t, in the set's unit, and the largest there is."""
    played = take_vector(actions, a)
    move_theta(environment, source, t)
    return mean_reward(environment, played), best_reward(environment)
