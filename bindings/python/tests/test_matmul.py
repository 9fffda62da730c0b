"""Shapes, layouts, dtypes and errors of matmul and dot."""

import os
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import bits, random_encodings

TIER = "check"

FP8 = ml_dtypes.float8_e4m3fn


def same(x, y):
    assert x.dtype == y.dtype and x.shape == y.shape
    np.testing.assert_array_equal(bits(x), bits(y))


@pytest.fixture
def operands(generator):
    return random_encodings(generator, (5, 40), "e4m3"), random_encodings(generator, (40, 7), "e4m3")


def expected(a, b, c=None, **options):
    """Returns the product of a reference, which computes each element by calls of dot, one for each step along K."""
    i = softmma.find(options["on"], "wgmma.m64n8k32.f32.e4m3.e4m3")[0]
    d = np.zeros((a.shape[0], b.shape[1]), np.float32) if c is None else c
    for k in range(0, a.shape[1], i.k):
        d = softmma.dot(a[:, None, k : k + i.k], np.swapaxes(b[k : k + i.k], 0, 1)[None], d, on=i)
    return d


def test_steps_along_k(operands, generator):
    a, b = operands
    same(softmma.matmul(a, b, on="H100"), expected(a, b, on="H100"))
    c = random_encodings(generator, (5, 7), "f32")
    same(softmma.matmul(a, b, c, on="H100"), expected(a, b, c, on="H100"))


def views(x):
    """Yields the same matrix in other layouts."""
    wide = np.zeros((x.shape[0] * 3, x.shape[1] * 2), x.dtype)
    wide[::3, ::2] = x
    far = np.lib.stride_tricks.as_strided(np.zeros(x.shape[0] << 20, x.dtype), x.shape, (x.itemsize << 20, x.itemsize))
    far[...] = x
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    padded = np.zeros((x.shape[0], x.shape[1] + 3), x.dtype)
    padded[:, : x.shape[1]] = x
    return {
        "fortran": np.asfortranarray(x),
        "every other": wide[::3, ::2],
        "reversed": x[::-1, ::-1].copy()[::-1, ::-1],
        "huge stride": far,
        "unaligned": unaligned,
        "read-only": read_only,
        "in a wider one": padded[:, : x.shape[1]],
    }


@pytest.mark.parametrize("layout", views(np.zeros((1, 1))).keys())
@pytest.mark.parametrize("dtype", [FP8, np.float16])
def test_layouts(operands, layout, dtype):
    a, b = (x.astype(dtype) for x in operands)
    d = softmma.matmul(a, b)
    same(softmma.matmul(views(a)[layout], b), d)
    same(softmma.matmul(a, views(b)[layout]), d)
    c = np.ones(d.shape, np.float32)
    same(softmma.matmul(a, b, views(c)[layout]), softmma.matmul(a, b, c))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_swapped_bytes(generator, dtype):
    a = generator.standard_normal((6, 20)).astype(dtype)
    b = generator.standard_normal((20, 3)).astype(dtype)
    d = softmma.matmul(a, b, in_dtype="f16")
    swapped = [x.astype(x.dtype.newbyteorder()) for x in (a, b)]
    same(softmma.matmul(*swapped, in_dtype="f16"), d)
    c = np.ones((6, 3), ">f4")
    same(softmma.matmul(a, b, c, in_dtype="f16"), softmma.matmul(a, b, c.astype("=f4"), in_dtype="f16"))


