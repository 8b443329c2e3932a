"""Access to the promises that ``make soak`` measures, which are not installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
