"""The warnings of this library, so that they can be filtered by name."""


class LopsidedWarning(UserWarning):
    """Anything worth knowing about an answer that is nevertheless usable."""


class FallbackWarning(LopsidedWarning):
    """A solver or an operator could not do the work and another one did."""
