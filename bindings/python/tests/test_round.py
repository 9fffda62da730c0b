"""Rounding and quantisation."""

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"


def test_agrees_with_other_roundings(generator):
    """NumPy and ml_dtypes also round to nearest even; they define the result of an overflow."""
    x = generator.standard_normal(10000).astype(np.float32) * np.exp2(generator.integers(-20, 8, 10000)).astype(
        np.float32
    )
    for kind in np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e3m2fn:
        greatest = float(ml_dtypes.finfo(kind).max)
        inside = x[np.abs(x) <= greatest]
        np.testing.assert_array_equal(bits(softmma.round(inside, kind)), bits(inside.astype(kind)))


def test_modes():
    def rounded(x, mode):
        return softmma.round(x, "e4m3fn", mode=mode).astype(float).tolist()

    x = [1.0625, -1.0625, 1.1, -1.1]
    assert rounded(x, "nearest-even") == [1.0, -1.0, 1.125, -1.125]
    assert rounded(x, "nearest-away") == [1.125, -1.125, 1.125, -1.125]
    assert rounded(x, "toward-zero") == [1.0, -1.0, 1.0, -1.0]
    assert rounded(x, "toward-positive") == [1.125, -1.0, 1.125, -1.0]
    assert rounded(x, "toward-negative") == [1.0, -1.125, 1.0, -1.125]
    with pytest.raises(ValueError, match="mode: 'up' is none of nearest-even, toward-zero, .*nearest-away"):
        softmma.round(x, "e4m3", mode="up")


def test_overflow():
    x = [1e6, np.inf, -np.inf]
    assert softmma.round(x, "e5m2").astype(float).tolist() == [57344, 57344, -57344]
    assert softmma.round(x, "e5m2", overflow="infinity").astype(float).tolist() == [np.inf, np.inf, -np.inf]
    assert softmma.round(x, "f16").tolist() == [np.inf, np.inf, -np.inf]
    assert softmma.round(x, "f16", overflow="saturate").tolist() == [65504, 65504, -65504]
    assert np.isnan(softmma.round(x, "e4m3", overflow="infinity").astype(float)).all()
    with pytest.raises(ValueError, match="overflow: 'wrap' is none of"):
        softmma.round(x, "e5m2", overflow="wrap")


def test_shapes_and_dtypes():
    assert softmma.round(np.ones((2, 0, 3)), "f16").shape == (2, 0, 3)
    assert softmma.round(1.1, "bf16") == ml_dtypes.bfloat16(1.1)
    assert softmma.round(np.arange(5, dtype=np.uint8), "e4m3").astype(int).tolist() == [0, 1, 2, 3, 4]
    x = np.asfortranarray(np.random.default_rng(1).standard_normal((3, 5)))
    np.testing.assert_array_equal(softmma.round(x, "f16"), x.astype(np.float16))
    np.testing.assert_array_equal(softmma.round(x[::2, ::-1].astype(">f8"), "f16"), x[::2, ::-1].astype(np.float16))


def test_doubles_are_rounded_once():
    """Via float32 this would be a tie, rounded to even."""
    assert softmma.round(1 + 2**-11 + 2**-40, "f16") == np.float16(1 + 2**-10)


# ---- Block-scaled formats ----


def reference(x, format):
    """Quantises block by block, with exact powers of two and ml_dtypes' roundings."""
    element, greatest, block = {
        "mxfp8_e4m3": (ml_dtypes.float8_e4m3fn, 448, 32),
        "mxfp8_e5m2": (ml_dtypes.float8_e5m2, 57344, 32),
        "mxfp6_e3m2": (ml_dtypes.float6_e3m2fn, 28, 32),
        "mxfp6_e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 32),
        "mxfp4": (ml_dtypes.float4_e2m1fn, 6, 32),
        "nvfp4": (ml_dtypes.float4_e2m1fn, 6, 16),
    }[format]
    values, scales = [], []
    for first in range(0, len(x), block):
        part = x[first : first + block]
        most = np.abs(part).max()
        if format == "nvfp4":
            scale = float(np.float64(most / greatest).astype(ml_dtypes.float8_e4m3fn))
        else:
            scale = 2.0 ** (np.floor(np.log2(most)) - np.floor(np.log2(greatest)))
        scales.append(scale)
        scaled = part / scale if scale else part * np.finfo(np.float32).max  # as Transformer Engine's kernels
        values.extend(np.clip(scaled, -greatest, greatest).astype(element).astype(float))
    return values, scales


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS)
@pytest.mark.parametrize("length", [1, 16, 32, 100])
def test_quantize(generator, format, length):
    x = generator.standard_normal(length) * np.exp2(generator.integers(-3, 4, length))
    q = softmma.quantize(x, format, factor=1)
    values, scales = reference(x, format)
    assert q.values.astype(float).tolist() == values
    assert q.scales.astype(float).tolist() == scales


