"""The contract of the whole library: scikit-learn's checks, documentation, and a light import."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import cases
import lopsided
from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    KernelBiclustering,
    KernelSVD,
    Nystrom,
    PriorNystroem,
    biclustering,
    graphs,
    images,
    io,
    kernel_svd,
    kernels,
    nystrom,
    operators,
    plotting,
    recommendation,
    svd,
)

SOURCE = Path(lopsided.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
PUBLIC = [
    (module, name)
    for module in (
        lopsided,
        kernels,
        operators,
        svd,
        nystrom,
        kernel_svd,
        io,
        biclustering,
        images,
        graphs,
        plotting,
        recommendation,
    )
    for name in module.__all__
    if callable(getattr(module, name))
]
ESTIMATORS = [
    getattr(lopsided, name)
    for name in lopsided.__all__
    if inspect.isclass(getattr(lopsided, name)) and issubclass(getattr(lopsided, name), BaseEstimator)
    if hasattr(getattr(lopsided, name), "fit")
]


def choices_see_repeated_samples(estimator):
    """Checks that need not hold: choices leave a sample out whole, but of two equal samples only one."""
    chooses = isinstance(estimator, AsymmetricLSSVC | AsymmetricLSSVR) and estimator._holds_out
    reason = "leaving out one of two equal samples is not leaving out one of weight two"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse") if chooses}


@pytest.mark.filterwarnings("ignore:100 landmarks exceed:lopsided.exceptions.RankWarning")
@pytest.mark.filterwarnings("ignore:of [0-9]+ samples the labels hold:lopsided.exceptions.LopsidedWarning")
@parametrize_with_checks(
    [
        *(estimator() for estimator in ESTIMATORS if estimator().__sklearn_tags__().input_tags.two_d_array),
        KernelSVD(kernel="sne", center=True),
        KernelSVD(kernel="linear", compatibility="pinv"),
        KernelSVD(kernel="student_t", compatibility="random", random_state=0),
        KernelSVD(n_components=0.9, kernel="laplacian", scaling=0.5),
        KernelSVD(1, kernel="sne", solver=Nystrom(landmarks="leverage", denominators="landmarks")),
        AsymmetricLSSVC(C=[0.1, 1.0, 10.0], kernel="rbf"),
        AsymmetricLSSVC(kernel="student_t", merge="stack"),
        AsymmetricLSSVC(solver="minres", merge="target"),
        AsymmetricLSSVR(C=[1.0, 100.0], kernel="rbf"),
        AsymmetricLSSVR(C=10.0, merge="stack"),
        AsymmetricLSSVC(0.1, kernel=kernels.RBF(3.0), class_weight="balanced"),
        AsymmetricLSSVR(1.0, kernel=kernels.Laplacian(3.0)),
        KernelBiclustering((2, 2), weighting="tfidf"),
        KernelBiclustering(2, joint=True),
        PriorNystroem(n_components=3, landmarks="uniform", prior_weight="alignment", prior_metric="landmarks"),
    ],
    expected_failed_checks=choices_see_repeated_samples,
)
@pytest.mark.filterwarnings("ignore:n_clusters=3 exceeds n_features=2:lopsided.exceptions.LopsidedWarning")
def test_estimators_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_every_public_name_is_documented(module, name):
    thing = getattr(module, name)
    assert (thing.__doc__ or "").strip(), name
    if inspect.isclass(thing):
        members = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
        functions = {key: value for key, value in members.items() if callable(value) or isinstance(value, property)}
        assert not [key for key, value in functions.items() if not inspect.getdoc(getattr(thing, key, value))]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_of_an_estimator_is_documented_and_constrained(estimator):
    parameters = set(inspect.signature(estimator).parameters)
    entries = [line.split(" : ")[0] for line in estimator.__doc__.splitlines() if " : " in line]
    documented = {name.strip() for entry in entries for name in entry.split(",")}
    assert parameters <= documented
    assert parameters == set(estimator._parameter_constraints)


def attributes_of(documented):
    """The names in the Attributes section of a class's docstring."""
    lines = inspect.getdoc(documented).splitlines()
    if "Attributes" not in lines:
        return set()
    start = lines.index("Attributes") + 2
    end = next((i - 1 for i in range(start, len(lines)) if set(lines[i]) == {"-"}), len(lines))
    entries = [line for line in lines[start:end] if line and not line.startswith(" ")]
    return {name.strip() for entry in entries for name in entry.split(" : ")[0].split(",")}


