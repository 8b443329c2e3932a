"""The Kullback-Leibler kernel beyond the laws of all kernels: zeros, closed forms, Monte Carlo and its domain."""

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.special import rel_entr
from sklearn.mixture import GaussianMixture

from cases import as_gaussian, as_mixture, as_probabilities, assert_close, log_density, parts_of
from lopsided.kernels import RBF, KullbackLeibler, Linear

READ = {"discrete": as_probabilities, "gaussian": as_gaussian, "mixture": as_mixture, "adapted": as_mixture}
every_kind = pytest.mark.parametrize("kind", READ)
TWO = np.array([[0.3, 0.7, -1.0, 2.0, 0.5, 1.5], [0.6, 0.4, 0.0, 1.0, 1.0, 0.2]])  # mixtures in one dimension


def kernel_of(kind, **parameters):
    return KullbackLeibler(distribution=kind, n_components=2 if READ[kind] is as_mixture else 1, **parameters)


def rows_of(kind, rng, n=8, width=3):
    return READ[kind](rng.standard_normal((n, width)))


def stacked(mixture):
    """A fitted mixture of scikit-learn as a row."""
    return np.hstack([mixture.weights_, mixture.means_.ravel(), mixture.covariances_.ravel()])


@every_kind
def test_a_distribution_is_itself_and_no_other(kind, rng):
    P = rows_of(kind, rng)
    D = kernel_of(kind, n_draws=64).divergences(P, P)
    assert np.abs(np.diag(D)).max() < 1e-13 * D.max()
    assert (D[~np.eye(len(P), dtype=bool)] > 0).all()
    assert np.abs(D - D.T).max() > 0.1 * D.max()


@every_kind
def test_the_kernel_is_the_exponential_of_its_divergences(kind, rng):
    P, Q = rows_of(kind, rng), rows_of(kind, rng, n=5)
    kernel = kernel_of(kind, rate=0.3)
    assert_close(kernel(P, Q), np.exp(-0.3 * kernel.divergences(P, Q)))
    assert_close(kernel.fit(P, P).divergences(P, Q), kernel_of(kind).divergences(P, Q))


@every_kind
def test_an_open_rate_is_one_over_the_median_divergence(kind, rng):
    P, Q = rows_of(kind, rng), rows_of(kind, rng, n=5)
    kernel = kernel_of(kind).fit(P, Q)
    assert kernel.rate_ == pytest.approx(1 / np.median(kernel.divergences(P, Q)), rel=1e-12)
    assert_close(kernel(Q, P), np.exp(-kernel.rate_ * kernel.divergences(Q, P)))
    assert kernel_of(kind).fit(P[:1], P[:1]).rate_ == 1.0


