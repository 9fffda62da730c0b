"""Rounding and quantisation."""

import itertools
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import softmma
from conftest import bits

TIER = "check"


def test_agrees_with_other_roundings(generator):
    """`round` agrees with NumPy and ml_dtypes, which also round to nearest even, and returns the same result as they do
    if a number overflows."""
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
    with pytest.raises(ValueError, match="mode: 'up' is not one of nearest-even, toward-zero, .*nearest-away"):
        softmma.round(x, "e4m3", mode="up")


def test_overflow():
    x = [1e6, np.inf, -np.inf]
    assert softmma.round(x, "e5m2").astype(float).tolist() == [57344, 57344, -57344]
    assert softmma.round(x, "e5m2", overflow="infinity").astype(float).tolist() == [np.inf, np.inf, -np.inf]
    assert softmma.round(x, "f16").tolist() == [np.inf, np.inf, -np.inf]
    assert softmma.round(x, "f16", overflow="saturate").tolist() == [65504, 65504, -65504]
    assert np.isnan(softmma.round(x, "e4m3", overflow="infinity").astype(float)).all()
    with pytest.raises(ValueError, match="overflow: 'wrap' is not one of"):
        softmma.round(x, "e5m2", overflow="wrap")


def test_shapes_and_dtypes():
    assert softmma.round(np.ones((2, 0, 3)), "f16").shape == (2, 0, 3)
    assert softmma.round(1.1, "bf16") == ml_dtypes.bfloat16(1.1)
    assert softmma.round(np.arange(5, dtype=np.uint8), "e4m3").astype(int).tolist() == [0, 1, 2, 3, 4]
    x = np.asfortranarray(np.random.default_rng(1).standard_normal((3, 5)))
    np.testing.assert_array_equal(softmma.round(x, "f16"), x.astype(np.float16))
    np.testing.assert_array_equal(softmma.round(x[::2, ::-1].astype(">f8"), "f16"), x[::2, ::-1].astype(np.float16))


def test_doubles_are_rounded_once():
    """A double is rounded once. If it went through float32 first, it would become a tie and be rounded to even."""
    assert softmma.round(1 + 2**-11 + 2**-40, "f16") == np.float16(1 + 2**-10)


# ---- Block-scaled formats ----


def rounded_to_mxint8(x):
    """Rounds to multiples of 1 / 64 from -2 to 127 / 64 (OCP Microscaling Formats 1.0, 5.3.4)."""
    return np.clip(np.rint(np.asarray(x) * 64), -128, 127) / 64


def numbers(q, format):
    """Returns the numbers of quantised elements."""
    return q.values.view(np.int8) / 64 if format == "mxint8" else q.values.astype(float)


