"""Saved models: the same answers to the last bit, no code, and one line for every file that is not one."""

import hashlib
import json
import pickle
import tracemalloc
import zipfile
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cases
from lopsided import AsymmetricLSSVC, DirectedGraphEmbedding, KernelSVD, Nystrom, PriorNystroem
from lopsided.exceptions import SavedModelError
from lopsided.io import container, load, save, trusted_types
from lopsided.io.types import ROOMS, SKLEARN, class_of, name_of
from lopsided.kernels import RBF, SNE, Diffusion, Function, Katz, NodeKernel

METHODS = ("predict", "decision_function", "predict_proba", "transform")


def answers(model):
    X, _ = cases.data_for(model)
    found = {name: getattr(model, name)(X[:7]) for name in METHODS if hasattr(model, name)}
    if hasattr(model, "transform_right"):
        columns = getattr(model, "n_features_right_", X.shape[1]) == len(X)
        found["transform_right"] = model.transform_right(X.T[:7] if columns else X[:7])
    if hasattr(model, "score_edges"):
        found["score_edges"] = model.score_edges(range(20), range(20, 40))
        found["nearest_targets"] = model.nearest_targets(range(20), k=5)
    if hasattr(model, "recommend"):
        found["recommend"] = model.recommend(X[:7], k=3, new_only=False)
    return found


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys() and found
    for name, values in expected.items():
        assert np.asarray(found[name]).dtype == np.asarray(values).dtype, name
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.lopsided"


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("estimator", cases.ESTIMATORS, ids=repr)
def test_a_loaded_estimator_gives_the_same_answers_to_the_last_bit(estimator, mmap, file):
    model = cases.fitted(estimator)
    save(model, file)
    loaded = load(file, mmap=mmap)
    assert type(loaded) is type(model) and repr(loaded) == repr(model)
    assert vars(loaded).keys() == vars(model).keys()
    assert_same_bits(answers(loaded), answers(model))


@pytest.mark.parametrize("estimator", cases.ESTIMATORS, ids=repr)
def test_a_model_that_is_not_fitted_is_saved_with_its_parameters(estimator, file):
    save(estimator, file)
    assert repr(load(file).get_params()) == repr(estimator.get_params())


@pytest.mark.parametrize("name", cases.KERNELS)
def test_a_loaded_kernel_gives_the_same_values_to_the_last_bit(name, file, rng):
    X, Z = rng.standard_normal((12, 4)), rng.standard_normal((9, 4))
    kernel = clone(cases.KERNELS[name][0]).fit(X, Z)
    if isinstance(kernel, cases.Reading):
        X, Z, kernel = kernel.read(X), kernel.read(Z), kernel.kernel_
    if isinstance(kernel, Function):
        with pytest.raises(TypeError, match="Function.function is a function, leftish, and a saved model holds no"):
            save(kernel, file)
        return
    save(kernel, file)
    np.testing.assert_array_equal(load(file)(X, Z), kernel(X, Z))


@pytest.mark.parametrize("kernel", [Diffusion(direction="both"), Diffusion(direction="last"), Katz(), NodeKernel()])
def test_loaded_kernels_of_nodes_give_the_same_values(kernel, file):
    nodes = np.arange(30)[:, None]
    A = sparse.random_array((30, 30), density=0.1, rng=0, format="csr")
    kernel = clone(kernel).set_params(adjacency=A).fit(nodes, nodes)
    save(kernel, file)
    np.testing.assert_array_equal(load(file)(nodes, nodes), kernel(nodes, nodes))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_points_and_types_are_kept(kind, dtype, file):
    A = sparse.random_array((60, 60), density=0.1, rng=0, dtype=dtype)
    model = KernelSVD(4, kernel="sne", center=True).fit(kind(A))
    save(model, file)
    loaded = load(file)
    assert loaded.X_fit_.format == model.X_fit_.format and loaded.X_fit_.indices.dtype == model.X_fit_.indices.dtype
    assert_same_bits({"transform": loaded.transform(A)}, {"transform": model.transform(A)})


def test_points_of_both_sides_that_are_one_array_are_saved_once(file, rng):
    X = rng.random((500, 40))
    save(KernelSVD(n_components=1).fit(X, Z=X), file)
    assert file.stat().st_size < 1.2 * X.nbytes
    loaded = load(file)
    assert loaded.X_fit_ is loaded.Z_fit_


