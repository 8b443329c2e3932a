"""The saddle-point systems of AsK-LS and their solvers."""

from .block_lu import BlockLU as BlockLU
from .border import Border as Border
from .dense import Dense as Dense
from .minres import Minres as Minres
from .policy import (
    SADDLE_SOLVERS as SADDLE_SOLVERS,
    SMALL_BYTES as SMALL_BYTES,
    affordable_size as affordable_size,
    check_affordable as check_affordable,
    choose_saddle as choose_saddle,
)
from .spectral import Spectral as Spectral
from .system import (
    Duals as Duals,
    Fold as Fold,
    SaddleFamily as SaddleFamily,
    SaddleSystem as SaddleSystem,
    check_solution as check_solution,
    largest_singular_value as largest_singular_value,
    warn_if_near_singular as warn_if_near_singular,
)
