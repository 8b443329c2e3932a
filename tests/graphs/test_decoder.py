"""Laws of the decoder of edges: its scores, rankings and regression, against dense matrices and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler

from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import decoder as room, learn_decoder
from lopsided.graphs.decoder import EdgeDecoder, Formula, by_factors
from lopsided.graphs.kernel_choice import COSINE, FACTORS, LEARNED, STEP
from lopsided.graphs.learn_decoder import learned, learns_scores, with_better_ranking
from lopsided.graphs.logistic import fit_terms
from lopsided.graphs.nodes import known_nodes, some_nodes
from lopsided.graphs.parts import Part
from lopsided.graphs.trials import Trial

N, RANKS, TERMS = 30, (5, 3), ((FACTORS, STEP, COSINE), (COSINE,))
FORMULAS = {
    "all terms": (
        ({FACTORS: 0.5, STEP: 2.0, COSINE: 3.0}, {COSINE: 0.7}),
        ({FACTORS: -0.3, STEP: 0.4}, {COSINE: -2.0}),
    ),
    "steps": (({STEP: 1.5}, {}), ({}, {})),
    "cosines back": (({}, {}), ({COSINE: 1.5}, {COSINE: 0.5})),
    "factors and back": (({FACTORS: 1.5}, {COSINE: 0.2}), ({FACTORS: 1.0}, {})),
}
every_formula = pytest.mark.parametrize("terms", FORMULAS.values(), ids=FORMULAS)


def graph_of(rng):
    """Every node has edges, which are of different weights; few of them have their reverse."""
    A = rng.uniform(0.5, 2, (N, N)) * (rng.random((N, N)) < 0.1)
    A[np.arange(N), np.roll(np.arange(N), 1)] = rng.uniform(0.5, 2, N)
    return sparse.csr_array(A)


def parts_of(rng):
    """Two parts of different ranks in small whole numbers, so that scores tie; node 0 has no vector as a source."""
    found = []
    for rank, terms in zip(RANKS, TERMS, strict=True):
        U, V = rng.integers(-2, 3, (2, N, rank)).astype(float)
        U[0] = 0
        U[1, 0] = 0
        found.append(Part(None, U, 2.0 ** -np.arange(rank), V, None, terms))
    return found


def terms_of(part, A):
    """Every pair's value of each term, by dense algebra."""
    A, starts = A.toarray(), part.U * part.s
    P = A / A.sum(axis=1, keepdims=True)
    return {
        FACTORS: starts @ part.V.T,
        STEP: P @ starts @ part.V.T,
        COSINE: cosine_similarity(starts, part.V * part.s),
    }


def degrees_of(A):
    """Logarithms of the degrees of all pairs: out and into of the source, then of the target."""
    out, into = (np.log1p((A.toarray() != 0).sum(axis=axis)) for axis in (1, 0))
    rows, columns = np.indices((N, N))
    return np.stack([out[rows], into[rows], out[columns], into[columns]])


def scores_of(formula, parts, A):
    """Scores of all pairs, as the docstring of the decoder defines them."""
    S = formula.constant + np.tensordot(formula.degree, degrees_of(A), 1) + formula.reverse * (A.toarray().T != 0)
    for part, forward, backward in zip(parts, formula.forward, formula.backward, strict=True):
        values = terms_of(part, A)
        S = S + sum(weight * values[term] for term, weight in forward.items())
        S = S + sum(weight * values[term].T for term, weight in backward.items())
    return S


def formula_of(terms, ranking=LEARNED):
    return Formula(*terms, np.array([0.3, -0.2, 0.5, 0.1]), 0.7, -1.5, ranking)


@pytest.fixture
def embedded(rng):
    return parts_of(rng), graph_of(rng)


def decoder_of(formula, embedded, width=RANKS[0]):
    parts, A = embedded
    return EdgeDecoder(formula._replace(width=width), parts, known_nodes(parts, A))


def all_pairs():
    return tuple(side.ravel() for side in np.indices((N, N)))


