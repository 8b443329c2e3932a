"""Progress: stages and steps as they happen, a bar on terminals, scikit-learn's callbacks, and silence otherwise."""

import io
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import ESTIMATORS, fitted
from lopsided import KernelSVD, Nystrom, show_progress
from lopsided._core import atomic_fit, bar, counted, jobs, run
from lopsided._core.progress import listening
from lopsided.io import load, save


class Notes:
    """A listener that writes everything down, and on which thread."""

    def __init__(self):
        self.events, self.threads = [], set()

    def note(self, *event):
        self.events.append(event)
        self.threads.add(threading.get_ident())

    def begin(self, name, total):
        self.note("begin", name, total)

    def advance(self, done):
        self.note("advance", done)

    def end(self):
        self.note("end")

    def announce(self, words):
        self.note("announce", words)


def test_a_loop_tells_its_steps_and_its_end_however_it_ends():
    notes = Notes()
    with listening(notes):
        assert list(counted("ab", "letters", 2)) == ["a", "b"]
        for letter in counted("abc", "some"):
            if letter == "b":
                break
    assert notes.events == [
        *[("begin", "letters", 2), ("advance", 1), ("advance", 2), ("end",)],
        *[("begin", "some", None), ("advance", 1), ("end",)],
    ]


def test_without_a_listener_nothing_is_told_and_items_pass_through():
    items = iter(range(3))
    assert list(counted(items, "x")) == [0, 1, 2]


def slow(number):
    time.sleep(0.002)
    return sum(counted([number], "within"))


@pytest.mark.parametrize("threads", [1, 2])
def test_tasks_on_threads_are_told_by_the_caller_alone_and_count_up(threads):
    notes = Notes()
    with listening(notes), jobs(threads):
        assert run(slow, range(50)) == list(range(50))
    counts = [event[1] for event in notes.events if event[0] == "advance"]
    assert notes.events[0] == ("begin", "blocks", 50) and notes.events[-1] == ("end",)
    assert notes.threads == {threading.get_ident()}
    assert threads == 1 or (counts == sorted(counts) and counts[-1] <= 50)


def fits(rng):
    X = rng.random((500, 4))
    return {
        "Krylov steps": lambda: KernelSVD(3, solver="krylov", kernel="sne").fit(X, Z=X[:450]),
        "Nystrom passes": lambda: KernelSVD(3, solver=Nystrom(40), kernel="sne").fit(X, Z=X[:450]),
    }


@pytest.mark.parametrize("name", ["Krylov steps", "Nystrom passes"])
def test_solvers_tell_their_steps_and_give_the_same_answer(name, rng):
    notes, fit = Notes(), fits(rng)[name]
    with listening(notes):
        told = fit()
    assert any(event[:2] == ("begin", name) for event in notes.events)
    assert sum(event[0] == "begin" for event in notes.events) == sum(event[0] == "end" for event in notes.events)
    np.testing.assert_array_equal(told.left_vectors_, fit().left_vectors_)


# The bar.


@pytest.fixture
def eager(monkeypatch):
    """A bar that draws everything."""
    monkeypatch.setattr(bar, "REDRAWN_AFTER", -1.0)
    monkeypatch.setattr(bar, "SHOWN_AFTER", -1.0)


def test_the_bar_shows_stages_and_is_cleared(eager, rng):
    out = io.StringIO()
    with show_progress(out):
        fits(rng)["Nystrom passes"]()
        for _ in counted(range(4), "mine", 4):
            pass
    lines = out.getvalue().split(bar.CLEAR)
    assert any("Nystrom passes: [" in line and " | blocks" in line for line in lines)
    assert "mine: [############............]  50%, 0 s left" in lines and lines[-1] == ""


def test_the_bar_is_silent_where_there_is_no_terminal(eager, rng, capfd):
    with show_progress():
        fits(rng)["Krylov steps"]()
    assert capfd.readouterr() == ("", "")


def test_short_stages_and_fast_steps_are_not_drawn(rng):
    out = io.StringIO()
    with show_progress(out):
        for _ in counted(range(10_000), "fast", 10_000):
            pass
    assert out.getvalue() == ""


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (61, "1 min 01 s"), (7260, "2 h 01 min")])
def test_durations_read_well(seconds, text):
    assert bar._duration(seconds) == text


