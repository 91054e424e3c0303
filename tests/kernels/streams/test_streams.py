import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.streams import draws, layout, normals, philox
from fastes.kernels.streams.draws import fill_uniform_rows
from fastes.kernels.streams.layout import MAX_COUNTER, MAX_LANE
from fastes.kernels.streams.normals import fill_normal_rows, fill_normals
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

block = from_python(philox.philox)
integer = from_python(draws.integer)
bounded = from_python(draws.bounded)
_random_pair = from_python(philox.random_pair)
_normal_pair = from_python(normals.normal_pair)


def random_pair(source, *words):
    return _random_pair(source, *map(np.uint64, words))


def normal_pair(source, *words):
    return _normal_pair(source, *map(np.uint64, words))


words32 = st.integers(0, 2**32 - 1)
places = st.tuples(
    st.integers(0, 2**64 - 1), words32, st.integers(0, 255), words32, st.integers(0, MAX_COUNTER)
)

# Known answers published with the generator (Random123, philox 4x32 10).
KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(counter, key, answer):
    expected = [int(word, 16) for word in answer.split()]
    assert reference.philox4x32(tuple(counter), tuple(key)) == expected
    words = [np.uint64(word) for word in (*key, *counter)]
    assert [int(word) for word in block(*words)] == expected


@given(places)
def test_random_bits_are_those_of_the_reference(place):
    seed, run, stream, lane, counter = place
    drawn = random_pair(source(seed, run), stream, lane, counter)
    assert tuple(int(bits) for bits in drawn) == reference.random_pair(*place)


@given(places)
def test_normals_are_those_of_the_reference(place):
    seed, run, stream, lane, counter = place
    drawn = normal_pair(source(seed, run), stream, lane, counter)
    np.testing.assert_allclose(drawn, reference.normal_pair(*place), rtol=4e-15, atol=1e-15)


def test_extreme_bits_give_finite_normals_of_the_right_size():
    minus_log = from_python(normals.minus_log_uniform)
    circle = from_python(normals._point_on_circle)
    assert minus_log(np.uint64(0)) == pytest.approx(65 * np.log(2), rel=1e-15)
    assert minus_log(np.uint64(2**64 - 1)) == 0.0
    assert minus_log(np.uint64(2**64 - 2**12)) == pytest.approx(2.0**-52, rel=1e-12)
    for bits in (0, 1, 2**61 - 1, 2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1):
        x, y = circle(np.uint64(bits))
        assert x * x + y * y == pytest.approx(1.0, rel=1e-15)


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, MAX_COUNTER),
    st.integers(1, MAX_LANE),
)
def test_integers_are_those_of_the_reference(seed, t, n):
    assert integer(source(seed, 3), np.uint64(2), t, n) == reference.integer(seed, 3, 2, t, n)


@given(st.integers(0, 2**64 - 1), st.integers(1, MAX_LANE))
def test_a_draw_is_rejected_exactly_when_it_must_be(bits, n):
    # What a rejection depends on is too rare to meet in draws: it is checked on its own.
    for given_bits in (bits, 0, 1, n, 2**64 - 1, bits % 2**32):
        high, low = divmod(given_bits * n, 2**64)
        value, accepted = bounded(np.uint64(given_bits), np.uint64(n))
        assert int(value) == high
        assert accepted == (low >= 2**64 % n)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_integers_are_uniform(n):
    # chi-squared, level 1e-4 each, seed fixed
    drawn = [integer(source(11), np.uint64(2), t, n) for t in range(20_000)]
    assert min(drawn) >= 0
    assert max(drawn) < n
    if n > 1:
        assert stats.chisquare(np.bincount(drawn, minlength=n)).pvalue > 1e-4


@pytest.fixture(scope="module")
def many_normals():
    out = np.empty((2_000, 2_001))
    fill_normal_rows(source(5), layout.DIAGNOSTICS, out)
    return out


