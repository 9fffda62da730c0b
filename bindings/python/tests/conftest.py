"""Functions that the tests share: they read vector files, run the command, and compare bits."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import softmma

REPOSITORY = Path(__file__).resolve().parents[3]


def bits(array):
    """Returns an array's encodings, which can be compared even for NaN and -0."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}")


def random_encodings(generator, shape, format):
    """Returns random bits as an array in a format; every kind of value occurs."""
    kind = next(f for f in softmma.formats() if f.name == format)
    whole = generator.integers(0, 2**kind.bits, shape, dtype=f"u{kind.bytes}", endpoint=False)
    return whole.view(kind.dtype)


TIERS = {"check": "what scripts/check runs", "all": "what only scripts/check --all runs"}


def pytest_configure(config):
    # Background jobs of a shell ignore Control-C, which tests send to themselves.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for tier, what in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: {what}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks each test with its tier: that of its own marker, otherwise the TIER of its module. If a test has no tier,
    the run ends."""
    for item in items:
        tier = next((mark.name for mark in item.own_markers if mark.name in TIERS), None)
        if tier is None:
            tier = getattr(item.module, "TIER", None)
            if tier not in TIERS:
                raise pytest.UsageError(f"{item.nodeid} has no tier: write TIER = 'check' or 'all' in its module")
            item.add_marker(tier)


@pytest.fixture
def generator():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def command():
    """Returns a function that runs the softmma command: the file in $SOFTMMA, otherwise a build in this checkout,
    otherwise the command on the PATH."""
    built = [REPOSITORY / folder / "bin" / "softmma" for folder in ("build", "build-tests")]
    candidates = [os.environ.get("SOFTMMA"), *(str(path) for path in built if path.exists()), shutil.which("softmma")]
    program = next((name for name in candidates if name), None)
    if not program:
        pytest.skip("the softmma command is not built, so Python is not compared with it (scripts/build)")

    def run(*arguments, status=(0,), notes=False, **options):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
        assert done.returncode in status, done.stderr
        return (done.stdout, done.stderr) if notes else done.stdout

    return run


@pytest.fixture(scope="module")
def cuda_driver(tmp_path_factory):
    """Builds the tests' driver, tests/engine_host.c, in place of CUDA's."""
    compiler, engine = shutil.which("cc"), REPOSITORY / "tests/engine_host.c"
    if not compiler or not engine.is_file():
        pytest.skip("arrays in a device's memory are NOT tested: no compiler, or no tests/engine_host.c")
    folder = tmp_path_factory.mktemp("engines")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-ffp-contract=off",
         '-DHOST_PLAYS="cuda"', "-DHOST_ADDRESSES", f"-I{REPOSITORY}/src", f"-I{REPOSITORY}/include", engine, "-lm",
         "-o", folder / "softmma-engine-cuda.so"],
        check=True,
    )  # fmt: skip
    before = os.environ.get("SOFTMMA_ENGINES")
    os.environ["SOFTMMA_ENGINES"] = str(folder)
    yield
    if before is None:
        del os.environ["SOFTMMA_ENGINES"]
    else:
        os.environ["SOFTMMA_ENGINES"] = before
