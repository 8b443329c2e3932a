"""Displays of curves: spectra, held-out errors, errors against landmarks, ROC curves of edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import auc, roc_curve
from sklearn.utils.validation import check_is_fitted

from .axes import new_axes
from .displays import Display

LINE, ACCENT = "#0072b2", "#d55e00"  # distinct for every kind of colour vision (Okabe and Ito)
ZERO_DRAWN_AT = 1e-18  # of the largest value, since the axis is logarithmic


class Curves(Display, ABC):
    """Base of the displays on one pair of axes, which has no frame."""

    figsize: ClassVar[tuple[float, float]] = (6, 3.8)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on a new figure."""
        ax = new_axes(figsize=self.figsize) if ax is None else ax
        self._draw(ax)
        ax.spines[["top", "right"]].set_visible(False)
        return self._drawn(ax)

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...


class SpectrumDisplay(Curves):
    """Singular values on a logarithmic axis, with the widest relative gap marked as the elbow.

    Parameters
    ----------
    singular_values : array of shape (k,)
        Singular values, descending.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("Agg")
    >>> from lopsided import KernelSVD
    >>> from lopsided.plotting import SpectrumDisplay
    >>> model = KernelSVD(n_components=5, kernel="sne").fit(np.random.default_rng(0).random((30, 30)))
    >>> SpectrumDisplay.from_estimator(model).elbow
    1
    """

    def __init__(self, singular_values: np.ndarray) -> None:
        self.singular_values = np.asarray(singular_values, dtype=float)

    @property
    def _positive_values(self) -> np.ndarray:
        """The values, with zeros replaced by what a logarithmic axis can show."""
        s = self.singular_values
        return np.maximum(s, ZERO_DRAWN_AT * max(s.max(initial=0), 1e-300))

    @property
    def elbow(self) -> int:
        """Number of values before the widest relative gap; all of them if there are fewer than two."""
        s = self._positive_values
        return int(np.argmax(s[:-1] / s[1:])) + 1 if len(s) > 1 else len(s)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the spectrum of a fitted estimator with ``singular_values_``."""
        check_is_fitted(estimator)
        return cls(estimator.singular_values_).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        s = self._positive_values
        ax.semilogy(np.arange(1, len(s) + 1), s, "o-", color=LINE, markersize=4, linewidth=1)
        if len(s) > 1:
            ax.axvline(self.elbow + 0.5, color=ACCENT, linewidth=1, linestyle="--")
            gap = self.elbow + 0.5
            side, shift = ("left", 6) if gap < (len(s) + 1) / 2 else ("right", -6)  # where there is room
            words = f"widest gap after {self.elbow}"
            height = {"left": 0.98, "right": 0.5}[side]  # below the values on the left of the gap
            place = {"xy": (gap, height), "xycoords": ax.get_xaxis_transform(), "xytext": (shift, 0)}
            ax.annotate(words, **place, textcoords="offset points", ha=side, va="top", color=ACCENT)
        ax.set(xlabel="component", ylabel="singular value")


class LeaveOneOutDisplay(Curves):
    """Held-out error and score of a least-squares machine against C, with the C that was chosen.

    Parameters
    ----------
    C, error, score : arrays of shape (n,)
        Values that were compared, their held-out errors, and the accuracies or R^2.
    chosen : float
        The C that was taken.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("Agg")
    >>> from lopsided import AsymmetricLSSVC
    >>> from lopsided.plotting import LeaveOneOutDisplay
    >>> X = np.random.default_rng(0).random((40, 3))
    >>> LeaveOneOutDisplay.from_estimator(AsymmetricLSSVC().fit(X, X[:, 0] > 0.5)).ax_.get_xscale()
    'log'
    """

    def __init__(self, C: np.ndarray, error: np.ndarray, score: np.ndarray, chosen: float) -> None:
        self.C, self.error, self.score, self.chosen = np.asarray(C), np.asarray(error), np.asarray(score), chosen

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted AsymmetricLSSVC or AsymmetricLSSVR that chose its C."""
        check_is_fitted(estimator)
        path = getattr(estimator, "path_", None)
        if path is None:
            raise ValueError(f"C={estimator.C} was given, so no values were compared; fit with C='auto' or a list")
        return cls(path["C"], path["error"], path["score"], estimator.C_).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        order = np.argsort(self.C)
        ax.semilogx(self.C[order], self.error[order], "o-", color=LINE, markersize=4, label="held-out error")
        ax.semilogx(self.C[order], self.score[order], "s--", color="0.45", markersize=4, label="held-out score")
        ax.axvline(self.chosen, color=ACCENT, linewidth=1, label=f"chosen C = {self.chosen:.3g}")
        ax.set(xlabel="C", ylabel="leave-one-out")
        ax.legend(frameon=False)


