"""Small ensembles of the worst case, step by step beside the slow truth, and their laws."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from engine import lift, rows, start
from fastes.kernels.streams import layout
from played import RUN, SEED, compare
from scipy import stats

import fastes

FEW = [
    *("smallest", "one arm", "full", "diagonal with zeros", "singular", "duplicate arms"),
    *("only zero arms", "hardly any noise", "more than a tile"),
]


@pytest.fixture(params=FEW, ids=lambda name: name.replace(" ", "-"))
def bandit(request):
    return BANDITS[request.param]


def perturbations(M):
    """Return W of model m at step t: those of a step are drawn together."""
    return lambda t, m: reference.normal_vector(SEED, RUN, layout.PERTURBATION, t, M)[m]


def played_rows(bandit, run, t):
    """Return the arms of the first t steps in canonical form."""
    return (rows(bandit) / bandit.noise)[run.record.arms[:t]]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("width", ["constant", "confidence"])
@pytest.mark.parametrize(("M", "T"), [(1, 1), (3, 40)])
def test_a_model_is_read_at_the_confidence_radius(bandit, M, T, width, symmetric):
    given = {"radius": 0.7, "delta": 0.2} if width == "confidence" else {}

    def scores_of(run, rows, t, mean, covariance, models):
        beta = reference.confidence_radius(played_rows(bandit, run, t), **given) if given else 1.0
        choice = reference.integer(SEED, RUN, layout.MODEL_INDEX, t, 2 * M if symmetric else M)
        s = 1.0 if choice < M else -1.0
        return rows @ (mean + s * 1.3 * beta * (models[choice % M] - mean))

    agent = fastes.LinearEnsemble(M, 1.3, width, **given, symmetric=symmetric)
    compare(bandit, agent, T, scores_of, perturbations(M))


@pytest.mark.parametrize(("M", "T"), [(1, 1), (4, 40)])
def test_the_largest_score_of_any_model_counts(bandit, M, T):
    def scores_of(run, rows, t, mean, covariance, models):
        return np.max([rows @ (mean + 0.8 * (model - mean)) for model in models], axis=0)

    compare(bandit, fastes.LinearEnsemble(M, 0.8, choice="maximum"), T, scores_of, perturbations(M))


@pytest.mark.parametrize("growth", [1.0, 2.0, 1e9])
def test_models_are_drawn_anew_when_the_determinant_has_grown(bandit, growth):
    """Each is U'n and a normal for each arm played since P = U'U was last computed afresh."""
    M, T, U, r = 3, 30, lift(bandit), bandit.rank
    xi = [reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, m, r) for m in range(M)]
    before, drawn = [0.0], [0]

    def scores_of(run, rows, t, mean, covariance, models):
        b, belief = played_rows(bandit, run, t), run.state.belief
        now = np.linalg.slogdet(np.eye(r) + b.T @ b)[1]
        if t > 0 and now >= before[0] + np.log(growth) - 1e-12:
            before[0], n = now, belief.since_refactor[1]
            drawn[0] += 1
            recent = belief.recent[:n] * np.sqrt(belief.recent_plays[:n, None])
            for m in range(M):
                counter = drawn[0] * M + m
                normals = reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, counter, r + n)
                xi[m] = np.triu(belief.factor).T @ normals[:r] + recent.T @ normals[r:]
        m = reference.integer(SEED, RUN, layout.MODEL_INDEX, t, M)
        return rows @ (mean + U @ run.state.belief.S @ xi[m])

    compare(bandit, fastes.LinearEnsemble(M, refresh=growth), T, scores_of)
    assert growth > 1.0 or drawn[0] == T - 1


def test_the_determinant_is_that_of_the_precision():
    bandit, T = BANDITS["full"], 60
    run = start(bandit, fastes.LinearEnsemble(2), T)
    run.advance(0, T)
    sign, log_det = np.linalg.slogdet(np.linalg.inv(run.state.belief.S))
    assert sign == 1.0
    assert run.state.models.log_det[0] == pytest.approx(log_det, rel=1e-9)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Models that are drawn anew at every step are posterior draws.
        (fastes.LinearEnsemble(2, refresh=1.0), fastes.ThompsonSampling()),
        (
            fastes.LinearEnsemble(3, symmetric=True),
            fastes.EnsembleSampling(3, engine="eager", symmetric=True),
        ),
        (fastes.LinearEnsemble(1, choice="maximum"), fastes.EnsembleSampling(1, engine="eager")),
        (fastes.LinearEnsemble(5, 0.0, choice="maximum"), fastes.Greedy()),
    ],
    ids=str,
)
def test_two_ways_to_the_same_law(one, other):
    # Two-sample KS test of final regret, 3,000 runs each on different seeds; level 1e-4 each.
    bandit = fastes.LinearBandit.random(K=20, d=3, prior_cov=4.0)
    finals = [
        fastes.simulate(bandit, agent, T=60, runs=3_000, seed=seed).regret.final
        for seed, agent in ((1, one), (2, other))
    ]
    assert stats.ks_2samp(*finals).pvalue > 1e-4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"symmetric": True, "choice": "maximum"}, "symmetric must be False where choice is"),
        ({"radius": 2.0}, "radius must be left out where width is 'constant', got 2"),
        ({"delta": 0.1}, "delta must be left out where width is 'constant', got 0.1"),
        ({"width": "confidence", "delta": 0.0}, "delta must be above 0 and below 1, got 0"),
        ({"width": "confidence", "delta": 1}, "delta must be above 0 and below 1, got 1"),
        ({"refresh": 0.5}, "refresh must be 0 or at least 1, got 0.5"),
        ({"choice": "best"}, "choice must be one of uniform, maximum, got 'best'"),
        ({"M": 0}, "M must be an integer from 1"),
    ],
)
def test_what_has_no_meaning_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        fastes.LinearEnsemble(**{"M": 3, **wrong})


def test_where_it_does_not_play_it_says_so():
    with pytest.raises(ValueError, match="LinES plays on gaussian rewards only"):
        fastes.simulate(fastes.LogisticBandit(np.eye(2)), fastes.LinearEnsemble(3), T=2)
    ball = fastes.LinearBandit(fastes.actions.Ball(3))
    with pytest.raises(ValueError, match=r"cannot play on .*: it scores every arm in turn"):
        fastes.simulate(ball, fastes.LinearEnsemble(3, choice="maximum"), T=2)


def test_the_law_of_the_action_is_that_of_the_models():
    bandit = fastes.LinearBandit.random(K=6, d=3)
    for given, signs in (({}, (1,)), ({"symmetric": True}, (1, -1))):
        agent = fastes.LinearEnsemble(7, 2.0, **given)
        run = start(bandit, agent, 30)
        run.advance(0, 30)
        belief = run.state.belief
        law = agent.action_law(run.state, bandit.canonical.arms, run.source, 30)
        deviations = agent.deviations(run.state) @ belief.S
        best = [
            int((bandit.actions @ (belief.mu + s * z)).argmax()) for s in signs for z in deviations
        ]
        expected = np.bincount(best, minlength=6) / len(best)
        np.testing.assert_allclose(law.probabilities, expected)
        spread = deviations.T @ deviations / 7 @ np.linalg.inv(belief.S)
        found = np.sort(np.linalg.eigvals(spread).real)
        assert law.eigenvalues == pytest.approx((found[0], found[-1]), rel=1e-8)
    optimist = fastes.LinearEnsemble(7, choice="maximum")
    run = start(bandit, optimist, 31)
    run.advance(0, 30)
    law = optimist.action_law(run.state, bandit.canonical.arms, run.source, 30).probabilities
    assert sorted(law)[-1] == 1.0