def test_transposed_is_no_copy(generator):
    """A product of a transposed view needs no copy, because a column-major matrix is passed unchanged."""
    import tracemalloc

    a = generator.standard_normal((1024, 16)).astype(np.float16)
    b = np.ones((1024, 8), np.float16)
    tracemalloc.start()
    softmma.matmul(a.T, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < a.nbytes / 2


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 5)),
        ((0, 4), (4, 5)),
        ((3, 0), (0, 5)),
        ((3, 4), (4, 0)),
        ((0, 3, 4), (4, 5)),
        ((1, 1), (1, 1)),
    ],
)
def test_shapes_of_numpy(generator, shapes):
    """Small integers are exact, so NumPy's result is the unit's."""
    a, b = (generator.integers(-4, 5, shape).astype(np.float16) for shape in shapes)
    exact = np.matmul(a.astype(np.float32), b.astype(np.float32))
    d = softmma.matmul(a, b)
    assert np.shape(d) == np.shape(exact)
    np.testing.assert_array_equal(d, exact)
    for c_shape in {np.shape(exact), np.shape(exact)[-1:], ()}:
        c = generator.integers(-4, 5, c_shape).astype(np.float32)
        np.testing.assert_array_equal(softmma.matmul(a, b, c), exact + c)


@pytest.mark.parametrize("a_shape", [(20,), (1, 20), (9, 20), (3, 1, 20), (2, 3, 4, 20), (0, 20), (3, 0, 20)])
def test_plans(generator, a_shape):
    """A multiplier gives the bits and the shape of matmul, for any layout, with C broadcast."""
    a, b = generator.standard_normal(a_shape).astype(np.float16), generator.standard_normal((20, 7)).astype(np.float16)
    for options in {}, {"alpha": 0.5, "beta": 2.0}, {"split_k": 2, "promote_every": 16}, {"kernel": "core"}:
        for layout, matrix in views(b).items():
            multiplier = softmma.Multiplier(matrix, **options)
            assert multiplier.shape == b.shape and multiplier.nbytes >= b.nbytes, layout
            assert multiplier.instruction.b == "f16", layout
            same(multiplier.matmul(a), np.asarray(softmma.matmul(a, b, **options)))
        for layout, rows in views(a).items() if a.ndim == 2 and len(a) else ():
            same(multiplier.matmul(rows), softmma.matmul(a, b, **options)), layout
        for c_shape in {a_shape[:-1] + (7,), (7,), ()}:
            c = generator.standard_normal(c_shape).astype(np.float32)
            same(multiplier.matmul(a, c), softmma.matmul(a, b, c, **options))


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS[:-1])  # a B200 has no MXINT8
def test_plans_of_blocks(generator, format):
    a = softmma.quantize(generator.standard_normal((3, 2, 70)), format)
    b = softmma.quantize(generator.standard_normal((70, 5)), format, axis=-2)
    expected = softmma.matmul(a.values, b.values, on="B200", scale_a=a.scales, scale_b=b.scales)
    multiplier = softmma.Multiplier(b.values, on="B200", scale_b=b.scales)
    same(multiplier.matmul(a.values, scale_a=a.scales), expected)
    same(multiplier.matmul(a.values[1, 1], scale_a=a.scales[1, 1]), expected[1, 1])
    one_a = softmma.matmul(a.values[1], b.values, on="B200", scale_a=a.scales, scale_b=b.scales)
    same(multiplier.matmul(a.values[1], scale_a=a.scales), one_a)
    with pytest.raises(ValueError, match="takes scale factors"):
        multiplier.matmul(a.values)


def test_multipliers_do_not_round_b_again():
    """A product by a multiplier rounds only A and C: it allocates no memory as large as B."""
    k = 2048
    multiplier = softmma.Multiplier(np.ones((k, k), np.float32), on="A100", in_dtype="tf32")
    tracemalloc.start()
    assert (multiplier.matmul(np.ones((1, k), np.float32)) == k).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < k * k


def test_a_plan_keeps_what_b_was(operands):
    a, b = operands
    d = softmma.matmul(a, b)
    multiplier = softmma.Multiplier(b.view(np.uint8), in_dtype="e4m3", threads=2)
    b[...] = 0
    same(multiplier.matmul(a), d)
    same(multiplier.matmul(a.astype(np.float64)), d)
    unit = softmma.Custom(softmma.instruction("H100", "wgmma.m64n8k32.f32.e4m3.e4m3").to_custom())
    zeros = softmma.Multiplier(b, on=unit)
    assert zeros.instruction is unit
    del unit
    same(zeros.matmul(a), softmma.matmul(a, b))
    assert repr(multiplier) == "<multiplier of 40 x 7 on hopper wgmma.m64n8k32.f32.e4m3.e4m3>"