def test_a_bar_ends_with_an_error_too(eager):
    out = io.StringIO()
    with pytest.raises(ZeroDivisionError), show_progress(out):
        for _ in counted(range(3), "mine"):
            1 / 0  # noqa: B018
    assert out.getvalue().endswith(bar.CLEAR)
    assert list(counted(range(2), "after")) == [0, 1] and out.getvalue().endswith(bar.CLEAR)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_moves_while_no_step_ends(monkeypatch):
    monkeypatch.setattr(bar, "SHOWN_AFTER", 0.05)
    monkeypatch.setattr(bar, "TICK", 0.02)
    monkeypatch.setattr(bar, "REDRAWN_AFTER", 0.0)
    out, threads = io.StringIO(), threading.active_count()
    with show_progress(out):
        for _ in counted(range(1), "one long step"):
            time.sleep(0.4)
    assert out.getvalue().count("one long step: 0 done") > 3 and threading.active_count() == threads


@pytest.mark.parametrize(
    "estimator",
    [each for each in ESTIMATORS if "verbose" in each.get_params(False)],
    ids=lambda each: type(each).__name__,
)
def test_verbose_tells_on_standard_error_and_changes_nothing(estimator, eager, monkeypatch, capsys):
    quiet = fitted(clone(estimator).set_params(verbose=0))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    told = fitted(clone(estimator).set_params(verbose=1))
    text = sys.stderr.getvalue()
    assert text and ("[" in text or " done, " in text or "round " in text)
    for name, value in vars(quiet).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_array_equal(value, getattr(told, name))


def test_work_is_announced_before_it_begins(rng, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    KernelSVD(3, solver="krylov", verbose=1).fit(rng.random((500, 4)), Z=rng.random((400, 4)))
    KernelSVD(3, solver=Nystrom(40), verbose=1).fit(rng.random((500, 4)), Z=rng.random((400, 4)))
    text = sys.stderr.getvalue()
    assert "3 singular triplets of a 500 x 400 matrix by krylov: asked for" in text and "multiplications a step" in text
    assert "40 x 40 landmarks; 4e+04 kernel values" in text and bar.CLEAR not in text


# Callbacks of scikit-learn.

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")


class Tree:
    """A callback that writes down the tasks that begin and end, as pairs of estimator and path of names."""

    max_propagation_depth = None

    def __init__(self):
        self.begun, self.ended, self.open = [], [], 0

    def setup(self, estimator, context):
        self.open += 1

    def teardown(self, estimator, context):
        self.open -= 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.estimator_name, context.task_name, context.max_subtasks))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.estimator_name, context.task_name, context.max_subtasks))


@pytest.fixture
def impatient(monkeypatch):
    """Stages of any length are told."""
    monkeypatch.setattr("lopsided._core.callbacks.PATIENCE", -1.0)
    monkeypatch.setattr("lopsided._core.callbacks.SPACING", 0.0)


def test_callbacks_hear_every_step_and_every_task_ends(impatient, rng):
    tree, X = Tree(), rng.random((500, 4))
    model = KernelSVD(3, solver="krylov").set_callbacks(tree).fit(X, Z=X)
    assert tree.begun[0] == ("KernelSVD", "fit", None) and ("KernelSVD", "blocks", 0) in tree.begun
    assert sum(event[1] == "Krylov steps" for event in tree.begun) > 3
    assert sorted(map(str, tree.begun)) == sorted(map(str, tree.ended)) and tree.open == 0
    plain = KernelSVD(3, solver="krylov").fit(X, Z=X)
    np.testing.assert_array_equal(model.left_vectors_, plain.left_vectors_)
    assert vars(model).keys() - vars(plain).keys() == {"_skl_callbacks"}


def test_steps_that_were_too_fast_to_tell_are_told_later(monkeypatch):
    monkeypatch.setattr("lopsided._core.callbacks.PATIENCE", 0.05)
    tree = Tree()

    class Slow(KernelSVD):
        @atomic_fit
        def fit(self, X, y=None):
            for i in counted(range(20), "steps", 20):
                list(counted(range(2), "within", 2))
                time.sleep(0.01 * (i < 15))
            return self

    Slow().set_callbacks(tree).fit(None)
    assert tree.begun == [("Slow", "fit", None), ("Slow", "steps", 20), *20 * [("Slow", "steps", 0)]]


