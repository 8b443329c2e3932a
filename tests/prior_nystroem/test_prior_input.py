"""PriorNystroem in pipelines, with input of every kind, and with input that it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from noisy_classes import noisy, with_gaps
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cases import assert_close
from lopsided import PriorNystroem, SelfTrainedFeatures
from lopsided.exceptions import LopsidedWarning, RankWarning
from lopsided.kernels import RBF, Laplacian, Tanh

X, Y = noisy(np.random.default_rng(0), n=40, width=6)
LINKS = [(0, 1), (2, 3)]
BAD = {
    "not_symmetric": ({"kernel": "sne"}, {"y": Y}, "SNE.*use RBF.*fit\\(X, Z=Z\\).*KernelSVD"),
    "asymmetric_function": ({"kernel": lambda A, B: A[:, :1] - 2 * B[:, :1].T}, {"y": Y}, "not a symmetric"),
    "indefinite": ({"kernel": Tanh(1.0, -3.0)}, {"y": Y}, "eigenvalue -.*use RBF"),
    "values": ({"kernel": "precomputed"}, {"y": Y}, "Precomputed.*of points"),
    "values_of_two_sets": ({"kernel": "precomputed"}, {"y": Y, "Z": X, "y_right": Y}, "matrix of values"),
    "a_table_of_two_sets": ({"kernel": "association"}, {"y": Y, "Z": X, "y_right": Y}, "matrix of values"),
    "zero": ({"kernel": lambda A, B: np.zeros((len(A), len(B)))}, {"y": Y}, "zero between all landmarks"),
    "contradiction": (
        {},
        {"pairs": (LINKS, [(3, 2)])},
        r"1 pair is in both must_link and.*\(2, 3\)",
    ),
    "apart_from_itself": ({}, {"pairs": (LINKS, [(4, 4)])}, r"\(4, 4\), but a sample is always linked to itself"),
    "out_of_range": ({}, {"pairs": ([(0, 40)], LINKS)}, "must_link has row numbers from 40 to 40.*0 to 39"),
    "negative": ({}, {"pairs": (LINKS, [(-1, 3)])}, "cannot_link has row numbers from -1"),
    "right_out_of_range": ({}, {"Z": X, "pairs": (LINKS, [(0, 40)])}, "cannot_link has.*40, but rows of Z are 0 to 39"),
    "floats": ({}, {"pairs": ([(0.0, 1.0)], LINKS)}, "integer row numbers.*float64"),
    "triples": ({}, {"pairs": ([(0, 1, 2)], LINKS)}, r"shape \(p, 2\); got \(1, 3\)"),
    "no_pairs": ({}, {"pairs": ([], [])}, "pairs is empty"),
    "one_list": ({}, {"pairs": (LINKS,)}, "must_link, cannot_link"),
    "both": ({}, {"y": Y, "pairs": (LINKS, [])}, "both labels and pairs"),
    "labels_of_one_side": ({}, {"y": Y, "Z": X}, "also give y_right, the labels of Z, or give pairs"),
    "labels_of_the_other_side": ({}, {"y_right": Y, "Z": X}, "also give y, the labels of X"),
    "y_right_alone": ({}, {"y": Y, "y_right": Y}, "give Z"),
    "short": ({}, {"y": Y[:10]}, "inconsistent numbers of samples"),
    "continuous": ({}, {"y": np.linspace(0, 1, 40)}, "Unknown label type"),
    "masked": ({}, {"y": np.ma.masked_array(Y, np.arange(40) == 3)}, "y has 1 masked entry"),
    "mixed": ({}, {"y": np.array(["a", 3] * 20, dtype=object)}, "mixes labels of types int, str"),
    "weight": ({"prior_weight": 0.0}, {"y": Y}, "prior_weight.*Got 0.0"),
    "nan_weight": ({"prior_weight": np.nan}, {"y": Y}, "prior_weight.*Got nan"),
    "roughness": ({"smoothness": -1.0}, {"y": Y}, "smoothness.*Got -1.0"),
    "smooth_sides": ({"smoothness": 2.0}, {"Z": X}, "smoothness=2.0 compares samples of one set"),
    "no_landmarks": ({"n_components": 0}, {"y": Y}, "n_components.*Got 0"),
    "strange_landmarks": ({"landmarks": "leverage"}, {"y": Y}, "landmarks.*kmeans"),
    "landmark_twice": ({"landmarks": [1, 1]}, {"y": Y}, "landmark 1 is named 2 times"),
    "landmark_width": ({"landmarks": np.ones((4, 2))}, {"y": Y}, "2.*6|6.*2"),
    "one_side": ({"landmarks": np.ones((4, 6))}, {"Z": X}, "pair, left and right; got 4"),
    "width": ({}, {"Z": np.ones((20, 3))}, "compares vectors of one width.*6 columns.*3"),
}


def test_labels_may_be_numbers_or_text(rng):
    X, y = noisy(rng)
    known = with_gaps(y, 60)
    names = np.array(["no", "yes"])
    text = np.where(known < 0, "-1", names[known])
    mixed = text.astype(object)
    mixed[mixed == "-1"] = -1
    models = [PriorNystroem(20, random_state=0, prior_weight=1e-6).fit(X, labels) for labels in (known, text, mixed)]
    for model in models[1:]:
        assert_close(model.dictionary_, models[0].dictionary_)
        assert list(model.classes_) == ["no", "yes"]


def test_default_bandwidth_is_the_mean_distance(rng):
    X, Z = rng.standard_normal((30, 4)) + 5, rng.standard_normal((20, 4))
    for left, right in ((X, None), (X, Z), (sparse.csr_array(X), sparse.csr_array(Z))):
        model = PriorNystroem(10, landmarks="uniform").fit(left, Z=right)
        expected = euclidean_distances(X, X if right is None else Z, squared=True).mean()
        assert model.kernel_.bandwidth_**2 == pytest.approx(expected)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("scale", "dtype", "message"),
    [
        (1e-300, float, "2 / ban"),
        (1e-30, np.float32, "2 / ban"),
        (1e160, float, "overflow"),
        (1e20, np.float32, "over"),
    ],
)
def test_samples_whose_squares_leave_the_range_of_floats_are_refused(scale, dtype, message, kind, rng):
    X = (scale * rng.standard_normal((30, 4))).astype(dtype)
    with pytest.raises(ValueError, match=f"{message}.*scale the data"), np.errstate(over="ignore", invalid="ignore"):
        PriorNystroem(10, landmarks="uniform").fit(kind(X))


def test_sparse_samples_give_what_dense_ones_do(rng):
    X = rng.standard_normal((120, 30)) * (rng.random((120, 30)) < 0.2)
    y = (X[:, 0] > 0).astype(int)
    rows = np.arange(0, 120, 4)
    dense, thin = (
        PriorNystroem(landmarks=rows, prior_weight=1e-5).fit(points, y) for points in (X, sparse.csr_array(X))
    )
    assert_close(thin.transform(sparse.csr_array(X)), dense.transform(X), 1e9)
    assert PriorNystroem(20).fit(sparse.csr_array(X), y).transform(sparse.csr_array(X)).shape == (120, 20)


def test_type_is_kept_threads_change_nothing_and_models_pickle(rng):
    X, y = noisy(rng)
    one, two = (PriorNystroem(30, random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_close(two.transform(X), one.transform(X), 1e6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).transform(X), one.transform(X))
    small = PriorNystroem(30, random_state=3).fit(X.astype(np.float32), y)
    assert small.transform(X.astype(np.float32)).dtype == np.float32


def test_pipelines_and_grid_searches_reach_its_parameters(rng):
    X, y = noisy(rng, n=150)
    pipe = make_pipeline(PCA(10), PriorNystroem(20, random_state=0), LogisticRegression())
    grid = {"priornystroem__prior_weight": [1e-6, np.inf], "priornystroem__kernel": [RBF(4.0), Laplacian(9.0)]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7
    names = PriorNystroem(5, random_state=0).fit(X, y).get_feature_names_out()
    assert list(names) == [f"priornystroem{i}" for i in range(5)]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([-1] * 40, "hold no label.*plain Nystrom"),
        ([-1, 1] * 20, "one class only, 1.*-1 means no label"),
        (["a"] * 40, "one class only, a"),
    ],
)
def test_labels_of_fewer_than_two_classes_give_the_plain_method_and_a_warning(labels, message):
    plain = PriorNystroem(20).fit(X)
    with pytest.warns(LopsidedWarning, match=message):
        model = PriorNystroem(20).fit(X, labels)
    np.testing.assert_array_equal(model.transform(X), plain.transform(X))
    assert model.prior_weight_ == plain.prior_weight_ == np.inf
    assert "no labels or pairs" in model.solver_.reason


def test_every_sample_is_a_landmark_if_more_are_asked_for(rng):
    X, y = noisy(rng, n=15)
    with pytest.warns(RankWarning, match="100 landmarks exceed the 15 samples"):
        model = PriorNystroem().fit(X, y)
    assert model.components_.shape == (15, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PriorNystroem(15).fit(X, y)


def test_landmarks_that_repeat_change_nothing(rng):
    X, y = noisy(rng)
    settings, twice = {"kernel": RBF(6.0), "prior_weight": np.inf}, np.vstack([X[:20], X[:20]])
    plain, same = (PriorNystroem(landmarks=points, **settings).fit(X, y) for points in (X[:20], twice))
    assert_close(same.learned_kernel(X, X), plain.learned_kernel(X, X), 1e7)
    assert np.isfinite(PriorNystroem(kernel=RBF(6.0), landmarks=twice).fit(X, y).transform(X)).all()


@pytest.mark.parametrize(("parameters", "arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(parameters, arguments, message):
    before = X.copy()
    with pytest.raises(ValueError, match=message):
        PriorNystroem(**{"n_components": 12, **parameters}).fit(X, **arguments)
    assert (before == X).all()


def test_right_samples_of_another_width_are_refused(rng):
    model = PriorNystroem(10).fit(X, Z=X[:20])
    with pytest.raises(ValueError, match="Z has 2 columns, but right points have 6"):
        model.transform_right(X[:, :2])


def test_columns_of_right_samples_are_checked_by_name(rng):
    X = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("abc"))
    turned = X[["c", "a", "b"]]
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in X"):
        PriorNystroem(10).fit(X, Z=turned)
    model = PriorNystroem(10).fit(X, Z=X)
    assert model.n_features_right_ == 3
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in the Z of fit"):
        model.transform_right(turned)
    assert_close(model.transform_right(X.to_numpy()), model.transform_right(X), 1)
    of_function = PriorNystroem(10, kernel=lambda X, Z: np.exp(X[:, :1] @ Z[:, :1].T))
    for width in (2, 3):  # what a function compares is its own affair
        assert of_function.fit(X, Z=turned.iloc[:, :width]).n_features_right_ == width


@pytest.mark.parametrize("two_sets", [False, True])
def test_features_of_both_sides_are_framed_as_asked_and_kernels_are_arrays(two_sets, rng):
    left, right = (pd.DataFrame(rng.standard_normal((n, 3)), index=range(n, 0, -1)) for n in (40, 30))
    model = PriorNystroem(10).fit(left, Z=right if two_sets else None)
    values, kernel = model.transform_right(right), model.learned_kernel(left, right)
    framed = model.set_output(transform="pandas").transform_right(right)
    assert list(framed.columns) == list(model.get_feature_names_out()) and framed.index.equals(right.index)
    np.testing.assert_array_equal(framed.to_numpy(), values)
    np.testing.assert_array_equal(model.learned_kernel(left, right), kernel)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_values_and_not_identities_of_samples_matter(kind):
    points = kind(X)
    model, other = (PriorNystroem(12).fit(points, Y, Z=right, y_right=Y) for right in (points, points.copy()))
    for left, right in ((model, other), (model, PriorNystroem(12).fit(points.copy(), Y, Z=points, y_right=Y))):
        np.testing.assert_array_equal(left.dictionary_, right.dictionary_)
        np.testing.assert_array_equal(left.transform(points), right.transform(points))
        np.testing.assert_array_equal(left.transform_right(points), right.transform_right(points))


@pytest.mark.parametrize("dtype", ["string", object])
def test_labels_that_pandas_calls_missing_are_no_labels(dtype):
    y = np.where(np.arange(40) % 2, "a", "b").astype(object)
    y[::4] = None
    expected = PriorNystroem(10).fit(X, y)
    y[::4] = pd.NA
    model = PriorNystroem(10).fit(X, pd.Series(y, dtype=dtype))
    np.testing.assert_array_equal(model.transform(X), expected.transform(X))
    assert set(SelfTrainedFeatures(PriorNystroem(10)).fit(X, pd.Series(y, dtype=dtype)).labels_) == {"a", "b"}


NAMES = [None, "a", "b", "b"] * 10
DAYS = np.array(["NaT", "2001-01-01", "2001-01-02", "2001-01-02"] * 10, dtype="datetime64[D]")


@pytest.mark.parametrize(
    "y",
    [
        [np.nan if name is None else name for name in NAMES],
        [-1 if name is None else np.str_(name) if number % 3 else name for number, name in enumerate(NAMES)],
        DAYS,
        [None if name is None else [0, np.int64(1)][name == "b"] for name in NAMES],
    ],
    ids=["nan in a list", "-1 in a list", "days", "numbers of two types"],
)
def test_a_missing_label_is_not_a_class(y):
    expected, model = PriorNystroem(10).fit(X, np.array(NAMES, dtype=object)), PriorNystroem(10).fit(X, y)
    assert len(model.classes_) == 2
    np.testing.assert_array_equal(model.transform(X), expected.transform(X))
    twice = SelfTrainedFeatures(PriorNystroem(10), max_labelled=3).fit(X, y)
    assert len(twice.features_.classes_) == 2 and twice.n_self_labelled_ == 3


def test_self_training_checks_the_names_of_columns():
    table = pd.DataFrame(X, columns=list("abcdef"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SelfTrainedFeatures(PriorNystroem(10)).fit(table, Y)
        assert_close(model.transform(table), SelfTrainedFeatures(PriorNystroem(10)).fit(X, Y).transform(X))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(table[table.columns[::-1]])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array, pd.DataFrame, lambda X: X.astype(int)])
def test_self_training_takes_features_of_every_kind(kind):
    counts, known = np.abs(np.round(3 * X)), with_gaps(Y, 20)
    dense, other = FunctionTransformer(), FunctionTransformer(kind)
    one, two = (SelfTrainedFeatures(features).fit(counts, known) for features in (dense, other))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert two.n_self_labelled_ == 20


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_self_training_takes_a_column_of_labels():
    known = with_gaps(Y, 20)
    one, other = (SelfTrainedFeatures(PriorNystroem(10)).fit(X, y) for y in (known, known[:, None]))
    np.testing.assert_array_equal(one.labels_, other.labels_)
