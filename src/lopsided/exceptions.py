"""The warnings of this library, so that they can be filtered by name."""


class LopsidedWarning(UserWarning):
    """Anything worth knowing about an answer that is nevertheless usable."""


class FallbackWarning(LopsidedWarning):
    """A solver or an operator could not do the work and another one did."""


class RankWarning(LopsidedWarning):
    """The data hold fewer components than were asked for, and so does the answer."""


class AccuracyWarning(LopsidedWarning):
    """An approximation did not reach the tolerance that was asked for."""
