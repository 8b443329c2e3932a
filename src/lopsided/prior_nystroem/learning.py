"""Learn the dictionary of a selected candidate, and the feature maps that follow from it."""

from typing import NamedTuple

import numpy as np

from .._core import eigh
from .candidates import Candidate, Selection
from .dictionary import Dictionary, Iteration, solve
from .frames import Frame, Moments, rescaled
from .supervision import Labels, Pairs

EVALUATION_ROWS = 2000  # samples on which learned features are rescaled, and their leading components found


class LearnedKernel(NamedTuple):
    """A learned dictionary S = left_map right_map^T; features are E_x left_map and E_z right_map."""

    left_map: np.ndarray
    right_map: np.ndarray
    dictionary: Dictionary  # in the coordinates in which it was learned
    weight: float  # of the prior, in units of the loss's curvature
    alignment: float  # with the given labels or pairs; nan without any


def learn_kernel(
    candidate: Candidate, selection: Selection, known: Labels | Pairs | None, iteration: Iteration, n_components: int
) -> LearnedKernel:
    """Learn a dictionary from labels or pairs at the selected weight, and maps to at most ``n_components`` features."""
    values, frame, weight = candidate.values, candidate.frame(), selection.weight
    information = None if known is None else values.information(known, frame)
    dictionary = solve(frame, information, weight, iteration)
    reduced = values.data.Z is None and n_components < len(values.W)
    rows = np.sort(np.random.default_rng([values.data.seed, 4]).permutation(values.data.X.shape[0])[:EVALUATION_ROWS])
    E = values.left_values(rows) if candidate.smoothness or reduced else None
    moments = Moments.of(E) if E is not None and candidate.smoothness else None
    left, right = _feature_maps(candidate, frame, dictionary, moments)
    if E is not None and reduced:
        F = E @ left
        left = right = left @ eigh(F.T @ F)[1][:, ::-1][:, :n_components]  # the leading principal axes, not centred
    alignment = np.nan if information is None else information.alignment(dictionary.N)
    unit = values.unit**0.5
    left, right = left / unit, right / unit
    if not np.isfinite(left @ right.T).all():
        raise ValueError(
            f"the dictionary is not finite at smoothness={candidate.smoothness:g}, prior_weight={weight:g}: lower "
            "smoothness, or scale the kernel"
        )
    return LearnedKernel(left, right, dictionary, weight, alignment)


def _feature_maps(
    candidate: Candidate, frame: Frame, dictionary: Dictionary, moments: Moments | None
) -> tuple[np.ndarray, np.ndarray]:
    """Maps from kernel values to features; smoothed features are brought to the scale of plain ones."""
    left, right = frame.maps(dictionary.N)
    if moments is None:
        return left, right
    learned, eps = len(dictionary.objectives) > 0, candidate.values.data.eps
    root = rescaled(left, candidate.rough.left, moments, learned=learned, eps=eps)
    return root, root