def test_plans_of_nothing():
    for k, n in (0, 3), (4, 0), (0, 0):
        multiplier = softmma.Multiplier(np.ones((k, n), np.float16))
        same(multiplier.matmul(np.ones((2, k))), np.zeros((2, n), np.float32))
        same(multiplier.matmul(np.ones((2, k)), 3), np.full((2, n), 3, np.float32))


def test_plans_run_anywhere(operands):
    """A multiplier works in many threads at once, and in a child process, whatever its number of threads."""
    import multiprocessing
    from concurrent.futures import ThreadPoolExecutor

    a, b = (np.ones((512, 64), np.float16) * generator for generator in (1, 3))
    multiplier = softmma.Multiplier(b.T, threads=2)
    with ThreadPoolExecutor(4) as pool:
        for d in pool.map(multiplier.matmul, [a] * 8):
            assert (d == 192).all()
    child = multiprocessing.get_context("fork").Process(target=multiplier.matmul, args=(a,))
    child.start()
    child.join(600)
    assert child.exitcode == 0


def test_errors_of_plans():
    b = np.ones((4, 6), np.float16)
    for x, axes in (b[0], 1), (b[None], 3), (np.float16(1), 0):
        with pytest.raises(ValueError, match=f"b: {axes} axes; a multiplier keeps a matrix"):
            softmma.Multiplier(x)
    with pytest.raises(TypeError, match="b: its dtype, complex128"):
        softmma.Multiplier(b.astype(complex), in_dtype="f16")
    with pytest.raises(TypeError, match="in_dtype is missing"):
        softmma.Multiplier(b.astype(complex))
    with pytest.raises(LookupError, match="nearest.*H100"):
        softmma.Multiplier(b, on="H1000")
    with pytest.raises(ValueError, match="takes no scale factors"):
        softmma.Multiplier(b, scale_b=b, instr="HMMA.16816.F32")
    with pytest.raises(ValueError, match="scale_b must be"):
        softmma.Multiplier(b.astype(FP8), scale_b=b, on="B200", instr="tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0")
    with pytest.raises(ValueError, match="kernel"):
        softmma.Multiplier(b, kernel="avx1024")
    multiplier = softmma.Multiplier(b)
    with pytest.raises(ValueError, match=r"a is \(2, 3\) and b is \(4, 6\): the columns of a must be the rows of b"):
        multiplier.matmul(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"c is \(7,\); it must broadcast to \(2, 6\)"):
        multiplier.matmul(np.ones((2, 4)), np.ones(7))
    with pytest.raises(ValueError, match="takes no scale factors"):
        multiplier.matmul(np.ones((2, 4)), scale_a=np.ones((2, 1)))


def test_batches_of_transposed_copies(generator):
    """Rounding keeps the layout of an array, also if the whole array is neither row-major nor column-major."""
    a = np.swapaxes(generator.standard_normal((3, 20, 6)), 1, 2)
    b = generator.standard_normal((3, 5, 20)).transpose(0, 2, 1)
    each = [softmma.matmul(x.copy(), y.copy(), in_dtype="e4m3") for x, y in zip(a, b)]
    same(softmma.matmul(a, b, in_dtype="e4m3"), np.stack(each))


PLAN_WITH_BIAS = {"name": "bias", "sum": [{"deal": "contiguous", "parts": 1}], "epilogue": ["bias"]}

PLAN_WITH_C = {"name": "c", "sum": [{"deal": "contiguous", "parts": 2}], "epilogue": ["linear"]}


