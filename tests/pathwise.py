"""An agent beside the slow truth, step by step, on the same random numbers.

The reference draws its own numbers from the seed, in pure Python, and follows the paper's
equations in user coordinates. All it is given is U, the change of coordinates.
"""

import numpy as np
import reference
from engine import as_reference, lift, start
from fastes.kernels.beliefs.interface import covariance_of
from fastes.kernels.streams import layout

TOLERANCE = 1e-8
SEED, RUN = 2022, 3


def normal_perturbation(t, m):
    """Return W of model m at step t."""
    return reference.normal(SEED, RUN, layout.PERTURBATION, m, t)


def compare(bandit, agent, T, scores_of, model_count=0, perturbation=normal_perturbation):
    """Play both, and compare every action, belief and regret. Return the run and the steps.

    `scores_of(problem, state, t, mean, covariance, models)` is the reference's view of the arms;
    `perturbation(t, m)` is W, in units of the noise.
    """
    problem, U, sigma = as_reference(bandit), lift(bandit), bandit.noise
    r = bandit.rank
    run = start(bandit, agent, T, SEED, RUN)
    arms, beliefs = [], []

    def arm_of(t, scores):
        """Let the engine play. Its arm must be the best, or tied with it to rounding."""
        posterior = run.state.belief
        beliefs.append((posterior.mu.copy(), covariance_of(posterior).copy()))
        arms.append(run.step(t))
        best = scores.max()
        assert scores[arms[-1]] >= best - TOLERANCE * max(1e-300, np.abs(scores).max())
        return arms[-1]

    steps = reference.play(
        problem,
        T,
        theta=problem.mean + U @ reference.normal_vector(SEED, RUN, layout.THETA, 0, r),
        noise=lambda t: sigma * reference.normal(SEED, RUN, layout.NOISE, 0, t),
        arm_of=arm_of,
        scores_of=lambda t, mean, covariance, models: scores_of(
            problem, run.state, t, mean, covariance, models
        ),
        models=[
            problem.mean + U @ reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, m, r)
            for m in range(model_count)
        ],
        perturbation=lambda t, m: sigma * perturbation(t, m),
    )
    beliefs.append((run.state.belief.mu, covariance_of(run.state.belief)))
    unit = np.sqrt(np.abs(problem.covariance).max()) or 1.0
    size = max(unit, np.abs(problem.mean).max())
    for (mu, S), step in zip(beliefs, steps, strict=True):
        assert np.abs(problem.mean + U @ mu - step.mean).max() <= TOLERANCE * size
        learned = U @ (S - np.eye(r)) @ U.T
        assert np.abs(problem.covariance + learned - step.covariance).max() <= TOLERANCE * unit**2
    theta = problem.mean + U @ reference.normal_vector(SEED, RUN, layout.THETA, 0, r)
    expected = reference.regret(problem, theta, arms)
    np.testing.assert_allclose(
        sigma * run.record.regret, expected, rtol=1e-10, atol=1e-9 * max(1e-300, expected[-1])
    )
    return run, steps
