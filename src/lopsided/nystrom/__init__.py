"""The asymmetric Nystrom method: landmarks, their matrix, the extension, the search for a tolerance."""

from .extension import NystromFactors as NystromFactors, nystrom
from .landmark_matrix import between as between
from .landmarks import ONE_SIDED as ONE_SIDED, Landmarks, given_landmarks as given_landmarks
from .solver import (
    Attempt as Attempt,
    Nystrom,
    approximate as approximate,
    landmark_bytes as landmark_bytes,
    select_nystrom as select_nystrom,
)

__all__ = ["Landmarks", "Nystrom", "nystrom"]
