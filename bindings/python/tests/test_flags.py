"""Compares the exception flags of dot products with exact arithmetic in fractions, which shares no code with the
library."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import softmma
from softmma import Flag

TIER = "check"

FORMATS = {"f16": (5, 10, np.uint16), "bf16": (8, 7, np.uint16), "f32": (8, 23, np.uint32), "f64": (11, 52, np.uint64)}
ROUNDINGS = ("nearest-even", "toward-zero", "toward-negative", "toward-positive", "nearest-away")


class Format:
    def __init__(self, name):
        exponent_bits, self.fraction_bits, self.dtype = FORMATS[name]
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.least, self.greatest = 1 - self.bias, self.bias
        self.sign = 1 << exponent_bits + self.fraction_bits
        self.infinity = self.sign - (1 << self.fraction_bits)

    def value(self, code):
        """Returns a Fraction, or "nan", "signaling", "inf", "-inf"."""
        magnitude, negative = code % self.sign, code >= self.sign
        if magnitude > self.infinity:
            return "nan" if magnitude >> self.fraction_bits - 1 & 1 else "signaling"
        if magnitude == self.infinity:
            return "-inf" if negative else "inf"
        exponent = magnitude >> self.fraction_bits
        significand = magnitude % (1 << self.fraction_bits) + (bool(exponent) << self.fraction_bits)
        return (
            (-1) ** negative
            * Fraction(significand)
            * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction_bits)
        )


def exponent_of(x):
    """Returns floor(log2(|x|))."""
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= abs(x) else e - 1


def rounded(x, unit, rounding):
    """Returns x rounded to a multiple of `unit`."""
    quotient, rest = divmod(x / unit, 1)
    half = Fraction(1, 2)
    up = {
        "nearest-even": rest > half or (rest == half and quotient % 2 == 1),
        "toward-zero": x < 0 and rest > 0,
        "toward-negative": False,
        "toward-positive": rest > 0,
        "nearest-away": rest > half or (rest == half and x > 0),
    }[rounding]
    return (quotient + up) * unit


def infinite(x):
    return isinstance(x, str) and x.endswith("inf")


def is_nan(x):
    return x in ("nan", "signaling")


def opposite(x):
    return x[1:] if x.startswith("-") else "-" + x


class Unit:
    """Operations that raise flags. `round` and `sum` round to the format. With ends=False, the exponent of a result is
    unlimited."""

    def __init__(self, name, rounding="nearest-even", early=False):
        self.format, self.rounding, self.early, self.flags = Format(name), rounding, early, Flag(0)

    def product(self, x, y):
        """Returns x * y exactly."""
        if is_nan(x) or is_nan(y):
            return "nan"
        if infinite(x) or infinite(y):
            if x == 0 or y == 0:
                self.flags |= Flag.INVALID
                return "nan"
            signs = [v.startswith("-") if infinite(v) else v < 0 for v in (x, y)]
            return "-inf" if signs[0] != signs[1] else "inf"
        return x * y

    def round(self, x, ends=True):
        f, p = self.format, self.format.fraction_bits
        if isinstance(x, str) or x == 0:
            return x
        free = rounded(x, Fraction(2) ** (exponent_of(x) - p), self.rounding)
        if not ends:
            self.flags |= Flag.INEXACT if free != x else 0
            return free
        if exponent_of(free) > f.greatest:
            self.flags |= Flag.OVERFLOW | Flag.INEXACT
            away = self.rounding.startswith("nearest") or self.rounding == (
                "toward-negative" if x < 0 else "toward-positive"
            )
            greatest = (2 - Fraction(2) ** -p) * Fraction(2) ** f.greatest
            return ("-inf" if x < 0 else "inf") if away else greatest * (-1 if x < 0 else 1)
        result = rounded(x, Fraction(2) ** (max(exponent_of(x), f.least) - p), self.rounding)
        if result != x:
            tiny = exponent_of(x if self.early else free) < f.least
            self.flags |= Flag.INEXACT | (Flag.UNDERFLOW if tiny else 0)
        return result

    def sum(self, *terms, ends=True):
        """Returns the exact sum, rounded once."""
        if any(map(is_nan, terms)):
            return "nan"
        specials = [x for x in terms if isinstance(x, str)]
        if specials:
            if opposite(specials[0]) in specials:
                self.flags |= Flag.INVALID
                return "nan"
            return specials[0]
        return self.round(sum(terms), ends)

    def load(self, name, code):
        x = Format(name).value(int(code))
        if x == "signaling":
            self.flags |= Flag.INVALID
        return x


def fma_chain(u, a, b, c):
    for x, y in zip(a, b, strict=True):
        c = u.sum(u.product(x, y), c)
    return c


def fused_pairs(u, a, b, c):
    return u.sum(c, u.sum(u.product(a[0], b[0]), u.product(a[1], b[1])))


def wide_pairs(u, a, b, c):
    return u.sum(c, u.sum(u.product(a[0], b[0]), u.product(a[1], b[1]), ends=False))


def aimed_codes(f, generator, count):
    """Returns encodings at the boundaries of exponents, with few or long runs of bits."""
    bits, codes = f.fraction_bits, []
    fractions = [0, 1, 2**bits - 1, 2**bits - 2, 2 ** (bits - 1), 2 ** (bits - 1) - 1]
    top = f.infinity >> bits
    for _ in range(count):
        exponent = generator.choice([0, 1, 2, top // 2, top // 2 - bits - 1, top // 2 + bits + 1, top - 2, top - 1])
        exponent = generator.choice([exponent, generator.randrange(top)])
        fraction = generator.choice([*fractions, generator.randrange(2**bits)])
        code = generator.choice(
            [exponent << bits | fraction] * 30 + [0, f.infinity, f.infinity + 1, f.infinity * 2 - 1]
        )
        codes.append(code % f.sign | generator.choice([0, f.sign]))
    return np.array(codes, f.dtype)


def custom_fma(operand, d, rounding, k):
    return softmma.Custom(
        {"softmma-unit": 1, "name": "fma", "algorithm": "FMA", "k": k, "a": operand, "b": operand, "d": d,
         "rounding": rounding}
    )  # fmt: skip


CASES = [
    (custom_fma(operand, d, rounding, k), operand, d, k, fma_chain, rounding)
    for (operand, d, k), rounding in itertools.product(
        [("f16", "f16", 1), ("bf16", "bf16", 1), ("f16", "f32", 3), ("f64", "f64", 2)], ROUNDINGS
    )
] + [
    (softmma.instruction("power", "xvf16ger2pp"), "f16", "f32", 2, fused_pairs, "nearest-even"),
    (softmma.instruction("power", "xvbf16ger2pp"), "bf16", "f32", 2, wide_pairs, "nearest-even"),
    (softmma.instruction("arm", "bfdot.ebf"), "bf16", "f32", 2, fused_pairs, "nearest-even"),
    (softmma.instruction("arm", "fmopa.d"), "f64", "f64", 1, fma_chain, "nearest-even"),
]


@pytest.mark.parametrize("tininess", ["before", "after"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{case[2]}-{case[3]}-{case[4].__name__}-{case[5]}")
def test_flags_are_those_of_exact_arithmetic(case, tininess):
    unit, operand, d_format, k, compute, rounding = case
    generator, rows = random.Random(7), 400
    f, seen = Format(operand), set()
    a, b = (aimed_codes(f, generator, rows * k).reshape(rows, k) for _ in "ab")
    c = aimed_codes(Format(d_format), generator, rows)
    near = generator.sample(range(rows), rows // 2) if operand == d_format and k == 1 else []
    for row in near:  # c close to the product's negative, so that few bits are left
        b[row] = (f.bias << f.fraction_bits) + generator.randrange(4)
        c[row] = int(a[row, 0]) ^ f.sign ^ generator.choice([0, 1, 3])
    for row in generator.sample(range(rows), rows // 2) if operand == "bf16" and k == 2 else []:  # sums of subnormals
        for i, x in itertools.product(range(k), (a, b)):
            x[row, i] = f.bias - generator.randrange(60, 75) << f.fraction_bits | generator.randrange(128)
        c[row] = generator.randrange(2**20)
    on = {"instr": unit, "in_dtype": operand, "tininess": tininess}
    d, flags = softmma.dot_flags(a, b, c.view(np.float32 if d_format == "f32" else c.dtype), **on)
    for row in range(rows):
        u = Unit(d_format, rounding, tininess == "before")
        operands = [[u.load(operand, code) for code in x[row]] for x in (a, b)]
        expected = compute(u, *operands, u.load(d_format, c[row]))
        assert Flag(int(flags[row])) == u.flags, (a[row], b[row], c[row])
        got = Format(d_format).value(int(np.atleast_1d(d)[row : row + 1].view(FORMATS[d_format][2])[0]))
        assert got == expected or (is_nan(got) and is_nan(expected)), (a[row], b[row], c[row])
        seen.add(u.flags)
    assert {Flag(0), Flag.INEXACT, Flag.INVALID} <= seen
    if operand == d_format:
        assert {Flag.OVERFLOW | Flag.INEXACT, Flag.UNDERFLOW | Flag.INEXACT} <= seen
    if operand == "bf16":
        assert Flag.UNDERFLOW | Flag.INEXACT in seen


def test_shapes_broadcast():
    d, flags = softmma.dot_flags(np.ones((3, 1, 4)), np.ones((2, 4)), 2.0**-60, on="A100:f64")
    assert d.shape == flags.shape == (3, 2)
    assert flags.dtype == np.uint8
    assert (flags == Flag.INEXACT).all()


def test_refusals():
    with pytest.raises(ValueError, match=r"has no exception flags: .*FP64 of NVIDIA"):
        softmma.dot_flags([1.0], [1.0], on="H100:f16")
    with pytest.raises(ValueError, match="has no exception flags: it takes scale factors"):
        softmma.dot_flags([1.0], [1.0], on="B200:mxfp8")
    with pytest.raises(ValueError, match="tininess: 'x' is neither 'before' nor 'after'"):
        softmma.dot_flags([1.0], [1.0], on="A100:f64", tininess="x")


@pytest.mark.parametrize("format", ["text", "binary"])
def test_vector_files(tmp_path, format):
    path = tmp_path / "rows"
    softmma.gen(path, on="power:xvf32gerpp", rows=50, flags=True, format=format)
    assert softmma.verify(path)
    if format == "text":
        lines = path.read_text().splitlines()
        assert "# flags: tininess before rounding" in lines
        first = next(i for i, line in enumerate(lines) if not line.startswith("#") and line.endswith(" 01"))
        lines[first] = lines[first][:-1] + "3"
        path.write_text("\n".join(lines) + "\n")
        checked = softmma.verify(path)
        assert (checked.mismatches, checked.flags, checked.classes) == (1, 1, ())
        assert (checked.shown[0]["expected_flags"], checked.shown[0]["got_flags"]) == ("03", "01")
    with pytest.raises(ValueError, match="has no exception flags"):
        softmma.gen(path, on="H100:f16", flags=True)
    with pytest.raises(ValueError, match="tininess: set flags, too"):
        softmma.gen(path, on="power:xvf32gerpp", tininess="before")
