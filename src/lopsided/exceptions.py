"""The warnings of this library, so that they can be filtered by name."""


class LopsidedWarning(UserWarning):
    """Anything worth knowing about an answer that is nevertheless usable."""


class FallbackWarning(LopsidedWarning):
    """A solver or an operator could not do the work and another one did."""


class NearSingularWarning(LopsidedWarning):
    """A linear system is so near to singular that its answer holds few right digits."""


class ConvergenceWarning(LopsidedWarning):
    """An iteration stopped before its answer was as accurate as was asked."""
