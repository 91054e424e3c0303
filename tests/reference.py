"""The slow truth: the paper's equations, line by line, in user coordinates.

Nothing here comes from fastes. Inverses are explicit, loops are loops, and random numbers are
drawn one at a time with Python's integers and math.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# ---------------------------------------------------------------------------- random numbers


def philox4x32(counter: tuple[int, ...], key: tuple[int, int], rounds: int = 10) -> list[int]:
    """Philox4x32 as published: two multiplications and a key schedule a round."""
    c, (k0, k1) = list(counter), key
    for _ in range(rounds):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c


def random_pair(seed: int, run: int, stream: int, lane: int, counter: int) -> tuple[int, int]:
    """Two 64-bit integers."""
    seed, run, stream, lane, counter = (int(word) for word in (seed, run, stream, lane, counter))
    high, low = divmod(counter, 2**32)
    block = philox4x32((lane, low, run, high * 256 + stream), (seed % 2**32, seed // 2**32))
    return block[0] * 2**32 + block[1], block[2] * 2**32 + block[3]


def normal_pair(seed: int, run: int, stream: int, lane: int, counter: int) -> tuple[float, float]:
    """Two normals: Box and Muller's transform of two uniforms."""
    first, second = random_pair(seed, run, stream, lane, counter)
    radius = math.sqrt(-2.0 * math.log((first + 0.5) / 2.0**64))
    quarter, fraction = divmod(second, 2**62)
    if fraction >= 2**61:
        fraction -= 2**62
    angle = math.pi / 2 * (quarter + fraction / 2.0**62)
    return radius * math.cos(angle), radius * math.sin(angle)


