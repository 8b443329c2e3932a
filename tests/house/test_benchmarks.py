"""Every benchmark runs on tiny data, so that none can rot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
ONE_THREAD = os.environ | {"OMP_NUM_THREADS": "1"}  # peers have many, which wait for each other in a busy loop
SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if "__main__" in path.read_text()]


@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks measure memory as POSIX tells it")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_benchmark_runs_on_tiny_data(script):
    done = subprocess.run([sys.executable, script, "--smoke"], capture_output=True, text=True, env=ONE_THREAD)
    assert done.returncode == 0, done.stderr
    assert "smoke run finished" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the soak reads /proc")
def test_soak_runs_a_few_cases_of_every_topic():
    done = subprocess.run([sys.executable, "-m", "soak", "--smoke"], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "smoke run finished" in done.stdout