def learned_by(thing):
    return {name for name in vars(thing) if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("estimator", cases.ESTIMATORS, ids=repr)
def test_every_attribute_that_an_estimator_learns_is_documented(estimator):
    X, y = cases.data_for(estimator)
    X = X if y is None else pd.DataFrame(X).add_prefix("column ")  # of a graph, columns are nodes
    missing = learned_by(clone(estimator).fit(X, y)) - attributes_of(type(estimator))
    assert not missing


def test_every_estimator_is_among_those_that_are_fitted():
    assert {type(estimator) for estimator in cases.ESTIMATORS} == set(ESTIMATORS)


def answers(estimator):
    """What it says of some of its own points, or of new nodes with their edges, by every method that takes them."""
    X, y = cases.data_for(estimator)
    methods = ("predict", "decision_function", "predict_proba", "transform")
    found = {name: getattr(estimator, name)(X[:5]) for name in methods if hasattr(estimator, name)}
    return found | ({"score": estimator.score(X[:5], y[:5])} if hasattr(estimator, "score") else {})


@pytest.mark.parametrize("estimator", cases.ESTIMATORS, ids=repr)
def test_frames_for_output_change_no_value(estimator):
    plain = cases.fitted(estimator)
    expected = answers(plain)
    with config_context(transform_output="pandas"):
        framed = cases.fitted(estimator)
        found = [answers(framed), answers(plain)]
    assert all(isinstance(each.get("transform", pd.DataFrame()), pd.DataFrame) for each in found)
    for each in (*found, answers(framed)):
        for name, values in expected.items():
            np.testing.assert_array_equal(each[name], values, err_msg=name)


GRAPH = [[0, 1, 1], [0, 0, 1], [1, 0, 0]]
TABLE = np.arange(9.0).reshape(3, 3)
FITTED_KERNELS = [
    *(clone(kernel).fit(TABLE, TABLE + 1) for kernel, _ in cases.KERNELS.values() if type(kernel) is not cases.Reading),
    kernels.KullbackLeibler().fit(np.eye(3), np.full((3, 3), 1 / 3)),
    kernels.Association().fit(TABLE, np.arange(3)[:, None]),
    *(
        kernel.fit(np.arange(3)[:, None], np.arange(3)[:, None])
        for kernel in (
            kernels.NodeKernel(GRAPH),
            kernels.Katz(GRAPH),
            *(kernels.Diffusion(GRAPH, direction=name) for name in ("both", "last")),
        )
    ),
]


def made_of_kernels(kernel):
    return any(isinstance(part, kernels.Kernel) for part in kernel.get_params(deep=False).values())


@pytest.mark.parametrize("kernel", FITTED_KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_every_attribute_that_a_kernel_learns_is_documented_by_it_or_what_it_is(kernel):
    documented = set().union(
        *(attributes_of(each) for each in type(kernel).__mro__ if issubclass(each, kernels.Kernel))
    )
    assert not learned_by(kernel) - documented


@pytest.mark.parametrize("kernel", dict.fromkeys(type(k) for k in FITTED_KERNELS if not made_of_kernels(k)))
def test_kernels_show_an_example_and_their_cost(kernel):
    assert ">>> " in kernel.__doc__ and "Cost: " in kernel.__doc__


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_say_their_purpose_and_print_nothing(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert "print" not in {call.id for call in calls if isinstance(call, ast.Name)}
    assert "/work" not in text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_is_abstract_cannot_be_made(path):
    """A class that leaves a method to others is refused by Python itself, and not when the method is called."""
    name = ".".join(("lopsided", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    classes = [thing for thing in vars(importlib.import_module(name)).values() if inspect.isclass(thing)]
    leaving = [
        thing
        for thing in classes
        if thing.__module__ == name and any(getattr(m, "__isabstractmethod__", False) for m in vars(thing).values())
    ]
    assert [thing for thing in leaving if not inspect.isabstract(thing)] == []
    assert "raise NotImplementedError\n" not in path.read_text()


def after_import(code):
    """What a fresh interpreter prints when it runs the code after ``import lopsided``."""
    command = [sys.executable, "-W", "error", "-c", f"import sys, lopsided; {code}"]
    return ast.literal_eval(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_importing_the_library_imports_nothing_else_until_it_is_used():
    names = after_import("print(sorted(sys.modules))")
    assert not {name.split(".")[0] for name in names} & {"numpy", "scipy", "sklearn", "matplotlib", "pandas", "pyarrow"}


def test_using_every_name_imports_no_optional_package():
    """Beyond what scikit-learn itself takes up where it finds it."""
    code = "import sklearn.metrics; before = {*sys.modules}; [getattr(lopsided, name) for name in lopsided.__all__]"
    added = {name.split(".")[0] for name in after_import(f"{code}; print({{*sys.modules}} - before)")}
    assert "lopsided" in added
    assert not added & {"matplotlib", "pandas", "polars", "pyarrow", "networkx", "dask", "sknetwork", "torch"}


def test_every_room_is_an_attribute_of_the_library():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()} | {"exceptions"}
    rooms = {name for name in rooms if not name.startswith("_")}
    assert rooms <= {*lopsided.__all__} <= {*dir(lopsided)}
    assert all(getattr(lopsided, room) is importlib.import_module(f"lopsided.{room}") for room in rooms)


def test_an_unknown_attribute_of_the_library_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'KernelSvd'"):
        lopsided.KernelSvd  # noqa: B018


def test_type_checkers_see_the_names_that_the_library_offers():
    """They read imports that Python skips."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    imports = next(node for node in tree.body if isinstance(node, ast.If)).body
    assert sorted(alias.name for node in imports for alias in node.names) == sorted(lopsided.__all__)