IDS = [
    ["ann", "bøb", "<script>", "x" * 10_000, ""],
    [1, "1", 2.5, True, ("a", 3)],
    [datetime(2020, 1, 2, 3), date(2021, 2, 3), timedelta(days=2, microseconds=5), b"\x00\xff", frozenset({1, 2})],
    [np.datetime64("2020-01-01T00:00:00.000000001", "ns"), np.int8(3), float("inf"), -7, "\ud800"],
]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_ids_of_nodes_are_kept_with_their_types(ids, file):
    model = DirectedGraphEmbedding(2, kernel="rbf").fit(np.eye(5, k=1) + np.eye(5, k=-4))
    model.nodes_ = np.fromiter(ids, object, 5)
    save(model, file)
    found = load(file).nodes_.tolist()
    assert found == ids and [type(node) for node in found] == [type(node) for node in ids]


def test_seeds_and_settings_of_output_are_kept(file, rng):
    model = PriorNystroem(n_components=5, random_state=np.random.RandomState(3)).set_output(transform="pandas")
    save(model, file)
    loaded = load(file)
    assert loaded.random_state.randint(1000) == np.random.RandomState(3).randint(1000)
    X = rng.random((30, 3))
    assert list(loaded.fit(X, np.arange(30) % 2).transform(X).columns)