def normal(seed: int, run: int, stream: int, lane: int, t: int) -> float:
    """The normal of a lane at time t."""
    return normal_pair(seed, run, stream, lane, t // 2)[t % 2]


def normal_vector(seed: int, run: int, stream: int, t: int, n: int) -> Floats:
    """The vector of n normals at time t."""
    return np.array([normal_pair(seed, run, stream, j // 2, t)[j % 2] for j in range(n)])


def integer(seed: int, run: int, stream: int, t: int, n: int) -> int:
    """A uniform integer below n: reject what would make some values likelier."""
    lane = 0
    while True:
        high, low = divmod(random_pair(seed, run, stream, lane, t)[0] * n, 2**64)
        if low >= 2**64 % n:
            return high
        lane += 1


def uniform(seed: int, run: int, stream: int, t: int) -> float:
    """The uniform of lane 0 at time t."""
    return (random_pair(seed, run, stream, 0, t // 2)[t % 2] >> 11) * 2.0**-53


def sign(seed: int, run: int, stream: int, lane: int, t: int) -> float:
    """The sign of a lane at time t: bit t of the lane's 128 bits at a time, 1 where it is 0."""
    words = random_pair(seed, run, stream, lane, t // 128)
    return 1.0 - 2.0 * (words[t % 128 // 64] >> (t % 64) & 1)


def sign_sums(
    seed: int, run: int, stream: int, t: int, lane: int, counts: list[int]
) -> list[float]:
    """Sums of so many signs each: 1 for each one, -1 for each zero of so many random bits.

    The first 128 bits of each are a lane of their own; lanes of 128 bits follow for what is left.
    """

    def total(lane: int, n: int) -> float:
        low, high = random_pair(seed, run, stream, lane, t)
        bits = f"{low:064b}"[: min(n, 64)] + f"{high:064b}"[: max(n - 64, 0)]
        return float(sum(1 if bit == "1" else -1 for bit in bits))

    sums = [total(lane + i, min(n, 128)) for i, n in enumerate(counts)]
    free = lane + len(counts)
    for i, n in enumerate(counts):
        for rest in range(n - 128, 0, -128):
            sums[i] += total(free, min(rest, 128))
            free += 1
    return sums


def weights(law: str, seed: int, run: int, stream: int, t: int, M: int) -> Floats:
    """A vector of M random weights whose second moment is the identity."""
    if law == "signs":
        words = [random_pair(seed, run, stream, j // 128, t)[j % 128 // 64] for j in range(M)]
        return np.array([1.0 - 2.0 * (word >> (j % 64) & 1) for j, word in enumerate(words)])
    if law == "coordinates":
        choice = integer(seed, run, stream, t, 2 * M)
        out = np.zeros(M)
        out[choice // 2] = math.sqrt(M) * (-1) ** choice
        return out
    out = normal_vector(seed, run, stream, t, M)
    return out if law == "normal" else out * math.sqrt(M) / np.linalg.norm(out)


# ------------------------------------------------------------------------------- the problem


@dataclass
class Problem:
    """(A, mu_0, Sigma_0, sigma^2) of section 3.1."""

    actions: Floats
    mean: Floats
    covariance: Floats
    sigma: float

    @classmethod
    def of(cls, actions: Any, mean: Any, covariance: Any, sigma: float) -> "Problem":
        """Spell out scalar means and scalar or diagonal covariances."""
        actions = np.asarray(actions, float)
        d = actions.shape[1]
        covariance = np.asarray(covariance, float)
        if covariance.ndim < 2:
            covariance = np.diag(np.broadcast_to(covariance, d))
        return cls(actions, np.broadcast_to(np.asarray(mean, float), d), covariance, sigma)


# ------------------------------------------------------------------------ equations (1), (2)


def posterior_update(
    problem: Problem, mean: Floats, covariance: Floats, a: Floats, reward: float
) -> tuple[Floats, Floats]:
    """Equation (1), or its Kalman form where the inverse is missing or loses eight digits."""
    s2 = problem.sigma**2
    signal = a @ covariance @ a
    if not np.linalg.cond(covariance) * (1 + signal / s2) < 1e6:
        gain = covariance @ a / (signal + s2)
        return mean + gain * (reward - a @ mean), covariance - np.outer(gain, covariance @ a)
    precision = np.linalg.inv(covariance)
    updated = np.asarray(np.linalg.inv(precision + np.outer(a, a) / s2), np.float64)
    return updated @ (precision @ mean + reward / s2 * a), updated


def model_update(
    problem: Problem, model: Floats, covariance: Floats, a: Floats, reward: float, w: float
) -> Floats:
    """Equation (2): equation (1)'s mean with the model for mu_t and the reward perturbed."""
    return posterior_update(problem, model, covariance, a, reward + w)[0]


def confidence_radius(played: Floats, radius: float, delta: float) -> float:
    """beta_t of Abbasi-Yadkori, Pal and Szepesvari: rows played with unit noise, prior N(0, I)."""
    determinant = np.linalg.slogdet(np.eye(played.shape[1]) + played.T @ played)[1]
    return radius + math.sqrt(2.0 * math.log(1.0 / delta) + float(determinant))


def learned_noise(
    problem: Problem, rows: Floats, rewards: Floats, shape: float, scale: float, least: float
) -> tuple[Floats, Floats, float, float]:
    """The normal-inverse-gamma posterior, of all rewards at once: mean, V, a and b.

    theta | s^2 ~ N(mean, s^2 V), s^2 ~ InverseGamma(a, b), in units of reward. Before any, V is
    Sigma_0 / (least sigma)^2, and b is scale sigma^2. y - A mean_0 is N(0, s^2 (I + A V_0 A')).
    """
    V0 = problem.covariance / (least * problem.sigma) ** 2
    rows = rows.reshape(-1, len(problem.mean))
    gap, spread = rewards - rows @ problem.mean, np.eye(len(rows)) + rows @ V0 @ rows.T
    V = np.asarray(np.linalg.inv(np.linalg.inv(V0) + rows.T @ rows), np.float64)
    b = scale * problem.sigma**2 + gap @ np.linalg.solve(spread, gap) / 2
    return problem.mean + V @ rows.T @ gap, V, shape + len(rows) / 2, float(b)


def gamma(seed: int, run: int, stream: int, t: int, shape: float) -> float:
    """Marsaglia and Tsang's number of the gamma law, without their squeeze."""
    d, lane = shape - 1 / 3, 2**31
    while True:
        x = normal(seed, run, stream, lane, t)
        u = ((random_pair(seed, run, stream, lane + 1, t // 2)[t % 2] >> 12) + 0.5) * 2.0**-52
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
            return d * v
        lane += 2


# ------------------------------------------------------------------------------ the algorithm


@dataclass
class Step:
    """What an agent knew and did at one step."""

    scores: Floats
    arm: int
    mean: Floats
    covariance: Floats
    models: list[Floats]


def play(
    problem: Problem,
    T: int,
    theta: Floats,
    noise: Callable[[int], float],
    arm_of: Callable[[int, Floats], int],
    scores_of: Callable[[int, Floats, Floats, list[Floats]], Floats],
    models: list[Floats],
    perturbation: Callable[[int, int], float],
    offer: Callable[[int], Floats] | None = None,
    delay: int = 0,
) -> list[Step]:
    """Algorithm 1, and any other agent that maximises a score.

    `theta` is a vector, or one for each step, a row each.
    `scores_of(t, mean, covariance, models)` scores every arm, `arm_of(t, scores)` breaks ties,
    `perturbation(t, m)` is W of model m for the reward of step t, in units of reward; `offer(t)`
    are the arms on offer at step t, by default those of the problem. The reward of step t is
    observed after the choice of step t + delay.
    """
    mean, covariance = problem.mean, problem.covariance
    history: list[tuple[Floats, float]] = []
    steps = []
    for t in range(T):
        scores = scores_of(t, mean, covariance, models)
        arm = arm_of(t, scores)
        steps.append(Step(scores, arm, mean, covariance, models))
        a = (problem.actions if offer is None else offer(t))[arm]
        history.append((a, a @ (theta if theta.ndim == 1 else theta[t]) + noise(t)))
        s = t - delay
        if s >= 0:
            a, reward = history[s]
            models = [
                model_update(problem, model, covariance, a, reward, perturbation(s, m))
                for m, model in enumerate(models)
            ]
            mean, covariance = posterior_update(problem, mean, covariance, a, reward)
    steps.append(Step(np.array([]), -1, mean, covariance, models))
    return steps


def drifting(
    drift: str, value: Any, T: int, first: Floats, mean: Floats, draw: Callable[[int], Floats]
) -> Floats:
    """Theta of the steps 0, ..., T - 1, a row each.

    `draw(t)` is what step t draws from N(0, prior covariance).
    `value` is what the drift is made of: the steps, rho, the angle, or a theta for each step that
    has one.
    """
    path = [first]
    for t in range(1, T):
        theta = path[-1]
        if drift == "abrupt" and t in value:
            theta = mean + draw(t)
        elif drift == "ar":
            theta = mean + value * (theta - mean) + np.sqrt(1 - value**2) * draw(t)
        elif drift == "rotating":
            turn = np.eye(len(mean))
            turn[0, 0] = turn[1, 1] = np.cos(value)
            turn[1, 0], turn[0, 1] = np.sin(value), -np.sin(value)
            theta = mean + turn @ (theta - mean)
        elif drift == "piecewise":
            theta = np.asarray(value.get(t, theta), float)
        path.append(theta)
    return np.array(path)


def regret(problem: Problem, theta: Floats, arms: list[int]) -> Floats:
    """Cumulative regret from mean rewards: max_a a'theta less a_t'theta."""
    values = problem.actions @ theta
    return np.cumsum([values.max() - values[arm] for arm in arms])


def full_scan(scores: Floats) -> tuple[float, int, int]:
    """Return the best score, how many arms have it, and the first of them, or -1."""
    numbers = scores[~np.isnan(scores)]
    best = float(numbers.max(initial=-np.inf))
    if best == -np.inf:
        return best, 0, -1
    return best, int((scores == best).sum()), int(np.flatnonzero(scores == best)[0])


def best_arms_shared(scores: Floats) -> tuple[Floats, Floats]:
    """For each model (a row of scores) one vote, shared by the arms that score best."""
    votes, values = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    for row in scores:
        best = [a for a in range(len(row)) if row[a] >= row.max() - 1e-12 * max(1, abs(row.max()))]
        for a in best:
            votes[a] += 1 / len(best)
            values[a] += row[a] / len(best)
    return votes, values


def slate(scores: Floats, k: int) -> list[int]:
    """The k arms of the largest scores, best first, where no two are equal."""
    return sorted(range(len(scores)), key=lambda arm: -scores[arm])[:k]


def information_of_reward(values: Floats, labels: Floats) -> float:
    """I(label; value + N(0, 1)) of an empirical joint law, by quadrature on a fine grid."""
    y = np.arange(min(values) - 9, max(values) + 9, 0.02)
    total = 0.0
    density = {}
    for j in set(labels):
        chosen = [v for v, label in zip(values, labels, strict=True) if label == j]
        mixture = sum(np.exp(-((y - v) ** 2) / 2) for v in chosen) / np.sqrt(2 * np.pi)
        density[j] = mixture / len(values)
    whole = sum(density.values())
    for j, f in density.items():
        p = np.mean([label == j for label in labels])
        inside = f > 0
        total += 0.02 * np.sum(f[inside] * np.log(f[inside] / (p * whole[inside])))
    return total


def drawn_arms(seed: int, run: int, stream: int, t: int, K: int, d: int, family: str) -> Floats:
    """Return the arms that are drawn for step t, one a row."""
    half, rows = (d + 1) // 2, np.empty((K, d + 1))
    for arm in range(K):
        for k in range(half):
            lane = arm * half + k
            if family == "uniform":
                words = random_pair(seed, run, stream, lane, t)
                pair = tuple(2 * (word >> 11) * 2.0**-53 - 1 for word in words)
            else:
                pair = normal_pair(seed, run, stream, lane, t)
            rows[arm, 2 * k : 2 * k + 2] = pair
    rows = rows[:, :d]
    if family == "sphere":
        return rows / np.linalg.norm(rows, axis=1)[:, None]
    return rows / np.sqrt(d)


def drawn_subset(seed: int, run: int, stream: int, t: int, n: int, size: int) -> list[int]:
    """Return which of n arms are on offer at step t (Floyd's algorithm)."""
    chosen: list[int] = []
    for i, j in enumerate(range(n - size, n)):
        number = integer(seed, run, stream, t * size + i, j + 1)
        chosen.append(j if number in chosen else number)
    return chosen


def missed(
    rows: Floats, since: int, now: int, normals: Floats, block: int, discount: float = 1.0
) -> Floats:
    """Return the sum of W b over the steps since, ..., now - 1, through factors of aligned blocks.

    With a discount each step counts discount^(its age / 2).

    A block of block 2^l rows b that begins at a multiple of its length counts as F'w, with F the
    upper triangular root of the sum of b b'; what is in no block counts row by row.
    """
    total, used, s = np.zeros(rows.shape[1]), 0, since
    while s < now:
        length = 1
        if s % block == 0 and s + block <= now:
            length = block
            while s % (2 * length) == 0 and s + 2 * length <= now:
                length *= 2
        weights = discount ** np.arange(length - 1.0, -1, -1)
        total = discount ** (length / 2) * total
        if length == 1:
            total += normals[used] * rows[s]
            used += 1
        else:
            stretch = rows[s : s + length]
            F = np.linalg.qr(np.sqrt(weights)[:, None] * stretch, mode="r")
            F = np.where(np.diag(F) < 0, -1.0, 1.0)[:, None] * F
            total += F.T @ normals[used : used + rows.shape[1]]
            used += rows.shape[1]
        s += length
    return total


# ----------------------------------------------------------------------- beliefs that forget


def period(discount: float) -> int:
    """Rewards between two refills: at most 256, and half of what is known is kept, or it is 1."""
    n = 1
    while n < 256 and discount ** (n + 1) >= 0.5:
        n += 1
    return n


def forgetful_systems(
    rows: Floats, rewards: Floats, discount: float, n: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield P and eta after 0, 1, ... rewards; with every n-th the prior gets back its weight."""
    P, eta = np.eye(rows.shape[1]), np.zeros(rows.shape[1])
    yield P, eta
    for k, (b, y) in enumerate(zip(rows, rewards, strict=True)):
        P, eta = discount * P + np.outer(b, b), discount * eta + y * b
        if (k + 1) % n == 0:
            P = P + (1 - discount**n) * np.eye(len(P))
        yield P, eta


def forgetful_posterior(
    rows: Floats, rewards: Floats, discount: float, n: int
) -> tuple[Floats, Floats]:
    """Return P and mu after these rewards."""
    *_, (P, eta) = forgetful_systems(rows, rewards, discount, n)
    return P, np.asarray(np.linalg.solve(P, eta), np.float64)


def forgetful_model(
    xi: Floats, rows: Floats, discount: float, n: int, W: Floats, refills: Floats
) -> Floats:
    """Return what becomes of a model in information space, W of each row and normals of refills."""
    for k, (b, w) in enumerate(zip(rows, W, strict=True)):
        xi = math.sqrt(discount) * xi + w * b
        if (k + 1) % n == 0:
            xi = xi + math.sqrt(1 - discount**n) * refills[(k + 1) // n - 1]
    return xi


def refilled(discount: float, n: int, since: int, now: int) -> float:
    """Return the standard deviation of what refills have added since."""
    counts = [k for k in range(since + 1, now + 1) if k % n == 0]
    return math.sqrt(sum((1 - discount**n) * discount ** (now - k) for k in counts))


def drawn_from_forgetful(
    rows: Floats, arms: list[int], discount: float, n: int, normals: Callable[[int], Floats]
) -> Floats:
    """Draw from N(0, P): by the root of P as of the last refill, and each arm played since."""
    k, r = len(rows), rows.shape[1]
    known = k - k % n
    P, _ = forgetful_posterior(rows[:known], np.zeros(known), discount, n)
    variance = dict.fromkeys(arms[known:], 0.0)
    for i in range(known, k):
        variance[arms[i]] += discount ** (k - 1 - i)
    w = normals(r + len(variance))
    xi = discount ** ((k - known) / 2) * np.linalg.cholesky(P) @ w[:r]
    for a, normal in zip(variance, w[r:], strict=True):
        xi = xi + math.sqrt(variance[a]) * normal * rows[arms.index(a)]
    return np.asarray(xi, np.float64)


def forgetful_catch_up(
    xi: Floats,
    rows: Floats,
    arms: list[int],
    since: int,
    discount: float,
    n: int,
    normals: Callable[[int], Floats],
) -> Floats:
    """Return a model that was read at `since`, by one normal for each arm played, and the prior's.

    Arms are in order of first play; `normals(k)` returns k of them.
    """
    now, r = len(rows), rows.shape[1]
    variance = dict.fromkeys(arms, 0.0)
    for s in range(since, now):
        variance[arms[s]] += discount ** (now - 1 - s)
    refill = refilled(discount, n, since, now)
    missed_arms = [a for a in variance if variance[a] > 0]
    w = normals(len(missed_arms) + (r if refill else 0))
    xi = discount ** ((now - since) / 2) * xi
    for a, normal in zip(missed_arms, w, strict=False):
        xi = xi + math.sqrt(variance[a]) * normal * rows[arms.index(a)]
    return xi + refill * w[len(missed_arms) :] if refill else xi


# ------------------------------------------------------- bounds: one step after the other


def least(function: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a function with one valley, by thirds."""
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if function(left) < function(right) else (left, high)
    return function((low + high) / 2)


def proposition1(K: int, t: int, M: int, J: float) -> float:
    """Proposition 1, at the best lambda; 1 - lambda = exp(-x)."""
    if K == 1:
        return 0.0
    known = min(J, math.log(math.comb(t + K - 1, K - 1)))
    if known == 0.0:
        return (K - 1) / M  # the limit as lambda goes to 0
    return least(lambda x: (known + (K - 1) * x) / (-math.expm1(-x) * M), 1e-9, 60.0)


def history_information(K: int, t: int, M: int) -> float:
    """J_t is at most t log K and (K - 1)(y - 1 - log y), log y + 1/y - 1 = t/M, by halves."""
    low, high = 0.0, t / M + 1  # log y
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + math.exp(-middle) - 1 < t / M else (low, middle)
    flow = (K - 1) * (math.exp(min(low, 700)) - 1 - low)
    return min(t * math.log(K), flow)


def information_bound(K: int, T: int, M: int) -> list[float]:
    """kbar_t of every step: what earlier steps may have told of the models, over M."""
    bounds, total = [], 0.0
    for t in range(T):
        bounds.append(total / M)
        paper = K * math.log(6 * (t + 1) * M) / M
        ours = proposition1(K, t, M, history_information(K, t, M))
        total += min(paper, ours, math.log(K))
    return bounds


def smallest_divergences(K: int, T: int, M: int) -> list[float]:
    """All that is known of k_t at every step."""
    bounds = []
    for t, kbar in enumerate(information_bound(K, T, M)):
        paper = (K * (math.log(t + 1) + math.log(M + 1)) + 1) / M
        ours = proposition1(K, t, M, history_information(K, t, M))
        orderless = math.log(math.comb(t + K - 1, K - 1)) / M
        bounds.append(min(kbar, paper, ours, orderless))
    return bounds


def smallest_distances(K: int, T: int, M: int) -> list[float]:
    """All that is known of h_t at every step: what is known of k_t, and fresh models."""
    bounds = []
    for t, divergence in enumerate(smallest_divergences(K, T, M)):
        stale = 1 - (1 - 1 / M) ** t
        bounds.append(min(divergence, (1 + min(1, t / M)) * stale))
    return bounds


def theorem_b(
    main: float,
    delta: float,
    beta: float,
    K: int,
    divergences: list[float],
    b_over: float,
    b_under: float,
    kind: str,
) -> float:
    """Theorem B's right-hand side; main is iota sqrt(d T H). The maximum is by trial of many x."""
    phi_over = b_over**2 * math.log(b_over**2) - b_over**2 + 1
    y = b_under**-2
    phi_under = y * math.log(y) - y + 1
    if kind == "kl":
        cost_over, cost_under = phi_over / b_over**2, phi_under
    else:
        cost_over, cost_under = (1 - 1 / b_over) ** 2, (1 - 1 / b_under) ** 2
    total = b_over**2 * b_under * main
    for k in divergences:
        if k == 0:
            continue
        most = min(1.0, k / cost_over)
        x = most * np.r_[0, np.geomspace(1e-9, 1, 300), 1 - np.geomspace(1e-9, 1, 300)]
        under = np.clip((k - cost_over * x) / cost_under, 0, 1)
        of_over = delta * x + np.sqrt(8 * beta) * _entropic(x, math.sqrt(math.e))
        of_under = b_over**2 * math.sqrt(2 * beta) * _entropic(under, K)
        total += float((of_over + of_under).max())
    return total


def hard_problem_loss(c: Any, M: int, inflation: float, reads: int) -> float:
    """Theorem D and D+: the least loss of a step, theta_j ~ N(-c_j, 1) independent, and arm 0.

    No model, nor its reflection if `reads` is 2, prefers j to arm 0; j alone is better than 0.
    """

    def beyond(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    better = [beyond(each) for each in c]
    total = 0.0
    for j, each in enumerate(c):
        none = (1 - reads * beyond(each / inflation)) ** M
        alone = math.prod(1 - p for i, p in enumerate(better) if i != j)
        x = np.linspace(each, each + 12, 200_001)
        density = (x - each) * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        total += none * alone * float(np.trapezoid(density, x))
    return total


def _entropic(x: Floats, A: float) -> Floats:
    """x sqrt(log(A / x)), 0 at 0."""
    return np.asarray(x * np.sqrt(np.log(A / np.maximum(x, 1e-300))))


def multinomial_moment(p: list[float], M: int, lam: float) -> float:
    """E exp(lam M KL(frequencies || p)) of M draws from p, over all that can be drawn."""
    total = 0.0
    for counts in compositions(M, len(p)):
        chance, divergence = float(math.factorial(M)), 0.0
        for count, share in zip(counts, p, strict=True):
            chance *= share**count / math.factorial(count)
            divergence += count / M * math.log(count / M / share) if count else 0.0
        total += chance * math.exp(lam * M * divergence)
    return total


def compositions(n: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write n as an ordered sum of so many numbers, zeros among them."""
    if parts == 1:
        return [(n,)]
    return [(k, *rest) for k in range(n + 1) for rest in compositions(n - k, parts - 1)]


def pbar_by_rejection(
    problem: Problem, M: int, arms: list[int], rewards: list[float], draws: int, seed: int
) -> tuple[Floats, int]:
    """The law of the next action given a history: ensembles that happened to play it."""
    rng = np.random.default_rng(seed)
    d = problem.actions.shape[1]
    root = np.linalg.cholesky(problem.covariance)
    votes, kept = np.zeros(len(problem.actions)), 0
    for _ in range(draws):
        models = [problem.mean + root @ rng.standard_normal(d) for _ in range(M)]
        mean, covariance = problem.mean, problem.covariance
        for arm, reward in zip(arms, rewards, strict=True):
            if (problem.actions @ models[rng.integers(M)]).argmax() != arm:
                break
            a = problem.actions[arm]
            perturbed = [problem.sigma * rng.standard_normal() for _ in range(M)]
            models = [
                model_update(problem, model, covariance, a, reward, w)
                for model, w in zip(models, perturbed, strict=True)
            ]
            mean, covariance = posterior_update(problem, mean, covariance, a, reward)
        else:
            kept += 1
            for model in models:
                votes[(problem.actions @ model).argmax()] += 1 / M
    return votes / kept, kept


# ----------------------------------------------------------- information-directed sampling


def normals_of_models(seed: int, run: int, stream: int, t: int, n: int, r: int) -> Floats:
    """The normals of n models at time t, a model a row: pairs are 32 models apart."""
    rows = np.empty((n, r))
    for i in range(n):
        block, s = divmod(i, 64)
        for j in range(r):
            lane = (block * r + j) * 32 + s % 32
            rows[i, j] = normal_pair(seed, run, stream, lane, t)[s // 32]
    return rows


def regret_and_information(actions: Floats, models: Floats) -> tuple[Floats, Floats]:
    """Delta(a) = E[max a'theta - a'theta] and v(a) = Var(E[a'theta | A*]) over some models.

    A* is the first arm of the largest value, up to rounding.
    """
    values = models @ actions.T
    best = [int(np.flatnonzero(row >= row.max() - 1e-11 * abs(row).max())[0]) for row in values]
    expected = values.mean(axis=0)
    regret = np.mean([row.max() for row in values]) - expected
    variance = np.zeros(len(actions))
    for arm in set(best):
        of_arm = np.array([row for row, winner in zip(values, best, strict=True) if winner == arm])
        variance += len(of_arm) / len(values) * (of_arm.mean(axis=0) - expected) ** 2
    return regret, variance


def ratio(D: float, v: float) -> float:
    """The information ratio D^2 / v: 0 where D is 0."""
    if D <= 0:
        return 0.0
    return D * D / v if v > 0 else math.inf


def pairs_of_least_ratio(D: Floats, v: Floats, close: float) -> list[tuple[int, int, float]]:
    """All pairs (i, j), and the probability of j, whose least ratio is the least, or close to it.

    On each pair D^2 / v is least at an end or where its derivative vanishes.
    """
    found = []
    for i in range(len(D)):
        for j in range(len(D)):
            tried = [0.0, 1.0]
            if D[i] != D[j] and v[i] != v[j]:
                tried.append(D[i] / (D[j] - D[i]) - 2 * v[i] / (v[j] - v[i]))
            for q in tried:
                if 0 <= q <= 1:
                    least = ratio((1 - q) * D[i] + q * D[j], (1 - q) * v[i] + q * v[j])
                    found.append((least, i, j, q))
    least = min(found)[0]
    return [(i, j, q) for each, i, j, q in found if each <= least * (1 + close)]


def least_ratio_on_grid(D: Floats, v: Floats, points: int) -> float:
    """The least ratio over all pairs of arms and a grid of probabilities."""
    least = math.inf
    for i in range(len(D)):
        for j in range(len(D)):
            for q in np.linspace(0, 1, points):
                mixed = (1 - q) * D[i] + q * D[j], (1 - q) * v[i] + q * v[j]
                least = min(least, ratio(*mixed))
    return least


# ----------------------------------------------------------------------------- noise laws


def noise(seed: int, run: int, stream: int, t: int, law: str) -> float:
    """The noise of step t, of mean 0 and variance 1, by its law."""
    if law == "normal":
        return normal(seed, run, stream, 0, t)
    if law == "laplace":  # the difference of two exponential numbers has variance 2
        words = random_pair(seed, run, stream, 0, t)
        first, second = (-math.log((word + 0.5) / 2.0**64) for word in words)
        return (first - second) / math.sqrt(2.0)
    word = random_pair(seed, run, stream, 0, t // 2)[t % 2]
    if law == "signs":
        return 1.0 if word >= 2**63 else -1.0
    return math.sqrt(3.0) * (2.0 * (word // 2**12 + 0.5) / 2.0**52 - 1.0)


# -------------------------------------------------------------- generalised linear rewards


def open_uniform(seed: int, run: int, stream: int, t: int) -> float:
    """The uniform of time t: the middle of one of 2^52 pieces of (0, 1)."""
    return ((random_pair(seed, run, stream, 0, t // 2)[t % 2] >> 12) + 0.5) * 2.0**-52


def mean_and_variance(family: str, value: Any) -> tuple[Any, Any]:
    """psi' and psi'' of a family at some values."""
    value = np.asarray(value, np.longdouble)
    if family == "gaussian":
        return value, np.ones_like(value)
    if family == "poisson":
        return np.exp(value), np.exp(value)
    small = np.exp(-abs(value))
    return np.where(value < 0, small, 1) / (1 + small), small / (1 + small) ** 2


@dataclass
class Plays:
    """What distinct arms paid: rows b, offsets o, numbers of plays n and sums of rewards y."""

    family: str
    rows: Floats
    offsets: Floats
    n: Floats
    y: Floats

    def gradient(self, z: Floats, xi: Any = 0.0) -> Floats:
        """Z + sum n psi' b - sum y b - xi."""
        rows = self.rows.astype(np.longdouble)
        mean, _ = mean_and_variance(self.family, self.offsets + rows @ z)
        return np.asarray(z - xi + rows.T @ (self.n * mean - self.y), np.float64)

    def hessian(self, z: Floats) -> Floats:
        """I + sum n psi'' b b'."""
        _, variance = mean_and_variance(self.family, self.offsets + self.rows @ z)
        weights = np.asarray(self.n * variance, np.float64)
        return np.asarray(np.eye(len(z)) + self.rows.T @ (weights[:, None] * self.rows))

    def log_density(self, z: Floats) -> float:
        """The log of prior times likelihood at z, up to a constant."""
        z = z.astype(np.longdouble)
        value = self.offsets + self.rows.astype(np.longdouble) @ z
        if self.family == "bernoulli":  # log p for each that paid, log(1 - p) for each that did not
            logs = -self.y * np.logaddexp(0, -value) - (self.n - self.y) * np.logaddexp(0, value)
        else:
            psi = np.exp(value) if self.family == "poisson" else value**2 / 2
            logs = self.y * value - self.n * psi
        return float(logs.sum() - z @ z / 2)

    def distance(self, z: Floats, xi: Any = 0.0) -> float:
        """How many standard deviations z is from where the gradient is zero, to first order."""
        g = self.gradient(z, xi)
        return float(np.sqrt(g @ np.linalg.solve(self.hessian(z), g)))

    def mode(self, xi: Any = 0.0) -> Floats:
        """Where the gradient is zero: Newton's method, each step halved until it leads downhill."""
        z = np.zeros(self.rows.shape[1])
        for _ in range(500):
            step = -np.linalg.solve(self.hessian(z), self.gradient(z, xi))
            while self.gradient(z + step, xi) @ step > 1e-3 * abs(self.gradient(z, xi) @ step):
                step = step / 2
            z = z + step
            if abs(step).max() <= 1e-13 * (1 + abs(z).max()):
                break
        return z


def glm_ensemble(
    family: str,
    actions: Floats,
    offsets: Floats,
    M: int,
    T: int,
    constant: float,
    index: Callable[[int], int],
    first: Callable[[int, int], Floats],
    later: Callable[[int, int], Floats],
    reward: Callable[[int, float], float],
    theta: Floats,
    discount: float = 1.0,
) -> tuple[list[int], list[Floats], Floats]:
    """Ensemble sampling by perturbed modes: what was played, each model read and the last mode.

    `index(t)` is the model read at step t; `first(t, n)` are the n normals of a first read,
    `later(t, n)` those of another; `reward(t, mean)` is what an arm of a mean pays. With a discount
    plays, what they paid, V and models forget with each reward, and models get back of the prior.
    """
    order: list[int] = []
    n, y, V = (np.zeros(len(actions)) for _ in range(3))
    models: dict[int, tuple[Floats, Floats, int]] = {}
    arms: list[int] = []
    read: list[Floats] = []
    r = actions.shape[1]
    mode = np.zeros(r)
    for t in range(T):
        m, played = index(t), np.array(order, int)
        data = Plays(family, actions[played], offsets[played], n[played], y[played])
        if m in models:
            xi, then, since = models[m]
            left = discount ** (t - since)
            missed = [a for a in order if a in arms[since:]]
            refill = math.sqrt(1 - left)
            normals = later(t, len(missed) + (r if refill else 0))
            xi, then = math.sqrt(left) * xi, left * then
            if refill:
                xi = xi + refill * normals[len(missed) :]
        else:
            missed, then = order, np.zeros(len(actions))
            normals = first(t, r + len(order))
            xi, normals = normals[:r], normals[r:]
        for a, normal in zip(missed, normals, strict=False):
            xi = xi + math.sqrt(V[a] - then[a]) * normal * actions[a]
        models[m] = xi, V.copy(), t
        read.append(data.mode(xi))
        arm = int(np.argmax(offsets + actions @ read[-1]))
        arms.append(arm)
        mean, _ = mean_and_variance(family, offsets[arm] + actions[arm] @ theta)
        if arm not in order:
            order.append(arm)
        n, y, V = discount * n, discount * y, discount * V
        n[arm] += 1
        y[arm] += reward(t, float(mean))
        played = np.array(order, int)
        mode = Plays(family, actions[played], offsets[played], n[played], y[played]).mode()
        _, variance = mean_and_variance(family, offsets[arm] + actions[arm] @ mode)
        V[arm] += constant or float(variance)
    return arms, read, mode


def bootstrap_ensemble(
    actions: Floats,
    offsets: Floats,
    T: int,
    index: Callable[[int], int],
    shift: Callable[[int], Floats],
    signs: Callable[[int, bool, list[int]], list[float]],
    click: Callable[[int, float], float],
    theta: Floats,
) -> tuple[list[int], list[Floats]]:
    """Ensemble sampling by the bootstrap: what was played, and each model read.

    `index(t)` is the model read at step t; `shift(t)` is the normal vector of a first read;
    `signs(t, first, counts)` are sums of that many signs each; `click(t, p)` is what an arm of
    rate p pays.
    """
    order: list[int] = []
    history: list[tuple[int, float]] = []
    models: dict[int, tuple[Floats, dict[tuple[int, float], float], int]] = {}
    arms, read = [], []
    for t in range(T):
        m = index(t)
        first = m not in models
        xi, excess, then = (shift(t), {}, 0) if first else models[m]
        kinds = [
            (arm, paid) for paid in (1.0, 0.0) for arm in order if (arm, paid) in history[then:]
        ]
        sums = signs(t, first, [history[then:].count(kind) for kind in kinds])
        excess = dict(excess)
        for kind, total in zip(kinds, sums, strict=True):
            excess[kind] = excess.get(kind, 0.0) + total
        models[m] = xi, excess, t
        n, y = [], []
        for arm in order:
            paid, others = (excess.get((arm, kind), 0.0) for kind in (1.0, 0.0))
            n.append(sum(a == arm for a, _ in history) + paid + others)
            y.append(sum(pay for a, pay in history if a == arm) + paid)
        played = np.array(order, int)
        data = Plays("bernoulli", actions[played], offsets[played], np.array(n), np.array(y))
        read.append(data.mode(xi))
        arms.append(int(np.argmax(offsets + actions @ read[-1])))
        if arms[-1] not in order:
            order.append(arms[-1])
        mean, _ = mean_and_variance("bernoulli", offsets[arms[-1]] + actions[arms[-1]] @ theta)
        history.append((arms[-1], click(t, float(mean))))
    return arms, read


def metropolis(
    data: Plays, z: Floats, seed: int, run: int, stream: int, t: int, proposals: int, nu: int = 8
) -> Floats:
    """Where a chain that is at z goes by proposals of Student's law around the mode."""
    mode, r = data.mode(), len(z)
    U = np.linalg.cholesky(data.hessian(mode)).T
    lane = 0

    def log_weight(z: Floats) -> float:
        square = float(((U @ (z - mode)) ** 2).sum())
        return data.log_density(z) + (nu + r) / 2 * math.log(1 + square / nu)

    def words(lanes: int) -> list[int]:
        nonlocal lane
        lane += lanes
        return [w for k in range(lane - lanes, lane) for w in random_pair(seed, run, stream, k, t)]

    for _ in range(proposals):
        normals = [normal_pair(seed, run, stream, lane + j // 2, t)[j % 2] for j in range(r)]
        lane += (r + 1) // 2
        chi_square = -2 * sum(math.log((word + 0.5) / 2.0**64) for word in words(nu // 4))
        proposal = mode + np.linalg.inv(U) @ normals * math.sqrt(nu / chi_square)
        uniform = (words(1)[0] + 0.5) / 2.0**64
        if log_weight(proposal) - log_weight(z) >= math.log(uniform):
            z = proposal
    return z


def best_arm(
    data: Plays, rows: Floats, offsets: Any, points: Floats, rewards: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """What the posterior on a grid of points says of arms, `rewards` the largest reward but one.

    P(A* = a), E[v_a; A* = a], E[v_a] and I(A*; R_a), v_a the mean reward of arm a.
    """
    logs = np.array([data.log_density(z) for z in points])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    value = offsets + points @ rows.T
    mean = np.asarray(mean_and_variance(data.family, value)[0], np.float64)
    best = np.argmax(value, axis=1)
    p, inside, information = np.zeros((3, len(rows)))
    for w, j, v in zip(weights, best, mean, strict=True):
        p[j] += w
        inside[j] += w * v[j]
    for a in range(len(rows)):
        for y in range(rewards):
            if data.family == "bernoulli":
                chance = mean[:, a] if y else 1 - mean[:, a]
            else:
                chance = np.exp(y * value[:, a] - mean[:, a] - math.lgamma(y + 1))
            whole = float(weights @ chance)
            for j in range(len(rows)):
                joint = float((weights * chance)[best == j].sum())
                if joint > 0:
                    information[a] += joint * math.log(joint / (p[j] * whole))
    return p, inside, weights @ mean, information


def linearised(
    family: str, mu: Floats, S: Floats, row: Floats, offset: float, reward: float
) -> tuple[Floats, float]:
    """The row sqrt(v) b of a reward taken for a normal one, and what it pays.

    With v = psi'' at eta* = eta + b'S b (y - psi'(eta*)), found by halves.
    """
    eta, spread = float(offset + row @ mu), float(row @ S @ row)

    def beyond(value: float) -> bool:
        return value - eta + spread * (float(mean_and_variance(family, value)[0]) - reward) > 0

    low, high, step = eta, eta, 1e-3
    while not beyond(high):
        high, step = high + step, 2 * step
    step = 1e-3
    while beyond(low):
        low, step = low - step, 2 * step
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    mean, variance = (float(part) for part in mean_and_variance(family, low))
    root = math.sqrt(variance)
    return root * row, root * (low - offset) + (reward - mean) / root


# ---------------------------------------------------------------------------- logged plays


def log_evidence(
    X: Floats, y: Floats, group: list[int], mean: Floats, cov: Floats, noise: float
) -> float:
    """Log of the density of y ~ N(X mean, noise^2 I + X cov X' within each group)."""
    same = np.equal.outer(group, group)
    joint = noise**2 * np.eye(len(y)) + np.where(same, X @ cov @ X.T, 0.0)
    gap = y - X @ mean
    size = len(y) * math.log(2 * math.pi) + np.linalg.slogdet(joint)[1]
    return -0.5 * float(size + gap @ np.linalg.solve(joint, gap))


def replayed(
    agent: Any,
    rows: list[tuple[Any, Any, float]],
    weights: list[float],
    draws: int,
    always: bool,
) -> tuple[float, float]:
    """The sums of w r and of w, row by row.

    A row is what is passed to act, the logged arm (as act returns it, and as it is observed) and
    the reward. `weights` has the weight of a choice that is the logged arm, 0 to pass a row over.
    """
    total = mass = 0.0
    for (offer, (place, seen), reward), weight in zip(rows, weights, strict=True):
        if weight == 0.0:
            continue
        hits = sum(agent.act(**offer) == place for _ in range(draws))
        total += hits / draws * weight * reward
        mass += hits / draws * weight
        if always or hits:
            agent.observe(seen, reward)
    return total, mass