class NystromErrorDisplay(Curves):
    """Estimated error of the singular vectors against the number of landmarks, as ``tol`` was approached.

    Parameters
    ----------
    n_landmarks, eta : arrays of shape (n,)
        Numbers of left landmarks that were tried in turn, and the eta estimated for each.
    tol : float
        The eta that was asked for.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from lopsided.plotting import NystromErrorDisplay
    >>> display = NystromErrorDisplay(np.array([50, 100, 200]), np.array([0.3, 0.1, 0.02]), tol=0.05).plot()
    """

    def __init__(self, n_landmarks: np.ndarray, eta: np.ndarray, tol: float) -> None:
        self.n_landmarks, self.eta, self.tol = np.asarray(n_landmarks), np.asarray(eta, dtype=float), tol

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a KernelSVD that was fitted with landmarks and ``tol``."""
        check_is_fitted(estimator)
        if not estimator.path_:
            raise ValueError("no numbers of landmarks were compared; fit with solver=Nystrom() and tol, such as 0.01")
        counts, _, eta = np.transpose(estimator.path_)
        return cls(counts, eta, estimator.tol).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.loglog(self.n_landmarks, np.maximum(self.eta, ZERO_DRAWN_AT), "o-", color=LINE, markersize=4)
        ax.axhline(self.tol, color=ACCENT, linewidth=1, linestyle="--", label=f"tol = {self.tol:g}")
        ax.set(xlabel="left landmarks", ylabel="estimated eta")
        ax.set_xticks(self.n_landmarks, [str(int(count)) for count in self.n_landmarks])
        ax.set_xticks([], minor=True)
        ax.legend(frameon=False)


class EdgeScoresDisplay(Curves):
    """ROC curve of edge scores: hidden edges against pairs without an edge.

    Parameters
    ----------
    fpr, tpr : arrays
        False and true positive rates, in order.
    name : str
        Name in the legend.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from lopsided.plotting import EdgeScoresDisplay
    >>> display = EdgeScoresDisplay(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]), "mine").plot()
    >>> round(display.roc_auc, 2)
    0.8
    """

    figsize = (4.6, 4.4)

    def __init__(self, fpr: np.ndarray, tpr: np.ndarray, name: str) -> None:
        self.fpr, self.tpr, self.name = fpr, tpr, name

    @property
    def roc_auc(self) -> float:
        """Area under the curve."""
        return float(auc(self.fpr, self.tpr))

    @classmethod
    def from_estimator(cls, estimator: Any, hidden: Any, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw the curve of an embedding fitted on ``hidden.adjacency``; see ``lopsided.graphs.hide_edges``."""
        check_is_fitted(estimator)
        scores = [np.asarray(estimator.score_edges(*pairs)) for pairs in (hidden.positive, hidden.negative)]
        truth = np.repeat([1, 0], [len(of_pairs) for of_pairs in scores])
        fpr, tpr, _ = roc_curve(truth, np.concatenate(scores))
        return cls(fpr, tpr, name or type(estimator).__name__).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.plot(self.fpr, self.tpr, color=LINE, label=f"{self.name}, AUC {self.roc_auc:.3f}")
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, linestyle="--")
        ax.set(xlabel="share of non-edges above", ylabel="share of hidden edges above", aspect="equal")
        ax.legend(loc="lower right", frameon=False)