def test_a_pipeline_with_types_of_scikit_learn_is_saved(file, rng):
    X, y = rng.random((40, 3)), np.arange(40) % 2
    model = make_pipeline(StandardScaler(), KernelSVD(3, kernel=SNE()), LogisticRegression()).fit(X, y)
    save(model, file)
    np.testing.assert_array_equal(load(file).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", SKLEARN)
def test_names_of_scikit_learn_are_those_of_classes(name):
    assert name_of(class_of(name)) == name


def test_names_of_classes_are_unique_in_their_room():
    names = [tuple(name.split(".")[i] for i in (1, -1)) for name in trusted_types()]
    assert len(set(names)) == len(names) > 50 and {room for room, _ in names} == {*ROOMS}


def test_skops_reads_models_with_the_trusted_types(tmp_path, rng):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    X = rng.random((40, 12))
    for model in (KernelSVD(kernel="sne", solver=Nystrom(9)), AsymmetricLSSVC(merge="stack")):
        model.fit(X, np.arange(40) % 2)
        skops.dump(model, tmp_path / "model.skops")
        unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
        assert {*unknown} <= {*trusted_types()}
        loaded = skops.load(tmp_path / "model.skops", trusted=trusted_types())
        method = "transform" if hasattr(model, "transform") else "predict"
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


# What is refused when it is saved.


class Mine(RBF):
    """A kernel of a user."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            KernelSVD(kernel=lambda X, Z: X @ Z.T),
            "KernelSVD.kernel is a function, .*lambda.*, and",
        ),
        (KernelSVD(kernel=np.tanh), "KernelSVD.kernel is a function, tanh, and"),
        (
            KernelSVD(kernel=Mine()),
            "KernelSVD.kernel is a test_saved_models.Mine, and saved",
        ),
        (KernelSVD(compatibility=np.ma.ones((2, 2))), "KernelSVD.compatibility is a MaskedArray"),
        (KernelSVD(compatibility=sparse.lil_array((2, 2))), "sparse in the format 'lil'; convert it with .tocsr()"),
        (RBF, "save takes an estimator or a kernel, not a ABCMeta"),
        ({"a": 1}, "save takes an estimator or a kernel, not a dict"),
    ],
)
def test_what_holds_code_is_refused_and_leaves_no_file(model, message, file):
    with pytest.raises(TypeError, match=message):
        save(model, file)
    assert not list(file.parent.iterdir())


def test_what_holds_itself_is_refused(file):
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match=r"KernelSVD.compatibility\[0\] contains itself"):
        save(KernelSVD(compatibility=loop), file)


def test_a_pipeline_that_names_a_folder_of_pickles_is_refused(file, tmp_path):
    with pytest.raises(SavedModelError, match="Pipeline.memory names a folder of pickles"):
        save(make_pipeline(RBF(), memory=str(tmp_path)), file)


def test_an_interrupted_save_leaves_the_file_that_was_there(file, monkeypatch):
    save(RBF(1.0), file)
    before = file.read_bytes()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(container.json, "dumps", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(RBF(2.0), file)
    assert file.read_bytes() == before and [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing can be written there: .*missing"):
        save(RBF(), tmp_path / "missing" / "model")


# What is refused when it is loaded. A hostile writer can compute hashes, so files are made with the right ones.


def written(file, tree, arrays=(), comment=None, **header):
    """A file as ``save`` would write it, of any tree."""
    container.write(file, tree, arrays, {})
    if comment is not None or header:
        members = {name: zipfile.ZipFile(file).read(name) for name in zipfile.ZipFile(file).namelist()}
        text = json.dumps(json.loads(members.pop("model.json")) | header).encode()
        with zipfile.ZipFile(file, "w") as out:
            out.writestr("model.json", text)
            out.comment = (comment or f"lopsided model 1 {hashlib.sha256(text).hexdigest()}").encode()
    return file


def rbf(**state):
    return {"type": "lopsided.kernels.RBF", "state": {"bandwidth": 1.0, **state}}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"type": "os.system", "state": {}}, "holds a 'os.system', which this version does not know"),
        ({"type": "lopsided.io.Graph", "fields": [1, 2]}, "holds a 'lopsided.io.Graph'"),
        ({"type": "lopsided.kernels.os.system", "state": {}}, "which this version does not know"),
        ({"type": "lopsided.kernels..RBF", "state": {}}, "which this version does not know"),
        ({"type": "sklearn.preprocessing.FunctionTransformer", "state": {}}, "which this version does not know"),
        ({"type": "lopsided.kernels.Kernel", "state": {}}, "altered or damaged .TypeError: .*abstract"),
        ({"type": "sklearn.pipeline.Pipeline", "state": {"memory": "x"}}, "names a folder of pickles"),
        ({"pickle": "gASV"}, "holds a 'pickle', which this version does not know"),
        ({"scalar": ["O", "00"]}, "values of type 'O'"),
        ({"array": 7}, "has no 7.npy"),
        ({"array": "../x"}, "altered or damaged"),
        ([1, 2], "holds a list, which is neither an estimator"),
        (rbf(bandwidth={"array": 0, "x": 1}), "altered or damaged"),
        ({"type": "lopsided.svd.Choice", "fields": []}, "altered or damaged"),
    ],
)
def test_trees_that_no_model_has_are_refused_in_one_line(tree, message, file):
    with pytest.raises(SavedModelError, match=message) as raised:
        load(written(file, tree))
    assert "\n" not in str(raised.value) and str(file) in str(raised.value)


def nested(depth):
    return "[" * depth + "]" * depth


def test_trees_of_any_depth_end_in_a_message(file):
    text = f'{{"model": {nested(100_000)}, "sha256": []}}'.encode()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("model.json", text)
        out.comment = f"lopsided model 1 {hashlib.sha256(text).hexdigest()}".encode()
    with pytest.raises(SavedModelError, match="altered or damaged .RecursionError"):
        load(file)


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1]), ([0, 1], [0, 1, 3]), ([0, 1], [0, 1])],
)
def test_sparse_matrices_that_point_outside_of_themselves_are_refused(indices, indptr, file):
    arrays = [np.ones(2), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)]
    tree = {"sparse": ["csr", "array", [2, 2]], "parts": [{"array": i} for i in range(3)]}
    with pytest.raises(SavedModelError, match="indices outside its shape"):
        load(written(file, rbf(bandwidth=tree), arrays))


def test_a_newer_format_says_so(file):
    with pytest.raises(SavedModelError, match="its format is 2, and this version reads up to 1; upgrade lopsided"):
        load(written(file, rbf(), comment="lopsided model 2 00"))


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"\x80\x04K\x01.", pickle.dumps({"a": 1})])
def test_a_file_of_another_kind_is_refused(content, file):
    file.write_bytes(content)
    with pytest.raises(SavedModelError, match="not a zip, or is cut short"):
        load(file)


def test_another_zip_is_refused(file):
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("model.json", "{}")
    with pytest.raises(SavedModelError, match="not one that lopsided.io.save wrote"):
        load(file)


def test_a_missing_file_is_a_missing_file(file):
    with pytest.raises(FileNotFoundError, match=file.name):
        load(file)


def test_a_zip_bomb_is_refused_before_it_is_read(file):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("model.json", bytes(1 << 28))
        out.comment = b"lopsided model 1 00"
    tracemalloc.start()
    with pytest.raises(SavedModelError, match="compressed, but lopsided.io.save compresses nothing"):
        load(file)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_an_array_that_claims_to_be_larger_than_its_bytes_is_refused(file):
    save(KernelSVD(1).fit(np.eye(9), Z=np.eye(9)), file)
    content = file.read_bytes()
    assert content.count(b"(9, 9)") == 1
    file.write_bytes(content.replace(b"(9, 9), }  ", b"(99, 99), }"))
    with pytest.raises(SavedModelError, match="hash differs|does not have the size it declares"):
        load(file)
    with pytest.raises(SavedModelError, match="does not have the size it declares"):
        load(file, verify=False)


@pytest.fixture(scope="module")
def bytes_of_a_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    save(KernelSVD(2).fit(np.random.default_rng(0).random((20, 3)), Z=np.random.default_rng(1).random((9, 3))), path)
    return path.read_bytes()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_refused(share, bytes_of_a_model, file):
    file.write_bytes(bytes_of_a_model[: int(share * len(bytes_of_a_model))])
    with pytest.raises(SavedModelError, match="cannot load"):
        load(file)


def test_every_altered_byte_is_noticed_or_changes_nothing(bytes_of_a_model, file):
    """Bytes that change nothing are dates, and padding before arrays."""
    file.write_bytes(bytes_of_a_model)
    X = np.random.default_rng(2).random((5, 3))
    expected = load(file).transform(X)
    for place in range(0, len(bytes_of_a_model), 7):
        altered = bytearray(bytes_of_a_model)
        altered[place] ^= 0x55
        file.write_bytes(altered)
        try:
            np.testing.assert_array_equal(load(file).transform(X), expected)
        except SavedModelError as error:
            assert "\n" not in str(error)


def test_files_with_bytes_before_them_are_refused(bytes_of_a_model, file):
    file.write_bytes(b"#!" + bytes_of_a_model)
    with pytest.raises(SavedModelError, match="is not where the file says it is"):
        load(file)


# Large files.


def test_a_large_model_is_mapped_and_not_read(file, monkeypatch, rng):
    monkeypatch.setattr(container, "VERIFIED_BYTES", 1 << 10)
    model = KernelSVD(2).fit(rng.random((20_000, 60)), Z=rng.random((5, 60)))
    save(model, file)
    tracemalloc.start()
    loaded = load(file)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20 < file.stat().st_size
    tracemalloc.stop()
    np.testing.assert_array_equal(loaded.X_fit_, model.X_fit_)


def test_damage_to_a_large_model_is_found_on_request(file, monkeypatch, rng):
    monkeypatch.setattr(container, "VERIFIED_BYTES", 1 << 10)
    save(KernelSVD(2).fit(rng.random((200, 9)), Z=rng.random((5, 9))), file)
    content = bytearray(file.read_bytes())
    content[3000] ^= 1
    file.write_bytes(content)
    load(file)
    with pytest.raises(SavedModelError, match=r"array \d.npy was altered or damaged: the hash differs"):
        load(file, verify=True)


def test_changes_of_a_loaded_model_stay_in_memory_and_saving_over_it_is_safe(file, rng):
    X = rng.random((30, 3))
    save(KernelSVD(2).fit(X, Z=X), file)
    before, loaded = file.read_bytes(), load(file)
    loaded.left_vectors_ *= 2
    assert file.read_bytes() == before
    save(loaded, file)
    np.testing.assert_array_equal(load(file).left_vectors_, loaded.left_vectors_)


def test_arrays_are_aligned_and_open_in_numpy(bytes_of_a_model, file):
    file.write_bytes(bytes_of_a_model)
    assert all(v.ctypes.data % 64 == 0 for v in vars(load(file)).values() if isinstance(v, np.ndarray))
    with np.load(file) as arrays:
        assert any(arrays[name].shape == (20, 3) for name in arrays.files if name != "model.json")


def test_a_model_of_another_scikit_learn_warns_as_its_pickle_does(file, rng):
    model = StandardScaler().fit(rng.random((5, 2)))
    encoder_state = model.__getstate__()
    assert "_sklearn_version" in encoder_state
    save(model, file)
    text = zipfile.ZipFile(file).read("model.json").decode()
    version = encoder_state["_sklearn_version"]
    file.write_bytes(b"")
    tree = json.loads(text.replace(f'"_sklearn_version":"{version}"', '"_sklearn_version":"0.1"'))["model"]
    arrays = [np.asarray(v) for v in vars(model).values() if isinstance(v, np.ndarray)]
    with pytest.warns(InconsistentVersionWarning, match="0.1"):
        load(written(file, tree, arrays))
