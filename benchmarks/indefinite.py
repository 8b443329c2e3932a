"""Support vector machines on symmetric kernel matrices that need not be positive, the fate of asymmetric kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.svm import SVC

SPECTRA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "SVM": lambda e: e,
    "flip": np.abs,
    "clip": lambda e: np.maximum(e, 0),
    "shift": lambda e: e - min(e.min(), 0),
}


class SpectrumSVM:
    """SVC on U f(e) U' for a symmetric K = U e U'; new samples are mapped as the training samples are.

    With f = abs this is the Krein SVM too: it is trained on the flipped matrix, and U sign(e) U' turns its weights into
    those of the indefinite kernel, which gives the same decisions as mapping the new samples.
    """

    def __init__(self, spectrum: str, C: float) -> None:
        self.spectrum, self.C = spectrum, C

    def fit(self, K: np.ndarray, y: np.ndarray) -> Self:
        """Decompose, modify the spectrum and train. K is (n, n)."""
        if self.spectrum == "SVM":
            self.map = None
            modified = K
        else:
            e, U = np.linalg.eigh(K)
            modified = (U * SPECTRA[self.spectrum](e)) @ U.T
            ratios = {"flip": np.sign(e), "clip": (e > 0).astype(float)}.get(self.spectrum)
            self.map = (
                None if ratios is None else (U * ratios) @ U.T
            )  # a shift of the diagonal leaves new samples alone
        self.svc = SVC(C=self.C, kernel="precomputed").fit(modified, y)
        return self

    def predict(self, K: np.ndarray) -> np.ndarray:
        """Labels from similarities (m, n) between new and training samples."""
        return self.svc.predict(K if self.map is None else K @ self.map)


def tuned(
    spectrum: str, K: np.ndarray, y: np.ndarray, grid: tuple[float, ...], rng: np.random.Generator
) -> SpectrumSVM:
    """The machine at the C that does best on a quarter of the training samples, trained on all of them."""
    order = rng.permutation(len(y))
    kept, held = order[len(y) // 4 :], order[: len(y) // 4]

    def score(C: float) -> float:
        model = SpectrumSVM(spectrum, C).fit(K[np.ix_(kept, kept)], y[kept])
        return float((model.predict(K[np.ix_(held, kept)]) == y[held]).mean())

    return SpectrumSVM(spectrum, max(grid, key=score)).fit(K, y)