@pytest.mark.parametrize("named", [{}, {"in_dtype": "f16"}, {"out_dtype": "f32"}, {"instr": "HMMA.16816.F32"}])
def test_unsigned_c(named):
    """C holds encodings only if something names formats; a bias and FP32 scale factors never do."""
    a, c, on = np.ones((2, 16), np.float16), np.full((2, 2), 5, np.uint32), {"on": "A100", **named}
    expected = 16 + (c.view(np.float32) if named else c.astype(np.float32))
    for d in (
        softmma.matmul(a, a.T, c, **on),
        softmma.matmul(a, a.T, c[0], **on),
        softmma.Multiplier(a.T, **on).matmul(a, c),
        softmma.dot(a[:, None], a, c, **on),
        softmma.gemm(a, a.T, c, **on).d,
    ):
        np.testing.assert_array_equal(d, expected)
    flags = softmma.dot_flags([2.0], [3.0], np.uint32(5), **({"on": "power:xvf32gerpp"} if named else {"on": "MI250X"}))
    assert flags.d == (6 if named else 11)
    d = softmma.matmul(a, a.T, plan=PLAN_WITH_BIAS, bias=np.array([5, 7], np.uint32), **on)
    np.testing.assert_array_equal(d, [[21, 23]] * 2)
    gemm = softmma.gemm(a, a.T, plan=PLAN_WITH_BIAS, bias=np.array([[5, 7]], np.uint32), **on)
    np.testing.assert_array_equal(gemm.d, d)


@pytest.mark.parametrize("named", [{}, {"in_dtype": "f16"}])
def test_unsigned_c_of_studies(named):
    """In studies C holds encodings under the same condition."""
    a, c, on = np.ones((2, 16), np.float16), np.full((2, 2), 5, np.uint32), {"on": ["A100", "H100"], **named}
    numbers = c.view(np.float32) if named else c.astype(np.float32)
    assert softmma.trace(a, a.T, c, at=(0, 0), **on).value == softmma.trace(a, a.T, numbers, at=(0, 0), **on).value
    assert softmma.tolerance(a, a.T, c, **on).value == softmma.tolerance(a, a.T, numbers, **on).value
    assert softmma.sweep("k=8,16", a, a.T, c, **on).value == softmma.sweep("k=8,16", a, a.T, numbers, **on).value
    for plan, k in [(None, 16), (PLAN_WITH_C, 64)][: 2 if named else 1]:  # with a plan, formats must be named
        x, on = np.ones(k, np.float16), {**named, "on": "H100", "plan": plan}
        assert softmma.explain(x, x, c[0, 0], **on).text == softmma.explain(x, x, numbers[0, 0], **on).text
    for study in softmma.trace, softmma.tolerance:
        mixed = ["A100", "A100:f16"]
        with pytest.raises(ValueError, match="c: unsigned integers are encodings on A100:f16, .* numbers on A100;"):
            study(a, a.T, c, on=mixed)


def test_unsigned_scale_factors_of_a_plan():
    a = softmma.round(np.ones((2, 256)), "e4m3")
    scales = {"scale_a": np.full((2, 2), 3, np.uint32), "scale_b": np.full((2, 2), 2, np.uint32)}
    for product in softmma.matmul(a, a.T, plan="deepgemm", **scales), softmma.gemm(a, a.T, plan="deepgemm", **scales).d:
        np.testing.assert_array_equal(product, np.full((2, 2), 256 * 6))


def test_most_axes():
    """A result has at most as many axes as NumPy's arrays."""
    a = b = np.ones(16, np.float16)
    most = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    assert softmma.dot(a, b, np.ones((1,) * (most - 1))).ndim == most - 1
    assert softmma.matmul(np.ones((1,) * most), np.ones((1,) * most), np.ones((1,) * most), in_dtype="f16").ndim == most
    with pytest.raises(ValueError, match="axes|dimension"):
        softmma.dot(a, b, np.ones((1,) * most))
    with pytest.raises(ValueError, match="axes|dimension"):
        softmma.dot_flags([1.0], [1.0], np.ones((1,) * most), on="power:xvf64gerpp")


def test_encodings(operands):
    a, b = operands
    same(softmma.matmul(a.view(np.uint8), b.view(np.uint8), in_dtype="e4m3"), softmma.matmul(a, b))
    same(softmma.matmul(a.view(np.uint8), b, instr="wgmma.m64n8k32.f32.e4m3.e4m3"), softmma.matmul(a, b))


