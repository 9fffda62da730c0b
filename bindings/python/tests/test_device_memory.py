"""Products of arrays in a GPU's memory. The tests' driver replaces CUDA's: its device is this CPU, but its addresses
are not valid here."""

from __future__ import annotations

import types

import ml_dtypes
import numpy as np
import pytest

import softmma
from softmma import _core

TIER = "check"
pytestmark = pytest.mark.usefixtures("cuda_driver")


class Array:
    """An array of a library that has both protocols; ``wanted`` selects one of them."""

    def __init__(self, memory, wanted="both"):
        self.memory, self.wanted, self.asked = memory, wanted, []

    @classmethod
    def of(cls, x, wanted="both"):
        return cls(_core.device_write("cuda", np.ascontiguousarray(x)), wanted)

    def __getattr__(self, name):
        if name == "__cuda_array_interface__" and self.wanted != "dlpack":
            about = self.memory.__array_interface__
            return {"data": about["data"], "shape": about["shape"], "strides": about["strides"],
                    "typestr": self.memory.dtype.str, "version": 3}  # fmt: skip
        if self.wanted != "interface":
            if name == "__dlpack__":
                return lambda stream=None: _core.to_dlpack(self.memory, 0)
            if name == "__dlpack_device__":
                return lambda: (2, 0)
            if name == "__array_namespace__":
                return lambda: types.SimpleNamespace(from_dlpack=lambda x: Array(_core.from_dlpack(x.__dlpack__())))
        raise AttributeError(name)

    @property
    def T(self):
        return Array(self.memory.T, self.wanted)

    def numpy(self):
        return _core.device_read("cuda", self.memory)


def random(generator, *shape, dtype=np.float16):
    return generator.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("wanted", ["both", "dlpack", "interface"])
def test_same_bits(generator, wanted):
    a, b = random(generator, 37, 45), random(generator, 45, 33)
    c = random(generator, 37, 33, dtype=np.float32)
    a[3, 5], b[7, 1] = np.nan, np.inf
    expected = softmma.matmul(a, b, c, on="H100")
    x, y, z = (Array.of(each, wanted) for each in (a, b, c))
    found = softmma.matmul(x, y, z, on="H100", kernel="cuda")
    if wanted == "interface":  # an array of an unknown library: no known library has only this protocol
        assert isinstance(found, softmma._devices.DeviceArray)
        assert found.__cuda_array_interface__["shape"] == (37, 33)
        found = Array(_core.from_dlpack(found.__dlpack__()))
    assert isinstance(found, Array)
    assert found.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.float64, np.int8])
def test_dtypes(generator, dtype):
    a, b = (3 * random(generator, *shape, dtype=np.float32) for shape in ((5, 70), (70, 9)))
    a, b = a.astype(dtype), b.astype(dtype)
    on = "A100" if dtype is np.float64 else "H100"
    found = softmma.matmul(Array.of(a), Array.of(b.T).T, on=on, kernel="cuda:0")
    assert found.numpy().tobytes() == softmma.matmul(a, b, on=on).tobytes()


def test_batches(generator):
    """Leading axes broadcast; a vector is a row or a column."""
    a, b = random(generator, 2, 3, 7, 20), random(generator, 3, 20, 6)
    for x, y in ((a, b), (a, b[0]), (a[0, 0, 0], b), (a[0, 0], b[0, :, 0]), (a[0, 0, 0], b[0, :, 0])):
        expected = np.asarray(softmma.matmul(x, y, on="MI300X"))
        found = softmma.matmul(Array.of(x), Array.of(y), on="MI300X", kernel="cuda").numpy()
        assert found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()


def test_plans_and_factors(generator):
    a, b = random(generator, 20, 300), random(generator, 300, 17)
    bias = random(generator, 17, dtype=np.float32)
    options = {"on": "H100", "plan": {"name": "x", "epilogue": ["bias", "relu"], "d": "bf16"}}
    expected = softmma.matmul(a, b, bias=bias, **options)
    found = softmma.matmul(Array.of(a), Array.of(b), bias=Array.of(bias), kernel="cuda", **options)
    assert found.numpy().tobytes() == expected.tobytes()
    x = softmma.quantize(random(generator, 12, 64, dtype=np.float32), "mxfp8_e4m3")
    y = softmma.quantize(random(generator, 9, 64, dtype=np.float32), "mxfp8_e4m3")
    factors = {"scale_a": x.scales, "scale_b": y.scales.T}
    expected = softmma.matmul(x.values, y.values.T, on="B200", in_dtype="mxfp8_e4m3", **factors)
    there = {"scale_a": Array.of(x.scales), "scale_b": Array.of(y.scales).T}
    found = softmma.matmul(
        Array.of(x.values), Array.of(y.values).T, on="B200", in_dtype="mxfp8_e4m3", kernel="cuda", **there
    )
    assert found.numpy().tobytes() == expected.tobytes()


def test_refused(generator):
    a, b = random(generator, 6, 16), random(generator, 16, 8)
    x, y = Array.of(a), Array.of(b)
    wide, spread = Array.of(a.astype(np.float32)), Array(Array.of(random(generator, 32, 16)).memory[::2, ::2])
    c = Array.of(random(generator, 8, dtype=np.float32))
    for arguments, error, line in (
        ((x, b), TypeError, "a is in a device's memory, and b is not"),
        ((a, y), TypeError, "a is in a device's memory, and b is not, or the reverse"),
        ((wide, y), TypeError, "a: on a device values are not rounded: its dtype is float32, and f16 is multiplied"),
        ((x, spread), ValueError, "b: on a device nothing is rearranged"),
        ((x, y, c), ValueError, "c: on a device it is not broadcast"),
    ):
        with pytest.raises(error, match=line):
            softmma.matmul(*arguments, on="H100", in_dtype="f16", kernel="cuda")
    with pytest.raises(TypeError, match="products alone take it"):
        softmma.round(x.memory, "e4m3")
    with pytest.raises(TypeError, match="products alone take it"):
        softmma.Multiplier(y.memory, on="H100", kernel="cuda")
    with pytest.raises(ValueError, match="A is not in the memory of this CPU: it is in the host's memory"):
        softmma.matmul(Array(_core.device_view(a.__array_interface__["data"][0], (6, 16), None, "<f2", a)), y,
                       on="H100", kernel="cuda")  # fmt: skip


def test_memory_is_given_back(generator):
    """A tensor that was taken over is released once, by its last owner."""
    x = Array.of(random(generator, 4, 16))
    address = x.memory.__array_interface__["data"][0]
    capsule = _core.to_dlpack(x.memory, 0)
    del capsule  # nobody took it
    taken = _core.from_dlpack(_core.to_dlpack(x.memory, 0))
    del x
    assert taken.__array_interface__["data"][0] == address
    assert softmma.matmul(Array(taken), Array(taken).T, on="H100", kernel="cuda").numpy().shape == (4, 4)
    with pytest.raises(ValueError, match="PyCapsule"):
        _core.from_dlpack(object())
