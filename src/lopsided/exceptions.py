"""The warnings of this library, so that they can be filtered by name."""

from sklearn import exceptions as sklearn_exceptions


class LopsidedWarning(UserWarning):
    """Anything worth knowing about an answer that is nevertheless usable."""


class FallbackWarning(LopsidedWarning):
    """A solver or an operator could not do the work and another one did."""


class NearSingularWarning(LopsidedWarning):
    """A linear system is so near to singular that its answer holds few right digits."""


class ConvergenceWarning(LopsidedWarning, sklearn_exceptions.ConvergenceWarning):
    """An iteration stopped before its answer was as accurate as was asked; scikit-learn's filters know it, too."""


class RankWarning(LopsidedWarning):
    """The data hold fewer components than were asked for, and so does the answer."""


class AccuracyWarning(LopsidedWarning):
    """An approximation did not reach the tolerance that was asked for."""