@every_formula
@pytest.mark.parametrize("pairs_at_once", [6, 50, 10**6])
def test_scores_of_pairs_are_those_of_the_formula_in_blocks_that_fit(terms, pairs_at_once, embedded, monkeypatch):
    formula, (parts, A), held = formula_of(terms), embedded, []
    sources = EdgeDecoder.sources
    monkeypatch.setattr(EdgeDecoder, "sources", lambda *given: held.append(found := sources(*given)) or found)
    most = pairs_at_once * 8 * 4 * sum(RANKS)  # no more than four vectors of each part: two kinds, two ways
    monkeypatch.setattr(room, "BLOCK_BYTES", most)
    decoder, (u, v) = decoder_of(formula, embedded), all_pairs()
    order = np.random.default_rng(1).permutation(len(u))
    found = decoder.of_pairs(decoder.known, u[order], v[order])
    np.testing.assert_allclose(found, scores_of(formula, parts, A).ravel()[order], rtol=1e-10, atol=1e-10)
    assert max(each[:, :-2].nbytes for each in held) <= most
    assert len(held) <= 2 * len(u) / pairs_at_once + 1
    assert decoder.of_pairs(decoder.known, u[:0], v[:0]).shape == (0,)


@every_formula
def test_products_of_edge_vectors_are_the_scores_without_reverse_edges(terms, embedded):
    formula, (parts, A) = formula_of(terms), embedded
    decoder = decoder_of(formula, embedded)
    found = decoder.sources(decoder.known) @ decoder.targets(decoder.known).T
    np.testing.assert_allclose(found, scores_of(formula._replace(reverse=0), parts, A), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("width", [1, 3, 4])
def test_triplets_beyond_the_width_do_not_score(width, embedded):
    formula, (parts, A) = formula_of(FORMULAS["all terms"]), embedded
    short = [Part(None, one.U[:, :width], one.s[:width], one.V[:, :width], None, one.terms) for one in parts]
    decoder = decoder_of(formula, embedded, width)
    found = decoder.of_pairs(decoder.known, *all_pairs()).reshape(N, N)
    np.testing.assert_allclose(found, scores_of(formula, short, A), rtol=1e-10, atol=1e-10)


def assert_best(found, S):
    """The best columns of each row of scores, best first, and their scores."""
    best, values = found
    np.testing.assert_allclose(values, -np.sort(-S, axis=1)[:, : values.shape[1]], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.take_along_axis(S, best, axis=1), values, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("ranking", [FACTORS, LEARNED])
def test_best_targets_are_those_of_all_pairs(ranking, embedded):
    """By factors, of all triplets, for nodes that have any; and else by the scores."""
    formula, (parts, A), rows = formula_of(FORMULAS["all terms"], ranking), embedded, np.array([0, 1, 5, 9, 20])
    S, left_out = scores_of(formula, parts, A), np.random.default_rng(2).random((len(rows), N)) < 0.3
    decoder = decoder_of(formula, embedded)
    if ranking == FACTORS:
        S[1:] = terms_of(parts[0], A)[FACTORS][1:]
    found = decoder.best_targets(some_nodes(decoder.known, rows), 4, sparse.csr_array(left_out))
    assert_best(found, np.where(left_out, -np.inf, S[rows]))


def test_a_width_for_scores_does_not_shorten_the_factors_that_rank(embedded):
    formula, (parts, A) = formula_of(FORMULAS["all terms"], FACTORS), embedded
    decoder = decoder_of(formula, embedded, width=1)
    found = decoder.best_targets(some_nodes(decoder.known, slice(1, N)), 3, sparse.csr_array((N - 1, N)))
    assert_best(found, terms_of(parts[0], A)[FACTORS][1:])


def test_nodes_that_score_all_targets_alike_are_counted(embedded):
    """Only factors that are zero score alike, whichever other part there is."""
    decoder = decoder_of(by_factors(2), embedded)
    with pytest.warns(LopsidedWarning, match="^1 node scores every target alike"):
        found = decoder.best_targets(decoder.known, 2, sparse.csr_array((N, N)))
    assert_best(found, terms_of(embedded[0][0], embedded[1])[FACTORS])


def trial_of(parts, A, rng, hidden=20, others=50):
    """Edges and other pairs of a graph, those without which the parts were learned."""
    u, v = (side.astype(np.int64) for side in rng.integers(0, N, (2, hidden)))
    pairs = rng.integers(0, N, (2, others))
    return Trial(A, (u, v), (pairs[0], pairs[1]), (u, v))


@pytest.mark.parametrize("reverse", [0.0, 1.0, -1.0])
@pytest.mark.parametrize(("most", "ranked"), [(N, 20), (13, 20), (N, 11)], ids=["all", "some targets", "some edges"])
@pytest.mark.parametrize("short_list", [0, 3, 6])
def test_recalls_are_counts_of_targets_that_few_others_beat(short_list, most, ranked, reverse, embedded, monkeypatch):
    """Others are neither the node nor its targets; a tie counts against the hidden one; of fewer nodes, fewer count."""
    (parts, A), made, sources = embedded, [], EdgeDecoder.sources
    for name, value in {"SHORT_LIST": short_list, "RANKED_TARGETS": most, "RANKED_EDGES": ranked}.items():
        monkeypatch.setattr(learn_decoder, name, value)
    monkeypatch.setattr(learn_decoder, "MOST_RANKING", 7 * 24 * most)
    monkeypatch.setattr(EdgeDecoder, "sources", lambda *given: made.append(found := sources(*given)) or found)
    formula = Formula(({FACTORS: 0.5}, {}), ({FACTORS: 0.5}, {}), reverse=reverse)
    trial = trial_of(parts, A, np.random.default_rng(3))
    others, length = np.linspace(0, N - 1, most).astype(int), max(1, round(short_list * most / N))
    scores = scores_of(formula, parts, A), terms_of(parts[0], A)[FACTORS]
    for S, found in zip(scores, learn_decoder._recalls(formula, parts, trial), strict=True):
        edges = list(zip(*(side[:ranked] for side in trial.hidden), strict=True))
        rivals = [[j for j in others if j not in (u, v) and A[u, j] == 0] for u, v in edges]
        beaten = [np.sum(S[u, rival] >= S[u, v]) for (u, v), rival in zip(edges, rivals, strict=True)]
        assert found == np.mean(np.array(beaten) < length)
    assert max(map(len, made)) <= 7 and len(made) <= 4 * -(-ranked // 7)  # of two decoders, for rows and for pairs


def test_scores_rank_unless_factors_rank_better(embedded):
    parts, A = embedded
    best = terms_of(parts[0], A)[FACTORS].argmax(axis=1)
    trial = Trial(A, (np.arange(1, N), best[1:]), (best[1:], np.arange(1, N)), (best, best))
    same, opposite = (Formula(({FACTORS: size}, {}), ({}, {}), ranking=LEARNED) for size in (2.0, -2.0))
    assert with_better_ranking(same, [parts], [trial]).ranking == LEARNED
    assert with_better_ranking(opposite, [parts], [trial]) == opposite._replace(ranking=FACTORS)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_learned_is_the_optimum_of_the_penalised_likelihood(count, embedded):
    """Its gradient vanishes in units of the spread, or points below zero where a forward term has no weight."""
    rng, (parts, A) = np.random.default_rng(5), embedded
    seen, parts_seen = [trial_of(parts, A, rng), trial_of(parts, A.T.tocsr(), rng, 30, 20)], [parts, parts_of(rng)]
    seen, parts_seen = seen[:count], parts_seen[:count]
    formula, n_terms = learned(parts_seen, seen), sum(map(len, TERMS))
    assert formula.ranking == LEARNED and [tuple(own) for own in formula.forward] == list(TERMS)
    columns, labels, scores = [], [], []
    for trial, own in zip(seen, parts_seen, strict=True):
        values = [terms_of(part, trial.adjacency)[term] for part in own for term in part.terms]
        both = [*values, *(each.T for each in values), *degrees_of(trial.adjacency), trial.adjacency.toarray().T != 0]
        for pairs, label in ((trial.hidden, True), (trial.negative, False)):
            columns.append(np.column_stack([each[pairs] for each in both]))
            labels.append(np.full(len(pairs[0]), label))
            scores.append(scores_of(formula, own, trial.adjacency)[pairs])
    X, y, score = np.concatenate(columns), np.concatenate(labels), np.concatenate(scores)
    ways = [[weight for own in terms for weight in own.values()] for terms in (formula.forward, formula.backward)]
    weights = np.array([*ways[0], *ways[1], *formula.degree, formula.reverse])
    gradient = (X - X.mean(axis=0)).T @ (expit(score) - y) / X.std(axis=0) + weights * X.std(axis=0)
    at_zero = (np.arange(len(weights)) < n_terms) & (weights == 0)
    assert at_zero.any() and (weights[:n_terms] >= 0).all() and (weights[n_terms:] < 0).any()
    np.testing.assert_allclose(np.where(at_zero, np.minimum(gradient, 0), gradient), 0, atol=1e-3 * len(y))
    assert expit(score).sum() == pytest.approx(y.sum(), rel=1e-3)


def test_pairs_that_are_all_edges_teach_nothing(embedded):
    parts, A = embedded
    trial = trial_of(parts, A, np.random.default_rng(6), others=0)
    assert learned([parts], [trial]).forward == by_factors(2).forward == ({FACTORS: 1.0}, {})


@pytest.mark.parametrize("width", [1, 2, 4, 16])
def test_only_triplets_that_tell_edges_are_used(width, rng):
    """Of sixteen triplets that weigh alike, all edges depend on the leading ones."""
    U, V = rng.standard_normal((2, 300, 16))
    is_edge = expit(4 * width**-0.5 * U[:, :width] @ V[:, :width].T) > rng.random((300, 300))
    edges, others = (tuple(rng.permutation(np.argwhere(each))[:1000].T) for each in (is_edge, ~is_edge))
    A = sparse.csr_array(rng.random((300, 300)) < 0.05, dtype=float)
    part = Part(None, U, np.ones(16), V, None, (FACTORS, STEP, COSINE))
    assert learned([[part]], [Trial(A, edges, others, edges)]).width == width


@pytest.mark.parametrize("least", [-1.0, 0.0, 0.5])
def test_scores_are_learned_of_weights_that_are_not_negative(least):
    A = sparse.csr_array(([1.0, least], ([0, 1], [1, 0])), shape=(2, 2))
    assert not learns_scores(FACTORS, A)
    assert learns_scores("auto", A) == (least >= 0)
    if least >= 0:
        assert learns_scores(LEARNED, A)
    else:
        with pytest.raises(ValueError, match="needs weights >= 0.*the least is -1"):
            learns_scores(LEARNED, A)


@pytest.fixture
def pairs(rng):
    X = rng.standard_normal((300, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
    score = X @ [1.0, -0.2, 4.0, 0.0] + 0.5
    return X, (score + rng.logistic(size=300) > 0).astype(int)


def test_free_coefficients_are_those_of_scikit_learn(pairs):
    X, y = pairs
    weights, constant = fit_terms(X, y, n_positive=0)
    scaler = StandardScaler().fit(X)
    expected = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(scaler.transform(X), y)
    np.testing.assert_allclose(weights, expected.coef_[0] / scaler.scale_, rtol=1e-3, atol=1e-4)
    scores = X @ weights + constant
    np.testing.assert_allclose(scores, expected.decision_function(scaler.transform(X)), rtol=1e-3, atol=1e-2)


def test_coefficients_of_kernels_are_not_negative_and_the_others_are_free(pairs):
    X, y = pairs
    weights, _ = fit_terms(X, y, n_positive=2)
    assert weights[0] > 0 and weights[1] == 0 and weights[2] > 0
    rest, _ = fit_terms(X[:, [0, 2, 3]], y, n_positive=1)
    np.testing.assert_allclose(weights[[0, 2, 3]], rest, rtol=1e-3, atol=1e-4)
    assert fit_terms(X[:, [0, 2, 1]], y, n_positive=2)[0][2] < 0


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
def test_coefficients_of_both_ways_together_are_not_negative(pairs, scale):
    """Bounds hold in the units of the columns, and change nothing where they are slack."""
    X, y = pairs
    X = X[:, [0, 2, 1, 3]] * [1.0, 1.0, scale, 1.0]  # the third column, the first way back, asks for -0.2 / scale
    free, _ = fit_terms(X, y, n_positive=2)
    weights, constant = fit_terms(X, y, n_positive=2, both_ways=True)
    assert (weights[:2] >= 0).all() and (weights[:2] + weights[2:] >= -1e-12 * np.abs(weights[:2])).all()
    if (free[:2] + free[2:] > 0).all():
        np.testing.assert_allclose(weights, free, rtol=1e-3, atol=1e-4)
    else:
        assert weights[0] + weights[2] == pytest.approx(0, abs=1e-12 * weights[0])
    assert np.isfinite(constant)


def test_a_column_without_spread_gets_no_weight(pairs):
    X, y = pairs
    weights, _ = fit_terms(np.column_stack([X, np.full(len(X), 3.0)]), y, n_positive=0)
    assert weights[-1] == 0


@pytest.mark.parametrize("n_positive", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_of_few_pairs_the_penalty_counts(seed, n_positive):
    """In units of the spread the gradient vanishes, or points below zero where that is the bound."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4)) * [1.0, 10.0, 0.1, 3.0]
    y = X @ [1.0, -0.2, 4.0, 0.0] + rng.logistic(size=30) > 0
    weights, constant = fit_terms(X, y.astype(int), n_positive)
    gradient = (X - X.mean(axis=0)).T @ (expit(X @ weights + constant) - y) / X.std(axis=0) + weights * X.std(axis=0)
    at_zero = (np.arange(4) < n_positive) & (weights == 0)
    np.testing.assert_allclose(np.where(at_zero, np.minimum(gradient, 0), gradient), 0, atol=1e-3)
