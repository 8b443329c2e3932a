"""The asymmetric Nystrom method: landmarks, their matrix, the extension, the search for a tolerance."""

from .extension import NystromFactors as NystromFactors, nystrom
from .landmark_matrix import between as between
from .search import (
    Attempt as Attempt,
    approximate as approximate,
    landmark_choice as landmark_choice,
    many_sums as many_sums,
)
from .solver import Nystrom, as_nystrom as as_nystrom
from .strategies import PLACES as PLACES, Landmarks, given_landmarks as given_landmarks

__all__ = ["Landmarks", "Nystrom", "nystrom"]
