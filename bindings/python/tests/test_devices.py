"""Products on devices have the same bits; without a device, the error message is a single line."""

import os

import numpy as np
import pytest

import softmma

TIER = "check"


@pytest.fixture(scope="module")
def device():
    """Skips the test if OpenCL has no device."""
    a = np.ones((1, 16), np.float16)
    try:
        softmma.matmul(a, a.T, on="H100", kernel="opencl")
    except ValueError as error:
        pytest.skip(f"products on devices are NOT tested: {error}")
    return "opencl"


@pytest.mark.parametrize(("on", "dtype"), [("H100", np.float16), ("MI300X", np.float16), ("A100", np.float64)])
def test_same_bits(generator, device, on, dtype):
    a, b = generator.standard_normal((70, 45)).astype(dtype), generator.standard_normal((45, 33)).astype(dtype)
    a[3, 5], b[7, 1] = np.nan, np.inf
    expected = softmma.matmul(a, b, on=on)
    found = softmma.matmul(a, b, on=on, kernel=device)
    assert expected.tobytes() == found.tobytes()


def test_batches_and_plans(generator, device):
    a, b = generator.standard_normal((3, 20, 300)), generator.standard_normal((300, 17))
    a, b = a.astype(np.float16), b.astype(np.float16)
    options = {"on": "H100", "promote_every": 64, "split_k": 2}
    expected = softmma.matmul(a, b, **options)
    assert expected.tobytes() == softmma.matmul(a, b, **options, kernel=device).tobytes()


def test_fork(device):
    """After a fork, a device does not work in the child process, and the error message says so."""
    child = os.fork()
    if child == 0:
        a = np.ones((1, 16), np.float16)
        try:
            softmma.matmul(a, a.T, on="H100", kernel=device)
        except ValueError as error:
            os._exit("forked" not in str(error))
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["cuda:99", "opencl:99", "cuda:²"])
def test_no_such_device(name):
    a = np.ones((1, 16), np.float16)
    with pytest.raises(ValueError, match="is not there|there is no device 99|no driver|cannot|CUDA"):
        softmma.matmul(a, a.T, on="H100", kernel=name)