@pytest.mark.parametrize("dtype", [bool, np.int16, np.int64, np.float32, np.float64, np.float16])
def test_other_dtypes_are_rounded(dtype):
    a, b = np.arange(6).reshape(2, 3).astype(dtype), np.arange(6).reshape(3, 2).astype(dtype)
    exact = a.astype(float) @ b.astype(float)
    np.testing.assert_array_equal(softmma.matmul(a, b, in_dtype="f16"), exact)
    np.testing.assert_array_equal(softmma.matmul(a.tolist(), b.tolist(), in_dtype="f16"), exact)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**60) - 2**36 - 1, 2**63 - 1, 2**64 - 1])
def test_integers_are_not_rounded_twice(number):
    one = np.float32([[1]])
    a = np.array([[number]], np.int64 if number < 2**63 else np.uint64)
    with pytest.raises(ValueError, match=f"a: float64 does not hold {number} exactly"):
        softmma.matmul(a, one, in_dtype="f32", on="MI250X")
    with pytest.raises(ValueError, match="exactly"):
        softmma.round(a, "bf16")
    even = np.array([[2**60], [-(2**63)]])
    np.testing.assert_array_equal(softmma.matmul(even, one, in_dtype="f32", on="MI250X"), even.astype(float))


@pytest.mark.parametrize("name", ["e4m3", "e4m3fn", "float8_e4m3fn", FP8, np.dtype(FP8)])
def test_names_of_a_format(operands, name):
    a, b = operands
    same(softmma.matmul(a.astype(np.float32), b.astype(np.float32), in_dtype=name), softmma.matmul(a, b))


def test_integers(generator):
    a, b = generator.integers(-128, 128, (5, 70)).astype(np.int8), generator.integers(0, 256, (70, 3)).astype(np.uint8)
    c = generator.integers(-1000, 1000, (5, 3))
    exact = a.astype(np.int32) @ b.astype(np.int32) + c.astype(np.int32)
    same(softmma.matmul(a, b, c, on="A100"), exact)
    same(softmma.matmul(a.astype(float), b.astype(float), c, on="A100", in_dtype=("s8", "u8")), exact)
    same(
        softmma.matmul(b.T, b, on="A100", in_dtype="s8"),
        softmma.matmul(*[np.minimum(x, 127).astype(np.int8) for x in (b.T, b)], on="A100"),
    )
    same(
        softmma.matmul(a.view(np.uint8), a.T.view(np.uint8), on="H100", in_dtype="e4m3"),
        softmma.matmul(a.view(FP8), a.T.view(FP8)),
    )


def test_single_bits(generator):
    a, b = generator.integers(0, 2, (5, 300)).astype(bool), generator.integers(0, 2, (300, 4)).astype(bool)
    x, y = a.astype(np.int32), b.astype(np.int32)
    same(softmma.matmul(a, b, on="A100"), x @ y)
    same(softmma.matmul(x.astype(float), b, on="A100", in_dtype="b1"), x @ y)
    xor = softmma.matmul(a, b, on="A100", instr="mma.m16n8k256.s32.b1.b1.s32.xor.popc")
    same(xor, (x[:, :, None] != y[None]).sum(axis=1).astype(np.int32))
    with pytest.raises(LookupError, match="counts a xor b: name the instruction"):
        softmma.matmul(a, b, on="T4")


def test_pair_of_formats(operands):
    a, b = operands
    wide = b.astype(np.float32)
    d = softmma.matmul(a, wide.astype(ml_dtypes.float8_e5m2))
    same(softmma.matmul(a.astype(np.float32), wide, in_dtype=("e4m3", "e5m2")), d)