def reference(x, format):
    """Quantises block by block, with exact powers of two and ml_dtypes' roundings. Returns the values and the scale
    factors."""
    element, greatest, block = {
        "mxfp8_e4m3": (ml_dtypes.float8_e4m3fn, 448, 32),
        "mxfp8_e5m2": (ml_dtypes.float8_e5m2, 57344, 32),
        "mxfp6_e3m2": (ml_dtypes.float6_e3m2fn, 28, 32),
        "mxfp6_e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 32),
        "mxfp4": (ml_dtypes.float4_e2m1fn, 6, 32),
        "nvfp4": (ml_dtypes.float4_e2m1fn, 6, 16),
        "mxint8": (None, 127 / 64, 32),
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
        if element:
            values.extend(np.clip(scaled, -greatest, greatest).astype(element).astype(float))
        else:
            values.extend(rounded_to_mxint8(scaled))
    return values, scales


@pytest.mark.parametrize("format", softmma.QUANTIZED_FORMATS)
@pytest.mark.parametrize("length", [1, 16, 32, 100])
def test_quantize(generator, format, length):
    x = generator.standard_normal(length) * np.exp2(generator.integers(-3, 4, length))
    q = softmma.quantize(x, format, factor=1)
    values, scales = reference(x, format)
    assert numbers(q, format).tolist() == values
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
    """The unit computes the product of the quantised numbers, within FP32's precision. ACE has a scale factor for every
    four elements, so that eight of them are the same."""
    a, b = generator.standard_normal((4, 96)), generator.standard_normal((96, 5))
    qa, qb = softmma.quantize(a, format, factor=1), softmma.quantize(b, format, axis=-2, factor=1)
    block = {"nvfp4": 16}.get(format, 32)
    wide_a = numbers(qa, format) * np.repeat(qa.scales.astype(float), block, axis=1)
    wide_b = numbers(qb, format) * np.repeat(qb.scales.astype(float), block, axis=0)
    if format == "mxint8":
        scales = {"scale_a": np.repeat(qa.scales, 8, axis=1), "scale_b": np.repeat(qb.scales, 8, axis=0)}
        d = softmma.matmul(qa.values, qb.values, on="ACE", instr="top4mxbssps", **scales)
    else:
        d = softmma.matmul(qa.values, qb.values, on="B200", scale_a=qa.scales, scale_b=qb.scales)
    bound = 2**-20 * (np.abs(wide_a) @ np.abs(wide_b))  # 25 bits retained of each of 97 terms
    assert (np.abs(d - wide_a @ wide_b) <= bound).all()


def test_blocks_of_zeros_and_of_none():
    q = softmma.quantize(np.zeros(40), "nvfp4")
    assert not q.values.astype(float).any() and not q.scales.astype(float).any()
    q = softmma.quantize([np.nan] + [1] * 31 + [np.inf] + [2] * 31 + [3] * 2, "mxfp8_e4m3")
    assert np.isnan(q.scales.astype(float)).tolist() == [True, True, False]
    assert softmma.quantize(np.ones((3, 0)), "mxfp4").scales.shape == (3, 0)
    with pytest.raises(ValueError, match="format: 'mxfp5' is not one of mxfp8_e4m3"):
        softmma.quantize([1], "mxfp5")
    with pytest.raises(ValueError, match="x is a number"):
        softmma.quantize(1, "mxfp4")


def test_quantized_integers_are_not_narrowed_first():
    """Integers have the elements and factors of the same numbers in float64, also if FP32 does not hold them."""
    x = np.zeros(32, np.int64)
    x[:2] = 2**31, 2**27 + 2**23 + 1  # the second one is above the middle of two elements by one
    q, wide = softmma.quantize(x, "mxfp8_e4m3"), softmma.quantize(x.astype(np.float64), "mxfp8_e4m3")
    np.testing.assert_array_equal(q.values, wide.values)
    assert q.values[1] == 18 and q.scales == wide.scales
    prepared = softmma.recipes.prepare(x, softmma.recipes.Operand("e4m3", "1x32"), "a").values
    np.testing.assert_array_equal(prepared, wide.values[None])
    with pytest.raises(ValueError, match="x: float64 does not hold 9007199254740993 exactly"):
        softmma.quantize([2**53 + 1], "mxfp4")
    for dtype in ("longdouble", "datetime64[s]", "timedelta64[s]", "complex128", "object"):
        with pytest.raises(ValueError, match=r"x is \w+(\[s\])?, not an array of real numbers"):
            softmma.quantize(np.zeros(4, np.int64).astype(dtype), "mxfp4")
        with pytest.raises(ValueError, match="not an array of real numbers"):
            softmma.recipes.prepare(np.zeros(4, np.int64).astype(dtype), softmma.recipes.Operand("bf16"), "a")


def test_only_nvfp4_has_a_factor_of_the_tensor():
    x = np.ones(32)
    assert softmma.quantize(x, "mxfp4", factor=1).factor == 1 and softmma.quantize(x, "nvfp4", factor=4.0).factor == 4
    with pytest.raises(ValueError, match="factor is 4.0: mxfp4 has no factor of the tensor, only nvfp4 has"):
        softmma.quantize(x, "mxfp4", factor=4.0)
    for scaling in ("none", "tensor", "row", "1x32"):
        with pytest.raises(ValueError, match="factor: it is of scaling '1x16' and '16x16'"):
            softmma.recipes.prepare(x, softmma.recipes.Operand("e4m3", scaling), "a", factor=2.0)


def test_formats_spelled_out(generator):
    """`round` agrees with ml_dtypes in formats that ml_dtypes has. In other formats it returns encodings, which are
    compared with a table of all values."""
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
    """A unit with formats that are spelled out multiplies the values. Its operands may be passed as numbers or as
    encodings."""
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


def test_numbers_beyond_fp32_are_told_for_nvfp4():
    """NVFP4's factor of the tensor is computed in FP32, so these numbers make it infinite."""
    with pytest.warns(RuntimeWarning, match="32 values were infinite or NaN"):
        q = softmma.quantize([[0.0] * 32, [1e300] * 32], "nvfp4")
    assert np.isinf(q.factor)


def test_none_is_no_format():
    for call in lambda: softmma.round([0.1], None), lambda: softmma.dtype(None):
        with pytest.raises(LookupError, match="None is no number format"):
            call()


# ---- IEEE P3109 ----

P3109_MODES = {
    "nearest-even": "NearestTiesToEven",
    "nearest-away": "NearestTiesToAway",
    "toward-positive": "TowardPositive",
    "toward-negative": "TowardNegative",
    "toward-zero": "TowardZero",
    "to-odd": "ToOdd",
}
P3109_SATURATIONS = {"saturate": "SatFinite", "propagate": "SatPropagate", "by-direction": "SatNone"}


def p3109_formats(widths):
    """Yields (K, P, has a sign, has infinity) for all P3109 formats of these widths with at most 11 exponent bits, the
    most that SoftMMA supports."""
    for k in widths:
        for signed in True, False:
            for p in range(max(1, k - 11 + (not signed)), k + (not signed)):
                yield from ((k, p, signed, extended) for extended in (True, False))


def p3109_name(k, p, signed, extended):
    return f"binary{k}p{p}{'s' if signed else 'u'}{'e' if extended else 'f'}"


def p3109_values(k, p, signed, extended):
    """Returns all values of a format, in the order of their codes. Source: the interim report 4.0, section 4.7.2."""
    bias = 2 ** (k - p - 1) if signed else 2 ** (k - p)
    codes = np.arange(2 ** (k - signed))
    field, fraction = codes >> (p - 1), codes % 2 ** (p - 1)
    values = np.ldexp((fraction + 2 ** (p - 1) * (field > 0)).astype(float), np.maximum(field, 1) - bias - p + 1)
    if extended:
        values[-1 - (not signed)] = np.inf
    if not signed:
        values[-1] = np.nan
        return values
    return np.concatenate([values, [np.nan], -values[1:]])


def p3109_rounded(x, k, p, signed, mode, draws=None):
    """Rounds to the format's precision, as if there were no greatest number. `draws`: (N, R) of stochastic rounding.
    Source: section 4.7.4."""
    bias = 2 ** (k - p - 1) if signed else 2 ** (k - p)
    q = np.maximum(np.frexp(np.where(np.isfinite(x) & (x != 0), x, 1))[1] - 1, 1 - bias) - p + 1
    s = np.abs(np.ldexp(x, -q))
    low = np.floor(s)
    with np.errstate(invalid="ignore"):
        v = s - low
    even = low % 2 == 0 if p > 1 else (low == 0) | ((q + bias) % 2 == 0)
    n, r = draws or (0, 0)
    up = {
        "toward-zero": lambda: v > 1,
        "toward-positive": lambda: (v > 0) & (x > 0),
        "toward-negative": lambda: (v > 0) & (x < 0),
        "nearest-away": lambda: v >= 0.5,
        "nearest-even": lambda: (v > 0.5) | ((v == 0.5) & ~even),
        "to-odd": lambda: (v > 0) & even,
        "stochastic-a": lambda: np.floor(v * 2**n) + r >= 2**n,
        "stochastic-b": lambda: np.floor(v * 2 ** (n + 1)) + 2 * r + 1 >= 2 ** (n + 1),
        "stochastic-c": lambda: np.round(v * 2**n) + r >= 2**n,
    }[mode]()
    return np.where(np.isfinite(x), np.copysign(np.ldexp(low + up, q), x), x)


def p3109_saturated(x, values, signed, extended, mode, saturation):
    """Saturates as section 4.7.5 of the report says, line by line, beginning with the last line."""
    finite = values[np.isfinite(values)]
    least, most = finite.min(), finite.max()
    y = np.where(x > most, most, np.where(x < least, least, x))
    if saturation == "saturate":
        return y
    if saturation == "by-direction":
        above, below = (np.inf if extended else most), (least if signed else np.nan)
        below = -np.inf if signed and extended else below
        if mode in ("toward-zero", "toward-negative") or (mode == "to-odd" and not signed and extended):
            above = most
        if mode in ("toward-zero", "toward-positive"):
            below = least
        y = np.where(x > most, above, np.where(x < least, below, x))
        y = np.where((x == -np.inf) & (not signed), np.nan, y)
    y = np.where((x == np.inf) & extended, np.inf, y)
    return np.where((x == -np.inf) & signed & extended, -np.inf, y)


def p3109_codes(x, values):
    """Returns the code of each number of x, which must be in `values`."""
    order = np.argsort(values)
    nan = int(np.flatnonzero(np.isnan(values))[0])
    place = np.searchsorted(values[order[:-1]], np.where(np.isnan(x), 0, x))
    codes = order[np.minimum(place, len(order) - 2)]
    assert ((values[codes] == x) | np.isnan(x)).all()
    return np.where(np.isnan(x), nan, codes)


def p3109_aimed(values):
    """Returns every number of a format, the points a half, a quarter and an eighth of the way to the next number, and
    their neighbours in FP64; the same beyond the greatest number and below the least."""
    finite = np.unique(np.abs(values[np.isfinite(values)]))
    step = finite[-1] - finite[-2]
    points = np.concatenate([finite, finite[-1] + step * np.arange(1, 4), [4 * finite[-1]]])
    between = [points[:-1] + part * np.diff(points) for part in (0, 0.5, 0.25, 0.125, 0.875)]
    x = np.concatenate(between)
    x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf), [np.inf]])
    return np.concatenate([x, -x, [np.nan]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("width", range(3, 9))
def test_p3109_codes_and_conversions(width):
    """Every code of every format has the value of the report, and aimed values are converted correctly in every
    rounding and saturation mode, from FP64 and from FP32."""
    for format in p3109_formats([width]):
        name, values = p3109_name(*format), p3109_values(*format)
        x = p3109_aimed(values)
        singles = x.astype(np.float32)
        np.testing.assert_array_equal(bits(softmma.round(values, name, overflow="propagate")), np.arange(2**width))
        for mode, saturation in itertools.product(P3109_MODES, P3109_SATURATIONS):
            for given in x, singles:
                rounded = p3109_rounded(given.astype(float), *format[:3], mode)
                expected = p3109_codes(p3109_saturated(rounded, values, *format[2:], mode, saturation), values)
                got = bits(softmma.round(given, name, mode, saturation))
                np.testing.assert_array_equal(got, expected, f"{name} {mode} {saturation}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("variant", ["stochastic-a", "stochastic-b", "stochastic-c"])
def test_p3109_stochastic_rounding(generator, variant):
    for format, n in zip(p3109_formats([3, 5, 8, 10]), itertools.cycle([1, 2, 3, 7, 20, 30])):
        name, values = p3109_name(*format), p3109_values(*format)
        x = p3109_aimed(values)
        words = generator.integers(0, 2**32, len(x), dtype=np.uint32)
        for saturation in P3109_SATURATIONS:
            rounded = p3109_rounded(x, *format[:3], variant, (n, words.astype(np.int64) % 2**n))
            expected = p3109_codes(p3109_saturated(rounded, values, *format[2:], variant, saturation), values)
            got = bits(softmma.round(x, name, variant, saturation, random=words, random_bits=n))
            np.testing.assert_array_equal(got, expected, f"{name} {saturation}")


@pytest.mark.parametrize(
    "mode, options, words",
    [
        ("stochastic-a", {}, "needs random"),
        ("stochastic-a", {"random": [1]}, "needs random"),
        ("stochastic-a", {"random": [1], "random_bits": 31}, "random_bits is 31; allowed: 1 to 30"),
        ("stochastic-a", {"random": [-1], "random_bits": 1}, "not integers"),
        ("stochastic-a", {"random": [0.5], "random_bits": 1}, "not integers"),
        ("stochastic-a", {"random": [1, 2], "random_bits": 1}, "not of x's shape"),
        ("stochastic-d", {"random": [1], "random_bits": 1}, "is not one of stochastic-a"),
        ("to-odd", {"random": [1]}, "belong to the stochastic modes"),
    ],
)
def test_stochastic_rounding_refuses(mode, options, words):
    with pytest.raises(ValueError, match=words):
        softmma.round([1.5], "binary8p3se", mode, **options)


def p3109_unit(format, d, k):
    return softmma.Custom(
        {"name": "x", "algorithm": "G-FDPA", "k": k, "a": format, "b": format, "d": d, "alignment_bits": "exact",
         "overflow": "infinity"}
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("width", [3, 5, 8])
def test_p3109_factors(width):
    """The product of every value of a format and one is that value, also for NaN and infinities. Leaves out formats
    with numbers that f32 cannot hold."""
    for format in p3109_formats([width]):
        name, values = p3109_name(*format), p3109_values(*format)
        finite = np.abs(values[np.isfinite(values) & (values != 0)])
        if finite.min() < 2**-149 or finite.max() >= 2**128:
            continue
        a = np.arange(2**width, dtype=np.uint8)[:, None]
        d = softmma.dot(a, np.full_like(a, int(p3109_codes(np.ones(1), values)[0])), on=p3109_unit(name, "f32", 1))
        np.testing.assert_array_equal(d, values.astype(np.float32))


def nearest(x, precision, least):
    """Rounds a rational number to this many bits, and to multiples of the last bit at the exponent `least`."""
    if x == 0:
        return x
    exponent = abs(x).numerator.bit_length() - x.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(x)
    unit = Fraction(2) ** (max(exponent, least) - precision + 1)
    return Fraction(round(x / unit)) * unit


@pytest.mark.parametrize("d, precision, least", [("f32", 24, -126), ("binary8p4se", 4, -7)])
def test_p3109_dot_products(generator, d, precision, least):
    """Sums of 16 products of binary8p3se equal exact rational numbers that are rounded once."""
    count, k = 2000, 16
    values, results = p3109_values(8, 3, True, True), p3109_values(8, 4, True, True)
    codes = generator.integers(0, 256, (2, count, k), dtype=np.uint8)
    codes[:, ::2] = generator.integers(0x30, 0x48, (2, count // 2, k), dtype=np.uint8)  # near 1
    codes[:, ::2] ^= generator.integers(0, 2, (2, count // 2, k), dtype=np.uint8) << 7
    codes[:, 1::4] %= 0x7F  # no infinity or NaN
    got = softmma.dot(codes[0], codes[1], on=p3109_unit("binary8p3se", d, k))
    with np.errstate(invalid="ignore"):
        products = values[codes[0]] * values[codes[1]]
        special = np.where(np.isfinite(products), 0, products).sum(1)
    kinds = set()
    for row, not_finite, result in zip(products, special, bits(got)):
        expected = float(not_finite if not_finite != 0 else nearest(sum(map(Fraction, row)), precision, least))
        if d == "f32":
            value = float(result.view(np.float32))
        else:
            value = float(results[result])
            if abs(expected) > results[0x7E]:
                expected = float(np.copysign(np.inf, expected))
        assert value == expected or (np.isnan(value) and np.isnan(expected)), row
        kinds.add("nan" if np.isnan(value) else "finite" if np.isfinite(value) else "infinite")
    assert kinds == {"nan", "finite", "infinite"}


GFLOAT_MODES = {
    "nearest-even": "TiesToEven",
    "nearest-away": "TiesToAway",
    "toward-zero": "TowardZero",
    "toward-positive": "TowardPositive",
    "toward-negative": "TowardNegative",
}
"""Rounding modes of `softmma.round`, and their names in gfloat."""


@pytest.mark.all
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_p3109_agrees_with_gfloat():
    """Compares with gfloat (PyPI): the values of all codes, and the rounding of values near ties and limits, in
    gfloat's five modes, with and without saturation. Without saturation an overflow in finite formats gives NaN;
    overflow="infinity" does the same for roundings to nearest."""
    gfloat = pytest.importorskip("gfloat")
    formats = pytest.importorskip("gfloat.formats")
    for format in p3109_formats(range(3, 9)):
        k, p, signed, extended = format
        info = formats.format_info_p3109(
            k,
            p,
            gfloat.Signedness.Signed if signed else gfloat.Signedness.Unsigned,
            gfloat.Domain.Extended if extended else gfloat.Domain.Finite,
        )
        assert softmma.dtype(info.name) == softmma.dtype(p3109_name(*format))
        values = p3109_values(*format)
        np.testing.assert_array_equal(values, [gfloat.decode_float(info, code).fval for code in range(2**k)])
        # FP32 numbers: for ties away gfloat adds 0.5 in FP64, which takes the FP64 number below a tie for the tie.
        x = p3109_aimed(values)[:: 1 if k < 7 else 5].astype(np.float32).astype(float)
        x = x[(x >= 0) | signed]  # gfloat takes the magnitude of negative numbers in unsigned formats
        for mode, theirs in GFLOAT_MODES.items():
            for saturates in True, False:
                if not extended and not saturates and mode not in ("nearest-even", "nearest-away"):
                    continue
                overflow = "saturate" if saturates else "by-direction" if extended else "infinity"
                expected = [
                    gfloat.encode_float(info, gfloat.round_float(info, float(y), gfloat.RoundMode[theirs], saturates))
                    for y in x
                ]
                got = bits(softmma.round(x, info.name, mode, overflow))
                np.testing.assert_array_equal(got, expected, f"{info.name} {mode} {overflow}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ocp_int8():
    """Elements of MXINT8: every code, and numbers between and beyond them, rounded in five modes."""
    codes = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(softmma.round(codes.view(np.int8) / 64, "ocp_int8"), codes)
    x = np.arange(-700, 700) / 256
    for mode, rounded in {
        "nearest-even": np.rint,
        "nearest-away": lambda y: np.trunc(y + np.copysign(0.5, y)),
        "toward-zero": np.trunc,
        "toward-positive": np.ceil,
        "toward-negative": np.floor,
    }.items():
        expected = np.clip(rounded(x * 64), -128, 127).astype(np.int8)
        np.testing.assert_array_equal(softmma.round(x, "ocp_int8", mode).view(np.int8), expected, mode)


@pytest.mark.all
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ocp_int8_agrees_with_gfloat():
    """Compares with gfloat (PyPI): the values of all codes, and numbers between and beyond them in gfloat's modes."""
    gfloat = pytest.importorskip("gfloat")
    info = pytest.importorskip("gfloat.formats").format_info_ocp_int8
    values = [gfloat.decode_float(info, code).fval for code in range(256)]
    np.testing.assert_array_equal(softmma.round(values, info.name), range(256))
    x = np.arange(-700, 700) / 256
    for mode, theirs in GFLOAT_MODES.items():
        rounded = [gfloat.round_float(info, float(y), gfloat.RoundMode[theirs], True) for y in x]
        expected = [gfloat.encode_float(info, y) for y in rounded]
        np.testing.assert_array_equal(softmma.round(x, info.name, mode), expected, mode)
