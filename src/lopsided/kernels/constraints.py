"""What the parameters of kernels may be, as scikit-learn's constraints."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
FINITE = Interval(Real, None, None, closed="neither")
BETWEEN_0_AND_1 = Interval(Real, 0, 1, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
