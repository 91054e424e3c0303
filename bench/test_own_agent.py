"""What the loop adds to a step of a custom agent, against calling the agent and nothing else."""

import fastes
from bench.measure import Target

STEPS = 20_000


class Idle:
    """Plays one arm and learns nothing."""

    def start(self, bandit, seed):
        return self

    def act(self):
        return 0

    def observe(self, arm, reward):
        pass


def test_a_step_against_its_own_code(compare):
    bandit, agent = fastes.LinearBandit.random(100, 10), Idle()

    def own_code():
        for _ in range(STEPS):
            agent.observe(agent.act(), 0.0)

    compare(
        lambda: fastes.simulate(bandit, agent, T=STEPS),
        own_code,
        target=Target(most_extra_seconds=5e-6),
        work=STEPS,
        baseline_work=STEPS,
    )