def test_lossy_inputs():
    """Numbers that change to a distant value (zero, infinity, NaN, the end of the range) are never lost silently."""
    huge, tiny, one = np.full((2, 2), 1e6, np.float32), np.full((2, 2), 1e-30, np.float32), np.eye(2, dtype=np.float32)
    words = "a: rounded to f16, 4 values became infinite, 0 saturated, 0 became zero, 0 became NaN"
    with pytest.warns(RuntimeWarning, match=words):
        softmma.matmul(huge, one, in_dtype="f16")
    with pytest.warns(RuntimeWarning, match="b: rounded to e4m3, 0 values became infinite, 2 saturated"):
        softmma.matmul(one, huge * one, in_dtype="e4m3")
    with pytest.warns(RuntimeWarning, match="a: rounded to f16, 0 values became infinite, 0 saturated, 4 became zero"):
        softmma.matmul(tiny, one, in_dtype="f16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        softmma.matmul(one, one, in_dtype="f16")
        with pytest.raises(RuntimeWarning):
            softmma.dot(huge[0], one[0], in_dtype="f16")


def test_packed_fp4():
    """If one operand has bytes with two FP4 elements each, its K is half of the other operand's, and the error message
    says so."""
    with pytest.raises(ValueError, match="K differs; unpack bytes that hold two FP4 each"):
        softmma.matmul(np.zeros((1, 2), np.uint8), np.ones((4, 1), softmma.dtype("e2m1")), on="B200", in_dtype="e2m1")


def test_options(generator):
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((9, 256), (256, 11)))
    c = generator.standard_normal((9, 11)).astype(np.float32)
    d = softmma.matmul(a, b, c)
    for threads in 1, 2, 3:
        same(softmma.matmul(a, b, c, threads=threads), d)
    same(softmma.matmul(a, b, c, kernel="core"), d)
    first, second = softmma.matmul(a[:, :128], b[:128], c), softmma.matmul(a[:, 128:], b[128:])
    same(softmma.matmul(a, b, c, split_k=2), first + second)
    same(softmma.matmul(a, b, c, promote_every=128), (c + softmma.matmul(a[:, :128], b[:128])) + second)
    same(softmma.matmul(a, b, c, alpha=2, beta=-1, scaling="operands"), softmma.matmul(2 * a, b, -c))
    for scaling in None, "epilogue":
        scaled = softmma.matmul(a, b, c, alpha=0.5, beta=0.25, scaling=scaling)
        same(scaled, np.float32(0.5) * softmma.matmul(a, b) + c / 4)
    same(softmma.matmul(a, b, c, scaling="operands"), d)
    same(softmma.matmul(a, b, c, scaling="epilogue"), softmma.matmul(a, b) + c)
    with pytest.raises(ValueError, match="scaling: 'before' is neither epilogue nor operands"):
        softmma.matmul(a, b, c, scaling="before")


def test_output_formats(operands):
    a, b = operands
    assert softmma.matmul(a, b, out_dtype="f16").dtype == np.float16
    assert softmma.matmul(np.eye(3), np.eye(3), on="A100").dtype == np.float64


def test_a_fork_computes(operands):
    """OpenMP's threads do not survive a fork; a product in the child process must not wait for them."""
    import multiprocessing

    a, b = np.ones((2, 512, 64), np.float16)
    softmma.matmul(a, b.T, threads=2)
    child = multiprocessing.get_context("fork").Process(target=softmma.matmul, args=(a, b.T))
    child.start()
    child.join(600)
    assert child.exitcode == 0


def test_releases_the_gil():
    """Another thread counts while products are computed, which shows that they release the interpreter lock."""
    a = np.ones((256, 256), np.float16)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(10000)
    try:
        counter.start()
        before = counted[0]
        for _ in range(10000):  # until the system has let the thread run
            softmma.matmul(a, a, threads=1)
            if counted[0] >= before + 3:
                break
        during = counted[0] - before
    finally:
        sys.setswitchinterval(usual)
        done.set()
        counter.join()
    assert during >= 3


def test_interrupt():
    """Control-C ends a long product."""
    import signal

    a = np.ones((2048, 512), np.float16)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            softmma.matmul(a, a.T, kernel="core", threads=1)


def fails(error, pattern, *arguments, **options):
    with pytest.raises(error, match=pattern):
        softmma.matmul(*arguments, **options)


