"""Build wheel and sdist as a release does, and try each in an environment of its own: `make package`.

The wheel runs the commands that README shows. The sdist, unpacked, runs its own tests: a few of them, or those that are
named on the command line (`make package PACKAGE_TESTS=tests`).
"""

import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
SOME_TESTS = ("tests/cli", "tests/io", "tests/house/test_rooms.py", "tests/house/test_packaging.py")
NOT_SOME = "not signal"  # tests of the few that take long
FOLLOWS = "source,target\nann,bob\nann,cem\nbob,cem\ndea,bob\neve,cem\nbob,ann\n"


def environment(folder: Path, *packages: str) -> Path:
    """The folder of the programs of a new environment with these packages."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    run(programs / "python", "-m", "pip", "install", "-q", *packages)
    return programs


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a command that must succeed, and return what it printed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel, and walk through README's commands."""
    with zipfile.ZipFile(wheel) as file:
        name = next(name for name in file.namelist() if name.endswith("METADATA"))
        relative = re.findall(r"\]\((?!https://)[^)]*\)", file.read(name).decode())
    assert not relative, relative
    programs = environment(folder / "wheel", f"{wheel}[cli]")
    (folder / "follows.csv").write_text(FOLLOWS)
    for arguments in ("info", "embed follows.csv", "links follows.csv --of eve -k 2", "explore follows.csv"):
        print(run(programs / "lopsided", *arguments.split(), cwd=folder), end="")
    page = run(
        programs / "python", "-c", "from lopsided import KernelSVD; print(KernelSVD()._get_doc_link())", cwd=folder
    )
    assert page.startswith("https://"), page
    assert (folder / "follows.html").stat().st_size and (folder / "follows.embedding.parquet").stat().st_size


def try_sdist(sdist: Path, folder: Path, tests: list[str]) -> None:
    """Unpack the sdist, install it, and run its tests."""
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    programs = environment(folder / "sdist", f"{unpacked}[test,plot,cli]")
    chosen = tests or [*SOME_TESTS, "-k", NOT_SOME]
    print(run(programs / "python", "-m", "pytest", "-n", "2", *chosen, cwd=unpacked)[-400:])


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        builder = environment(Path(name) / "build", "build")
        run(builder / "python", "-m", "build", "--outdir", DIST)
        try_wheel(max(DIST.glob("*.whl"), key=lambda path: path.stat().st_mtime), Path(name))
        try_sdist(max(DIST.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime), Path(name), sys.argv[1:])