def test_quantize_along_an_axis(generator):
    x = generator.standard_normal((2, 70, 3))
    rows = softmma.quantize(np.swapaxes(x, 1, 2), "mxfp4")
    columns = softmma.quantize(x, "mxfp4", axis=-2)
    assert columns.values.shape == x.shape and columns.scales.shape == (2, 3, 3)
    np.testing.assert_array_equal(bits(np.swapaxes(columns.values, 1, 2)), bits(rows.values))
    np.testing.assert_array_equal(bits(np.swapaxes(columns.scales, 1, 2)), bits(rows.scales))


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS)
def test_product_of_quantized(generator, format):
    """The unit computes the product of the quantised numbers, within FP32's precision."""
    a, b = generator.standard_normal((4, 96)), generator.standard_normal((96, 5))
    qa, qb = softmma.quantize(a, format, factor=1), softmma.quantize(b, format, axis=-2, factor=1)
    block = {"nvfp4": 16}.get(format, 32)
    wide_a = qa.values.astype(float) * np.repeat(qa.scales.astype(float), block, axis=1)
    wide_b = qb.values.astype(float) * np.repeat(qb.scales.astype(float), block, axis=0)
    d = softmma.matmul(qa.values, qb.values, on="B200", scale_a=qa.scales, scale_b=qb.scales)
    bound = 2**-20 * (np.abs(wide_a) @ np.abs(wide_b))  # 25 bits retained of each of 97 terms
    assert (np.abs(d - wide_a @ wide_b) <= bound).all()


def test_blocks_of_zeros_and_of_none():
    q = softmma.quantize(np.zeros(40), "nvfp4")
    assert not q.values.astype(float).any() and not q.scales.astype(float).any()
    q = softmma.quantize([np.nan] + [1] * 31 + [np.inf] + [2] * 31 + [3] * 2, "mxfp8_e4m3")
    assert np.isnan(q.scales.astype(float)).tolist() == [True, True, False]
    assert softmma.quantize(np.ones((3, 0)), "mxfp4").scales.shape == (3, 0)
    with pytest.raises(ValueError, match="format: 'mxfp5' is none of mxfp8_e4m3"):
        softmma.quantize([1], "mxfp5")
    with pytest.raises(ValueError, match="x is a number"):
        softmma.quantize(1, "mxfp4")


def test_formats_spelled_out(generator):
    """As ml_dtypes if it has the format; otherwise encodings, compared with a table of all values."""
    x = generator.standard_normal(4000) * 4
    for name, kind in ("e3m4", ml_dtypes.float8_e3m4), ("e4m3-ieee", ml_dtypes.float8_e4m3):
        assert softmma.dtype(name) == kind
        inside = x[np.abs(x) <= float(ml_dtypes.finfo(kind).max)]
        np.testing.assert_array_equal(bits(softmma.round(inside, name)), bits(inside.astype(kind)))
    assert softmma.dtype("e4m3-bias11-fnuz") == ml_dtypes.float8_e4m3b11fnuz
    assert softmma.round([-1, 7.4, 9], "s4").astype(int).tolist() == [-1, 7, 7]
    assert softmma.dtype("s4") == ml_dtypes.int4 and softmma.dtype("u2") == ml_dtypes.uint2
    assert softmma.dtype("e5m10") == np.float16 and softmma.dtype("e6m9") == np.uint16

    codes = softmma.round(x, "e2m4-finite")
    values = np.arange(64) / np.float64(16)
    values = np.where(values < 1, values, (1 + values % 1) * np.exp2(values // 1 - 1))
    values[:16] = np.arange(16) / 16
    table = np.concatenate([values, -values])
    assert codes.dtype == np.uint8
    nearest = np.abs(table[None, :] - np.clip(x, -values[-1], values[-1])[:, None]).min(1)
    np.testing.assert_array_equal(np.abs(table[codes] - np.clip(x, -values[-1], values[-1])), nearest)
    with pytest.raises(LookupError, match="e12m3"):
        softmma.dtype("e12m3")


def test_custom_unit_in_formats_spelled_out(generator):
    """Products are those of the values; operands may be numbers or encodings."""
    unit = softmma.Custom(
        {"name": "x", "algorithm": "G-FDPA", "k": 16, "a": "e2m4-finite", "b": "e3m4", "d": "f32",
         "alignment_bits": "exact"}
    )  # fmt: skip
    a, b = generator.integers(-7, 8, (5, 32)) / 4, generator.integers(-15, 16, (32, 9)) / 8
    d = softmma.matmul(a, b, on=unit)
    np.testing.assert_array_equal(d, (a @ b).astype(np.float32))
    codes = softmma.round(a, "e2m4-finite")
    np.testing.assert_array_equal(softmma.matmul(codes, softmma.round(b, "e3m4"), on=unit), d)


@pytest.mark.parametrize(
    "x, name, words",
    [
        (-1, "ue8m0", "1 saturated"),
        (-1, "ue4m3", "1 became zero"),
        (-1, "u8", "1 became zero"),
        (float("nan"), "e2m1", "1 saturated"),
        (float("inf"), "e4m3", "1 saturated"),
        (float("nan"), "s8", "1 (saturated|became zero)"),
        (1e9, "f16", "1 values became infinite"),
        (1e-9, "f16", "1 became zero"),
    ],
)
def test_losses_are_told(x, name, words):
    with pytest.warns(RuntimeWarning, match=words):
        softmma.round(x, name)


@pytest.mark.parametrize("x", [float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["nvfp4", "mxfp4", "mxfp8_e4m3", "mxfp6_e2m3"])
def test_special_values_in_blocks_are_told(x, name):
    with pytest.warns(RuntimeWarning, match="1 values were infinite or NaN"):
        softmma.quantize([x, *[1.0] * 31], name)