@every_kind
def test_many_rows_leave_the_rate_to_a_spread_of_them(kind, rng):
    P = np.repeat(rows_of(kind, rng, n=300), 2, axis=0)
    D = kernel_of(kind).divergences(P, P)
    assert kernel_of(kind).fit(P, P).rate_ == pytest.approx(1 / np.median(D[D > 1e-9]), rel=0.2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_divergence_is_infinite_where_only_the_right_probability_is_zero(dtype):
    P = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5], [0.0, 0.0, 1.0]], dtype=dtype)
    D, K = KullbackLeibler().divergences(P, P), KullbackLeibler(rate=1e-3)(P, P)
    expected = rel_entr(P.astype(float)[:, None], P.astype(float)).sum(axis=2)
    assert D.dtype == K.dtype == dtype
    assert np.array_equal(np.isinf(D), np.isinf(expected)) and np.isinf(D).sum() == 8
    assert np.array_equal(K == 0, np.isinf(expected))
    assert_close(D[np.isfinite(D)], expected[np.isfinite(D)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_smallest_probabilities_count_and_what_is_below_them_is_zero(dtype):
    tiny = np.finfo(dtype).tiny
    P = np.array([[1, 0], [1, 4096 * tiny], [1, tiny]], dtype=dtype)
    D = KullbackLeibler().divergences(P, P)
    assert np.array_equal(np.isinf(D), [[False] * 3, [True, False, True], [False] * 3])


@every_kind
def test_sparse_rows_are_read_as_dense_ones(kind, rng):
    P = rows_of(kind, rng)
    kernel = kernel_of(kind)
    assert_close(kernel(sparse.csr_array(P), sparse.csr_array(P)), kernel(P, P))
    for combined in (kernel + Linear(), kernel * RBF(1.0), (kernel * Linear()).T):
        assert_close(combined(sparse.csr_array(P), sparse.csr_array(P)), combined(P, P), 1e3)


def test_gaussians_in_one_dimension_agree_with_quadrature():
    P, Q = np.array([[0.3, 2.0]]), np.array([[-1.0, 0.7]])
    (D,) = KullbackLeibler(distribution="gaussian").divergences(P, Q)
    assert D[0] == pytest.approx(_integral(np.array([1.0, *P[0]]), np.array([1.0, *Q[0]]), 1)[0], rel=1e-9)


def test_mixtures_of_one_component_have_the_closed_form(rng):
    G, H = rows_of("gaussian", rng, width=6), rows_of("gaussian", rng, n=5, width=6)
    with_weight = [np.hstack([np.ones((len(S), 1)), S]) for S in (G, H)]
    for n_draws in (2, 16):
        kernel = KullbackLeibler(distribution="mixture", n_draws=n_draws)
        assert_close(kernel.divergences(*with_weight), KullbackLeibler(distribution="gaussian").divergences(G, H))


@pytest.mark.parametrize("n_draws", [16, 256, 4096])
@pytest.mark.parametrize("seed", range(5))
def test_monte_carlo_is_within_its_standard_error_of_the_integral(n_draws, seed):
    kernel = KullbackLeibler(distribution="mixture", n_components=2, n_draws=n_draws, random_state=seed)
    mean, sd = _integral(*TWO, 2)
    assert abs(kernel.divergences(TWO[:1], TWO[1:])[0, 0] - mean) < 3 * sd / np.sqrt(2 * n_draws)


def _integral(p, q, k):
    """Mean and standard deviation of log p / q under p, for mixtures of k Gaussians in one dimension."""
    p, q = ([part[0] for part in parts_of(mixture[None], k)] for mixture in (p, q))

    def moment(power):
        def integrand(x):
            logs = log_density(np.array([x]), *p), log_density(np.array([x]), *q)
            return np.exp(logs[0]) * (logs[0] - logs[1]) ** power

        return quad(integrand, -15, 15, limit=200)[0]

    return moment(1), np.sqrt(moment(2) - moment(1) ** 2)


def test_components_compared_one_by_one_bound_the_divergence():
    kernel = KullbackLeibler(distribution="adapted", n_components=2)
    for p, q in (TWO, TWO[::-1]):
        assert kernel.divergences(p[None], q[None])[0, 0] >= _integral(p, q, 2)[0]
    apart = TWO + np.array([0, 0, -30, 30, 0, 0])  # components that do not overlap
    exact = KullbackLeibler(distribution="mixture", n_components=2).divergences(apart[:1], apart[1:])
    np.testing.assert_allclose(kernel.divergences(apart[:1], apart[1:]), exact, rtol=1e-10)
    assert kernel.divergences(TWO, TWO).diagonal().max() < 1e-14


def test_a_component_without_weight_is_infinitely_far_from_one_with_weight():
    lacking = np.array([[1.0, 0.0, 0.5, 9.0, 2.0, 3.0]])
    kernel = KullbackLeibler(distribution="adapted", n_components=2)
    assert kernel.divergences(TWO, lacking).tolist() == [[np.inf], [np.inf]]
    w, m, v = (part[0] for part in parts_of(TWO[:1], 2))
    one = ((2.0 + (0.5 - m[0]) ** 2) / v[0] - np.log(2.0 / v[0]) - 1) / 2 - np.log(w[0])
    assert_close(kernel.divergences(lacking, TWO[:1]), one[None])
    assert kernel.divergences(lacking, lacking) == 0


def test_a_mixture_fitted_by_scikit_learn_is_read_as_it_is(rng):
    X = rng.standard_normal((400, 3)) * [1, 2, 3]
    p, q = (GaussianMixture(2, covariance_type="diag", random_state=0).fit(Y) for Y in (X[:200], X[200:] + 1))
    x = p.sample(20000)[0]
    logs = p.score_samples(x) - q.score_samples(x)
    kernel = KullbackLeibler(distribution="mixture", n_components=2, n_draws=2000)
    found = kernel.divergences(stacked(p)[None], stacked(q)[None])[0, 0]
    assert abs(found - logs.mean()) < 4 * logs.std() * np.sqrt(1 / 20000 + 1 / 4000)


def test_components_may_be_without_weight():
    lacking, doubled = np.array([[1.0, 0.0, 0.5, 9.0, 2.0, 3.0]]), np.array([[0.5, 0.5, 0.5, 0.5, 2.0, 2.0]])
    kernel = KullbackLeibler(distribution="mixture", n_components=2)
    assert_close(kernel.divergences(lacking, TWO), kernel.divergences(doubled, TWO))
    assert_close(kernel.divergences(TWO, lacking), kernel.divergences(TWO, doubled))


def test_the_value_of_a_pair_does_not_depend_on_the_pairs_around_it(rng):
    P = as_mixture(rng.standard_normal((60, 5)))
    kernel = kernel_of("mixture", n_draws=200).fit(P, P)
    D = kernel.divergences(P, P)
    order = rng.permutation(60)
    assert_close(kernel.divergences(P[order], P[order[:7]]), D[np.ix_(order, order[:7])])


def test_seeds_fix_the_draws(rng):
    P = rows_of("mixture", rng)
    first, same, other = (kernel_of("mixture", rate=1.0, random_state=seed)(P, P) for seed in (0, 0, 1))
    assert np.array_equal(first, same) and not np.array_equal(first, other)


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_divergences_survive_a_translation_far_from_the_origin(kind, rng):
    X = np.round(rng.standard_normal((6, 3)), 3)
    P = READ[kind](X)
    means = slice(0, 3) if kind == "gaussian" else slice(2, 8)
    far = P.copy()
    far[:, means] += 1e4
    assert_close(kernel_of(kind).divergences(far, far), kernel_of(kind).divergences(P, P), ulps=1e7)


GOOD = {kind: read(np.random.default_rng(0).standard_normal((6, 4))) for kind, read in READ.items()}


def spoiled(kind, column, value):
    P = GOOD[kind].copy()
    P[2, column] = value
    return P


@pytest.mark.parametrize(
    ("kind", "P", "message"),
    [
        ("discrete", spoiled("discrete", 1, -0.25), r"row 2 of . hold -0.25 at 1.*at least 0"),
        (
            "discrete",
            GOOD["discrete"] * 1.5,
            r"row . of . sum to 1.5.*sum to 1 within 1e-05.*divide each row by its sum",
        ),
        ("discrete", np.zeros((6, 4)), r"sum to 0;.*divide each row"),
        ("gaussian", spoiled("gaussian", 6, 0.0), "variance 2 of row 2 of . is 0;.*positive.*floor"),
        ("gaussian", spoiled("gaussian", 4, -1.5), "variance 0 of row 2 of . is -1.5;.*positive"),
        ("gaussian", GOOD["gaussian"][:, :7], "d means and d variances.*7 columns.*append the variances"),
        ("mixture", spoiled("mixture", 0, -0.25), "weights of row 2 of . hold -0.25 at 0"),
        ("mixture", spoiled("mixture", 0, 0.999 + GOOD["mixture"][2, 0]), "weights of row 2 of . sum to 1.999"),
        ("mixture", spoiled("mixture", 12, 0.0), "variance 2 of row 2 of . is 0"),
        ("mixture", GOOD["mixture"][:, :-1], r"n_components=2 is a row of n_components \(1 \+ 2 d\).*17 columns"),
        ("mixture", GOOD["mixture"][:, :2], "n_components=2.*2 columns"),
    ],
)
def test_rows_that_are_no_distributions_are_refused_on_either_side(kind, P, message):
    with pytest.raises(ValueError, match=message):
        kernel_of(kind)(P, P)
    if P.shape == GOOD[kind].shape:
        for kernel in (kernel_of(kind), kernel_of(kind).fit(GOOD[kind], GOOD[kind])):
            for sides in ((P, GOOD[kind]), (GOOD[kind], P)):
                with pytest.raises(ValueError, match=message):
                    kernel(*sides)


def test_mixtures_of_different_width_are_refused():
    wide = as_mixture(np.ones((6, 5)))
    with pytest.raises(ValueError, match="X has 22 columns and Z has 18"):
        kernel_of("mixture")(wide, GOOD["mixture"])
    with pytest.raises(ValueError, match="22 and 22 columns.*fitted on 18 and 18"):
        kernel_of("mixture").fit(GOOD["mixture"], GOOD["mixture"])(wide, wide)


@pytest.mark.parametrize(
    "parameters",
    [
        {"rate": 0.0},
        {"rate": -1.0},
        {"distribution": "poisson"},
        {"n_components": 0},
        {"n_draws": 1},
        {"random_state": "x"},
    ],
)
def test_parameters_out_of_bounds_are_refused(parameters):
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter of KullbackLeibler"):
        KullbackLeibler(**parameters)(GOOD["discrete"], GOOD["discrete"])


def test_mixtures_too_narrow_for_their_distance_are_refused():
    rows = np.array([[1, 0, 1e-2], [1, 1e3, 1e-2], [1, 1e3 + 0.1, 1e-2]])
    kernel = KullbackLeibler(1.0, distribution="mixture")
    assert_close(kernel.fit(rows, rows)(rows, rows)[1:, 1:], np.exp([[0, -0.5], [-0.5, 0]]), ulps=1e9)
    with pytest.raises(ValueError, match="float32; raise the variances, or use double precision"):
        kernel.fit(*2 * [rows.astype(np.float32)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaussians_far_from_the_others_keep_their_digits(dtype):
    rng = np.random.default_rng(0)
    far = 1e8 if dtype == np.float64 else 2.0**12
    X = np.column_stack([rng.standard_normal(1002), np.full(1002, 1e-2)]).astype(dtype)
    X[-2:, 0] = far, far + 0.125
    kernel = KullbackLeibler(distribution="gaussian")
    m, v = X.astype(float).T
    expected = (v[:, None] / v + (m[:, None] - m) ** 2 / v + np.log(v / v[:, None]) - 1) / 2
    found = kernel.divergences(X, X)
    np.testing.assert_allclose(found[-2:, -2:], [[0, 0.78125], [0.78125, 0]], rtol=1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-3)


def test_two_outliers_have_the_divergence_of_their_difference():
    X = np.column_stack([np.random.default_rng(0).standard_normal(1002), np.full(1002, 1e-2)])
    X[-2:, 0] = 1e8, 1e8 + 0.1
    found = KullbackLeibler(distribution="gaussian").divergences(X, X)[-2:, -2:]
    np.testing.assert_allclose(found, [[0, 0.5], [0.5, 0]], rtol=1e-6)