def test_errors():
    a, b = np.ones((3, 4), np.float16), np.ones((5, 6), np.float16)
    fails(ValueError, r"a is \(3, 4\) and b is \(5, 6\): the columns of a must be the rows of b", a, b)
    fails(
        ValueError, r"a is \(2, 3, 4\) and b is \(3, 4, 5\): their leading axes", np.ones((2, 3, 4)), np.ones((3, 4, 5))
    )
    fails(ValueError, r"c is \(7,\); it must broadcast to \(3, 3\)", a, a.T, np.ones(7))
    fails(ValueError, "a is a number", 1, b)
    fails(LookupError, "nearest.*H100", a, a.T, on="H1000")
    fails(
        LookupError,
        "H100 has no instruction for f32 x f32.*in_dtype",
        np.ones((2, 2), np.float32),
        np.ones((2, 2), "f"),
    )
    fails(LookupError, "in_dtype: 'e9m9' is no number format", a, a.T, in_dtype="e9m9")
    fails(LookupError, "nearest: wgmma.m64", a, a.T, instr="wgmma.m65n8k16.f32.f16.f16")
    fails(ValueError, "in_dtype: .* computes f16 x f16", a, a.T, instr="HMMA.16816.F32", in_dtype="bf16")
    fails(ValueError, "out_dtype: .* computes", a, a.T, instr="HMMA.16816.F32", out_dtype="f16")
    fails(TypeError, "complex128", np.ones((2, 2), complex), np.ones((2, 2)), in_dtype="f16")
    fails(TypeError, "in_dtype is missing", [[1]], [[1]])
    fails(ValueError, "takes no scale factors", a, a.T, scale_a=a, scale_b=a, instr="HMMA.16816.F32")
    fails(ValueError, "promote_every", a, a.T, promote_every=5)
    fails(ValueError, "split_k", a, a.T, split_k=0)
    fails(ValueError, "kernel", a, a.T, kernel="avx1024")
    fails(TypeError, "3 is neither a name nor an Instruction", a, a.T, on=3)
    fails(TypeError, "3 is neither a name nor an Instruction", a, a.T, instr=3)
    fails(TypeError, "on is an instruction already", a, a.T, on=softmma.instructions("H100")[0], instr="x")
    fails(TypeError, "unexpected keyword", a, a.T, k_split=2)


def test_errors_of_scales():
    a = softmma.quantize(np.ones((2, 64)), "mxfp8_e4m3")
    b = softmma.quantize(np.ones((64, 3)), "mxfp8_e4m3", axis=-2)
    instr = "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"
    on = {"on": "B200", "instr": instr}
    fails(ValueError, "takes scale factors", a.values, b.values, **on)
    fails(
        ValueError,
        r"a is \(2, 64\) and scale_a is \(2, 1\)",
        a.values,
        b.values,
        scale_a=a.scales[:, :1],
        scale_b=b.scales,
        **on,
    )
    fails(
        ValueError,
        r"b is \(64, 3\) and scale_b is \(2, 2\)",
        a.values,
        b.values,
        scale_a=a.scales,
        scale_b=b.scales[:, :2],
        **on,
    )
    scales = {"scale_a": a.scales, "scale_b": b.scales}
    softmma.matmul(a.values, b.values, **on, **scales, in_dtype="mxfp8")
    softmma.matmul(a.values, b.values, **on, **scales, in_dtype="e4m3")
    a, b = (softmma.quantize(np.ones(s), "nvfp4", axis=x) for s, x in (((2, 64), 1), ((64, 3), 0)))
    on["instr"] = "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"
    scales = {"scale_a": a.scales, "scale_b": b.scales}
    words = "has scale factors in ue4m3, one for 16 elements; leave it out"
    fails(ValueError, words, a.values, b.values, **on, **scales, in_dtype="mxfp4")
    unscaled = {"on": "H100", "instr": "wgmma.m64n8k32.f32.e4m3.e4m3"}
    fails(ValueError, "in_dtype: .* leave it out", a.values, b.values, **unscaled, in_dtype="mxfp8")
    fails(LookupError, "in_dtype: None is no number format", a.values, b.values, in_dtype=("f16", None))
    fails(LookupError, "hopper has no block-scaled", a.values, b.values, scale_a=a.scales, scale_b=b.scales)