def test_fast_steps_are_told_several_at_a_time_and_all_are_told(monkeypatch):
    monkeypatch.setattr("lopsided._core.callbacks.PATIENCE", 0.01)
    monkeypatch.setattr("lopsided._core.callbacks.SPACING", 10.0)
    tree = Tree()

    class Fast(KernelSVD):
        @atomic_fit
        def fit(self, X, y=None):
            for _ in counted(range(1000), "steps", 1000):
                time.sleep(1e-4)
            return self

    Fast().set_callbacks(tree).fit(None)
    (_, stage, *steps) = tree.begun
    assert stage[:2] == ("Fast", "steps") and 1 <= stage[2] == len(steps) < 100
    assert sorted(map(str, tree.begun)) == sorted(map(str, tree.ended))


def test_callbacks_reach_estimators_in_pipelines_and_searches(impatient, rng):
    tree, X = Tree(), rng.random((120, 4))
    pipe = make_pipeline(StandardScaler(), KernelSVD(2, kernel="linear", compatibility="pinv", solver="nystrom"))
    pipe.set_callbacks(tree).fit(X)
    assert ("KernelSVD", "Nystrom passes", 2) in tree.begun and tree.open == 0
    tree = Tree()
    search = GridSearchCV(KernelSVD(2), {"scaling": [0.0, 1.0]}, cv=2, scoring=lambda model, X: 0.0)
    search.set_callbacks(tree).fit(X)
    assert sum(event[:2] == ("KernelSVD", "fit") for event in tree.begun) >= 5 and tree.open == 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_every_estimator_tells_callbacks_how_far_it_is(estimator, impatient):
    tree = Tree()
    fitted(clone(estimator).set_callbacks(tree))
    assert tree.begun[0] == (type(estimator).__name__, "fit", None) and len(tree.begun) > 1
    assert sorted(map(str, tree.begun)) == sorted(map(str, tree.ended)) and tree.open == 0


def test_a_fit_that_fails_closes_its_callbacks_and_leaves_the_model_as_it_was(rng):
    tree = Tree()
    model = KernelSVD(3).set_callbacks(tree)
    with pytest.raises(ValueError, match="exceeds min"):
        model.fit(rng.random((2, 2)))
    assert tree.open == 0 and vars(model).keys() == vars(KernelSVD(3).set_callbacks(tree)).keys()


def test_the_bar_of_scikit_learn_shows_a_fit(impatient, rng, capsys):
    pytest.importorskip("rich", reason="scikit-learn's bar needs rich")
    X = rng.random((500, 4))
    KernelSVD(3, solver="krylov").set_callbacks(callback.ProgressBar()).fit(X, Z=X)
    assert "KernelSVD - Krylov steps" in capsys.readouterr().out


def test_callbacks_are_not_saved_and_are_cloned(tmp_path, rng):
    tree, X = Tree(), rng.random((30, 4))
    model = KernelSVD(2).set_callbacks(tree).fit(X, Z=X)
    save(model, tmp_path / "model")
    assert "_skl_callbacks" not in vars(load(tmp_path / "model"))
    assert clone(model).fit(X, Z=X).n_components_ == 2


# Interrupts.

LONG_FITS = {
    "blocks": 'KernelSVD(50, kernel="laplacian", solver="krylov", memory_budget="50MB", n_jobs=2).fit(X, Z=X)',
}
LONG_FIT = """
    import sys, threading
    import numpy as np
    from lopsided import KernelSVD
    X = np.random.default_rng(0).random((12_000, 20))
    print("begun", flush=True)
    try:
        {fit}
        print("finished")
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for child processes")
@pytest.mark.parametrize("fit", LONG_FITS.values(), ids=LONG_FITS)
def test_an_interrupt_stops_a_long_fit_soon(fit):
    code = textwrap.dedent(LONG_FIT.format(fit=fit))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(2)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "stopped\n"
    assert process.returncode == 0
    assert time.monotonic() - start < 5
