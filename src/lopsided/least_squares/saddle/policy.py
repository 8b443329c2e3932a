"""The choice of a solver for saddle systems."""

from ...svd import SMALL_SIDE, Choice

SADDLE_SOLVERS = ("dense", "spectral", "symmetric", "sparse_lu", "minres")
COPIES = {"dense": 6, "symmetric": 9, "spectral": 11}  # n x n arrays held at once: K, centred, factors, workspace
ROW_ENTRIES = 4  # stored entries per row up to which factors stay sparse: 1.5 to 6 times S on Cora, Citeseer, Pubmed
# Bytes that no budget forbids: they decompose SMALL_SIDE samples, or store the matrix of a thousand for MINRES, which
# would else evaluate the kernel again at every step.
SMALL_BYTES = 8 * COPIES["spectral"] * SMALL_SIDE**2
MODERATE_SIZE = 3000  # samples up to which a dense decomposition takes seconds


def affordable_size(budget: int) -> int:
    """Number of samples whose decomposition fits the budget, or is small."""
    return int((max(budget, SMALL_BYTES) / (8 * COPIES["spectral"])) ** 0.5)


def check_affordable(choice: Choice, n: int, budget: int) -> None:
    """Raise ValueError if the dense arrays of a solver exceed the budget, unless they are small."""
    if choice.name in COPIES and not _fits(choice.name, n, budget):
        raise ValueError(
            f"solver={choice.name!r} needs {_needed(choice.name, n)} bytes for {COPIES[choice.name]} matrices of "
            f"{n} x {n}, above the budget of {budget}; raise memory_budget to that, or use solver='minres' or "
            "Nystrom(n_landmarks)"
        )


def choose_saddle(
    n: int, *, entries: int, budget: int, many: bool = False, symmetric: bool = False, is_sparse: bool = False
) -> Choice:
    """Choose a solver from the size, sparsity and symmetry of the kernel matrix; a pure function.

    A product with the matrix takes ``entries`` multiplications; ``many`` stands for several C or held-out predictions,
    ``symmetric`` for a matrix equal to its transpose, ``is_sparse`` for a stored sparse matrix, ``budget`` for bytes.

    Examples
    --------
    >>> print(choose_saddle(1600, entries=5000, is_sparse=True, budget=10**9))
    sparse_lu: LU factors of 5000 entries in 1600 rows stay sparse
    """
    if is_sparse and entries <= ROW_ENTRIES * n and n > SMALL_SIDE:
        return Choice("sparse_lu", f"LU factors of {entries} entries in {n} rows stay sparse")
    dense = "symmetric" if symmetric else "spectral" if many else "dense"
    if not _fits(dense, n, budget):
        return Choice("minres", f"{COPIES[dense]} matrices of {n} x {n} exceed the budget of {budget} bytes")
    if is_sparse and n > MODERATE_SIZE:
        return Choice("minres", f"LU factors of {entries} entries in {n} rows fill up, and products are cheap")
    if symmetric:
        return Choice("symmetric", "the matrix is symmetric, so this is a classical LS-SVM")
    if many:
        return Choice("spectral", "one decomposition serves every C and every held-out sample")
    return Choice("dense", f"{n} x {n} fits in memory, and there is one C")


def _fits(solver: str, n: int, budget: int) -> bool:
    """Whether the dense arrays of a solver are within the budget, or so small that no budget forbids them."""
    return _needed(solver, n) <= max(budget, SMALL_BYTES)


def _needed(solver: str, n: int) -> int:
    """Bytes of the dense arrays of a solver."""
    return 8 * COPIES[solver] * n**2