def test_scales_of_vectors():
    x = np.arange(1, 65.0)
    q = softmma.quantize(x, "mxfp8_e4m3")
    matrices = softmma.matmul(
        q.values[None], q.values[:, None], on="B200", scale_a=q.scales[None], scale_b=q.scales[:, None]
    )
    vectors = softmma.matmul(q.values, q.values, on="B200", scale_a=q.scales, scale_b=q.scales)
    assert vectors == matrices[0, 0] > 0


def test_layouts_of_scales(generator):
    """Scale factors may have any layout, and all matrices of a batch may share one array of factors."""
    a, b = generator.standard_normal((3, 4, 70)), generator.standard_normal((70, 5))
    qa, qb = softmma.quantize(a, "mxfp4"), softmma.quantize(b, "mxfp4", axis=-2)
    d = softmma.matmul(qa.values, qb.values, on="B200", scale_a=qa.scales, scale_b=qb.scales)
    other = softmma.matmul(
        qa.values, qb.values, on="B200", scale_a=np.asfortranarray(qa.scales), scale_b=np.ascontiguousarray(qb.scales)
    )
    same(d, other)
    same(d[1], softmma.matmul(qa.values[1], qb.values, on="B200", scale_a=qa.scales[1], scale_b=qb.scales))


def test_dot(generator):
    a, b = random_encodings(generator, (6, 16), "f16"), random_encodings(generator, (1, 16), "f16")
    c = random_encodings(generator, (6,), "f32")
    d = softmma.dot(a, b, c, on="A100", instr="HMMA.16816.F32")
    each = [softmma.dot(x, b[0], y, on="A100", instr="HMMA.16816.F32") for x, y in zip(a, c)]
    same(d, np.array(each))
    assert softmma.dot([1, 2], [3, 4], in_dtype="f16") == 11
    with pytest.raises(ValueError, match="a has 17 elements; .* takes 16 at most"):
        softmma.dot(np.ones(17), np.ones(16), in_dtype="f16")
    with pytest.raises(ValueError, match=r"a is \(2, 4\) and b is \(3, 4\)"):
        softmma.dot(np.ones((2, 4)), np.ones((3, 4)), in_dtype="f16")


@pytest.mark.all
def test_memory_stays_flat():
    """10^5 calls of every kind that allocates, valid and invalid, do not make the process grow."""
    import resource

    a, b = np.ones((16, 16), np.float16), np.ones((8, 16), np.float32).T
    unit = softmma.instruction("H100", "HMMA.16816.F32").to_custom()

    def calls(count):
        for n in range(count):
            softmma.matmul(a, b, np.float64(1), in_dtype="f16")
            if n % 10 == 0:
                softmma.dot(a, a, 1)
                softmma.Multiplier(b, in_dtype="f16").matmul(a[None], b[0])
                with pytest.raises(ValueError):
                    softmma.Multiplier(b, in_dtype="f16", kernel="x")
                softmma.round(b, "e4m3")
                softmma.quantize(b, "nvfp4")
                with pytest.raises(ValueError):
                    softmma.matmul(a, a[:3])
            if n % 1000 == 0:
                softmma.matmul(a, a, on=softmma.Custom(unit))
                softmma.Multiplier(a, on=softmma.Custom(unit)).matmul(a, 1)
                softmma.explain(a[0], a[1])

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls(20000)
    before = resident()
    calls(80000)
    assert resident() - before < 2 << 20


def test_hidden_instructions():
    """SOFTMMA_CPU allows the kernels that it names; importing the package fails for an unknown name."""

    def run(cpu):
        code = (
            "import softmma; print(softmma.matmul([[1, 2]], [[3], [4]], on='H100', in_dtype='f16', kernel='portable'))"
        )
        environment = {**os.environ, "SOFTMMA_CPU": cpu}
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )

    assert run("portable").stdout == "[[11.]]\n"
    assert "ImportError: SOFTMMA_CPU: 'avx3' is not portable" in run("avx3").stderr