def test_normals_have_the_moments_of_a_normal(many_normals):
    # Four z tests and a KS test, level 1e-4 each, seed fixed.
    x = many_normals.ravel()
    n = len(x)
    assert abs(x.mean()) < 3.9 / np.sqrt(n)
    assert abs((x**2).mean() - 1) < 3.9 * np.sqrt(2 / n)
    assert abs((x**3).mean()) < 3.9 * np.sqrt(15 / n)
    assert abs((x**4).mean() - 3) < 3.9 * np.sqrt(96 / n)
    assert stats.kstest(x[:500_000], "norm").pvalue > 1e-4


@pytest.mark.parametrize("threshold", [3.0, 4.0, 4.5, 5.0])
def test_normals_have_the_tails_of_a_normal(many_normals, threshold):
    # Exact binomial test of the number beyond the threshold, level 1e-4 each, seed fixed.
    x = many_normals.ravel()
    beyond = int((np.abs(x) > threshold).sum())
    assert stats.binomtest(beyond, len(x), 2 * stats.norm.sf(threshold)).pvalue > 1e-4


def test_the_transform_reaches_past_nine_sigma_at_the_right_rate():
    # P(|radius| > r) = exp(-r^2/2): at the bit pattern u = exp(-r^2/2) the radius is r.
    minus_log = from_python(normals.minus_log_uniform)
    for r in (5.0, 6.0, 7.0, 8.0, 9.0):
        bits = round(np.exp(-r * r / 2) * 2.0**64 - 0.5)
        expected = -np.log((bits + 0.5) / 2.0**64)
        assert minus_log(np.uint64(bits)) == pytest.approx(expected, rel=1e-14)


def test_neighbouring_draws_are_uncorrelated(many_normals):
    # z tests on lag products along both axes, level 1e-4 each, seed fixed.
    for product in (
        many_normals[:, 1:] * many_normals[:, :-1],
        many_normals[:, 2:] * many_normals[:, :-2],
        many_normals[1:] * many_normals[:-1],
        many_normals[1:, 1:] * many_normals[:-1, :-1],
    ):
        assert abs(product.mean()) < 3.9 / np.sqrt(product.size)


def test_uniforms_are_uniform_and_below_one():
    out = np.empty((1_000, 101))
    fill_uniform_rows(source(6), layout.DIAGNOSTICS, out)
    assert out.min() >= 0.0
    assert out.max() < 1.0
    assert stats.kstest(out.ravel(), "uniform").pvalue > 1e-4


def test_uniforms_are_those_of_the_reference():
    out = np.empty((3, 5))
    fill_uniform_rows(source(6, 2), layout.ARMS, out)
    for i in range(3):
        for j in range(5):
            bits = reference.random_pair(6, 2, layout.ARMS, j // 2, i)[j % 2]
            assert out[i, j] == (bits >> 11) / 2**53


@pytest.mark.parametrize("n", [1, 2, 3, 8, 33])
def test_a_shorter_vector_is_the_beginning_of_a_longer_one(n):
    long, short = np.empty(64), np.empty(n)
    fill_normals(source(1), np.uint64(7), 9, long)
    fill_normals(source(1), np.uint64(7), 9, short)
    assert (short == long[:n]).all()


def test_each_place_has_numbers_of_its_own():
    def first(seed, run, stream, lane, counter):
        return tuple(map(int, random_pair(source(seed, run), stream, lane, counter)))

    base = [3, 5, 7, 11, 13]
    drawn = {first(*base)}
    for i, bits in enumerate((64, 32, 8, 32, 56)):
        for bit in range(bits):
            place = list(base)
            place[i] ^= 1 << bit
            drawn.add(first(*place))
    assert len(drawn) == 1 + 64 + 32 + 8 + 32 + 56


def test_streams_have_numbers_of_their_own():
    names = [name for name in vars(layout) if name.isupper() and not name.startswith(("_", "MAX"))]
    numbers = [getattr(layout, name) for name in names]
    assert len({int(number) for number in numbers}) == len(numbers) == 21
    assert all(0 < number < 256 for number in numbers)
